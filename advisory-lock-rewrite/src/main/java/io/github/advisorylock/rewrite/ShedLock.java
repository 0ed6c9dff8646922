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

package io.github.advisorylock.rewrite;

import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.openrewrite.java.AnnotationMatcher;
import org.openrewrite.java.MethodMatcher;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.TypeUtils;

/**
 * The names that ShedLock, Spring and this library have for what the recipes look for.
 */
final class ShedLock {

	static final String PACKAGE = "net.javacrumbs.shedlock.";

	static final String GUIDE = "https://github.com/advisorylock/advisory-lock/blob/main/docs/migrate-from-shedlock.md";

	static final String SCHEDULER_LOCK = PACKAGE + "spring.annotation.SchedulerLock";

	static final String LOCK_PROVIDER = PACKAGE + "core.LockProvider";

	static final String PROVIDERS = PACKAGE + "provider.";

	/** What has ShedLock's interfaces take advisory locks. */
	static final String BRIDGE = "advisory-lock-shedlock";

	static final String LOCK_ASSERT = PACKAGE + "core.LockAssert";

	static final String LOCK_EXTENDER = PACKAGE + "core.LockExtender";

	static final String SINGLE_RUNNER = "io.github.advisorylock.annotation.SingleRunner";

	static final String LOCK_SCOPE = "io.github.advisorylock.LockScope";

	static final String LOCK_CONTEXT = "io.github.advisorylock.LockContext";

	static final AnnotationMatcher LOCKED = new AnnotationMatcher("@" + SCHEDULER_LOCK);

	static final AnnotationMatcher ENABLED = new AnnotationMatcher(
			"@" + PACKAGE + "spring.annotation.EnableSchedulerLock");

	static final AnnotationMatcher PROVIDER_TO_USE = new AnnotationMatcher(
			"@" + PACKAGE + "spring.annotation.LockProviderToUse");

	static final AnnotationMatcher BEAN = new AnnotationMatcher("@org.springframework.context.annotation.Bean");

	static final AnnotationMatcher ALIAS = new AnnotationMatcher("@org.springframework.core.annotation.AliasFor");

	static final AnnotationMatcher SCHEDULED = new AnnotationMatcher(
			"@org.springframework.scheduling.annotation.Scheduled");

	static final MethodMatcher ASSERT_LOCKED = new MethodMatcher(LOCK_ASSERT + " assertLocked()");

	static final MethodMatcher EXTEND = new MethodMatcher(
			LOCK_EXTENDER + " extendActiveLock(java.time.Duration, java.time.Duration)");

	static final MethodMatcher LOCK = new MethodMatcher(LOCK_PROVIDER + " lock(..)", true);

	static final MethodMatcher EXECUTE = new MethodMatcher(PACKAGE + "core.* executeWithLock(..)", true);

	/** Packages of providers that keep their locks where SQL is spoken. */
	private static final Set<String> SQL_PROVIDERS = Set.of("jdbctemplate", "jdbc", "jooq", "exposed", "r2dbc");

	private ShedLock() {
	}

	/**
	 * Return whether a type is one of ShedLock's.
	 */
	static boolean owns(@Nullable JavaType type) {
		return nameOf(type).startsWith(PACKAGE);
	}

	/**
	 * Return the name of a type with that of its package, empty if it has none.
	 */
	static String nameOf(@Nullable JavaType type) {
		JavaType.FullyQualified named = TypeUtils.asFullyQualified(type);
		return (named != null) ? named.getFullyQualifiedName() : "";
	}

	/**
	 * Return whether a type is a lock provider for something that does not speak SQL.
	 */
	static boolean isOtherProvider(@Nullable JavaType type) {
		String name = nameOf(type);
		return name.startsWith(PROVIDERS)
				&& !SQL_PROVIDERS.contains(name.substring(PROVIDERS.length(), name.indexOf('.', PROVIDERS.length())));
	}

	/**
	 * Return whether an annotation is made of ShedLock's.
	 */
	static boolean isComposed(J.Annotation annotation) {
		JavaType.FullyQualified type = TypeUtils.asFullyQualified(annotation.getType());
		return type != null && type.getAnnotations().stream().anyMatch((meta) -> isType(meta, SCHEDULER_LOCK));
	}

	static boolean isType(@Nullable JavaType type, String name) {
		return nameOf(type).equals(name);
	}

	/**
	 * Return what an annotation sets an attribute to.
	 * @return the expression, {@code null} if the attribute is not set
	 */
	static @Nullable Expression attribute(J.Annotation annotation, String name) {
		List<Expression> arguments = annotation.getArguments();
		if (arguments == null) {
			return null;
		}
		for (Expression argument : arguments) {
			if (name.equals(attributeName(argument))) {
				return ((J.Assignment) argument).getAssignment();
			}
		}
		return null;
	}

	/**
	 * Return the name of the attribute that an argument of an annotation sets.
	 * @return the name, {@code null} if the argument names none
	 */
	static @Nullable String attributeName(Expression argument) {
		return (argument instanceof J.Assignment assignment && assignment.getVariable() instanceof J.Identifier name)
				? name.getSimpleName() : null;
	}

}
