/*
 * Copyright 2026-present the original author or authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package io.github.advisorylock.documentation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.WhenBusy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what users name in their code: a document says what it is for.
 */
@Tag("gate")
class PublicTypesTests {

	private static final Path SOURCES = Path.of("advisory-lock-autoconfigure/src/main/java/io/github/advisorylock");

	private static final Pattern PUBLIC_TYPE = Pattern
		.compile("(?m)^public (?:final |sealed |abstract )*(?:class|interface|@interface|enum|record) (\\w+)");

	/**
	 * Public only because other packages of the library name them.
	 */
	private static final Set<String> OF_THE_LIBRARY = Set.of("TwoPhaseLockOperations", "LockCallback",
			"AnnotatedMethodBeanPostProcessor", "SingleRunnerAnnotationBeanPostProcessor", "SingleRunnerMethod",
			"SingleRunnerSettings");

	/**
	 * What the library asks of its own types.
	 */
	private static final Set<String> METHODS_OF_THE_LIBRARY = Set.of("ofOwn", "isRecorded", "isOncePerKey", "memory",
			"isBackingOff", "template", "display", "toString", "equals", "hashCode", "values", "valueOf", "isRole",
			"createKey", "skipped", "bind", "classId", "objectId", "isPair", "name", "value");

	@Test
	void typeIsNamedByDocument() {
		List<String> types = Stream.of("", "annotation")
			.flatMap((directory) -> Documentation.sources(SOURCES.resolve(directory)).stream())
			.flatMap((source) -> PUBLIC_TYPE.matcher(source).results())
			.map((type) -> type.group(1))
			.filter((type) -> !OF_THE_LIBRARY.contains(type))
			.toList();
		assertThat(types).hasSizeGreaterThan(20).allMatch(PublicTypesTests::isNamed, "is named by a document");
	}

	@Test
	void methodAttributeAndConstantIsNamedByDocument() {
		List<String> names = Stream
			.of(AdvisoryLockKey.class, AdvisoryLockKeyFactory.class, AdvisoryLockOperations.class, HeldLock.class,
					LeaderElection.class, LockContext.class, LockMode.class, LockOutcome.class, LockRequest.class,
					LockResult.class, LockScope.class, SingleRunner.class, LeaderOnly.class, Once.class, WhenBusy.class)
			.flatMap(PublicTypesTests::names)
			.filter((name) -> !METHODS_OF_THE_LIBRARY.contains(name))
			.distinct()
			.toList();
		assertThat(names).hasSizeGreaterThan(50).allMatch(PublicTypesTests::isNamed, "is named by a document");
	}

	private static Stream<String> names(Class<?> type) {
		return Stream.concat(
				Arrays.stream(type.getDeclaredMethods())
					.filter((method) -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
					.map(Method::getName),
				type.isEnum() ? Arrays.stream(type.getEnumConstants()).map(Object::toString) : Stream.empty());
	}

	private static boolean isNamed(String name) {
		Pattern word = Pattern.compile("\\b" + name + "\\b");
		return Documentation.documents().values().stream().anyMatch((document) -> word.matcher(document).find());
	}

}
