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

package io.github.advisorylock.annotation;

import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SingleRunnerMethodRegistry}: which methods may have the same key.
 */
class SingleRunnerSharedKeyTests {

	private final ApplicationContextRunner runner = LockContextRunner.create();

	@Test
	void twoMethodsWithOneKeyAreRefusedAndBothNamed() {
		FailureAnalysis analysis = analyze(this.runner.withBean("jobs", Copied.class));
		assertThat(analysis.getDescription()).contains("method 'first'", "method 'second'", Copied.class.getName())
			.contains("on bean 'jobs'", "the same 'key'", "'job'");
		assertThat(analysis.getAction()).contains("its own 'key'", "'allowSharedKey' on both");
	}

	@Test
	void twoBeansOfOneClassAreRefusedAndBothNamed() {
		FailureAnalysis analysis = analyze(this.runner.withBean("one", Single.class).withBean("two", Single.class));
		assertThat(analysis.getDescription()).contains("on bean 'one'", "on bean 'two'", "the same 'key'");
	}

	@Test
	void equalTemplatesOfDynamicKeysAreRefused() {
		assertThat(analyze(this.runner.withBean("jobs", CopiedTemplate.class)).getDescription())
			.contains("method 'first'", "method 'second'", "'export:#{#user}'");
	}

	@Test
	void keyThatIsSharedByOneMethodOnlyIsRefused() {
		assertThat(analyze(this.runner.withBean("one", Single.class).withBean("two", Sharing.class)).getDescription())
			.contains("on bean 'one'", "on bean 'two'");
		assertThat(analyze(this.runner.withBean("two", Sharing.class).withBean("one", Single.class)).getDescription())
			.contains("on bean 'one'", "on bean 'two'");
	}

	@ParameterizedTest
	@MethodSource
	void keysThatMayBeEqualStart(Class<?> one, Class<?> two) {
		this.runner.withBean("one", one).withBean("two", two).run((context) -> assertThat(context).hasNotFailed());
	}

	static Stream<Arguments> keysThatMayBeEqualStart() {
		return Stream.of(Arguments.of(Sharing.class, Sharing.class),
				Arguments.of(SharingPermits.class, SharingPermits.class),
				Arguments.of(Single.class, SingleInOtherNamespace.class));
	}

	@Test
	void methodsThatShareAKeyHaveTheSamePermits() {
		FailureAnalysis analysis = analyze(
				this.runner.withBean("one", Sharing.class).withBean("two", SharingPermits.class));
		assertThat(analysis.getDescription()).contains("on bean 'two'", "attribute 'permits' set to 3", "on bean 'one'",
				"which has 1");
		assertThat(analysis.getAction()).contains("the same 'permits' on both");
	}

	@Test
	void twoKeysWithOneNumberAreRefusedAndBothNamed() {
		AdvisoryLockKeyFactory constant = (namespace, name) -> AdvisoryLockKey.ofValue(42);
		FailureAnalysis analysis = analyze(this.runner.withBean(AdvisoryLockKeyFactory.class, () -> constant)
			.withBean("one", Single.class)
			.withBean("two", Other.class));
		assertThat(analysis.getDescription()).contains("method 'run'", "on bean 'one'", "on bean 'two'")
			.contains("the same number");
		assertThat(analysis.getAction()).contains("AdvisoryLockKeyFactory");
	}

	@Test
	void prototypeBeanMayBeCreatedManyTimes() {
		this.runner.withBean("jobs", Single.class, Single::new, (definition) -> definition.setScope("prototype"))
			.run((context) -> {
				assertThat(context.getBean("jobs")).isNotSameAs(context.getBean("jobs"));
				assertThat(context.getBean(SingleRunnerAnnotationBeanPostProcessor.class).getMethods()).hasSize(1);
			});
	}

	private static FailureAnalysis analyze(ApplicationContextRunner runner) {
		return LockContextRunner.analyzeFailure(runner);
	}

	static class Copied {

		@SingleRunner("job")
		void first() {
		}

		@SingleRunner("job")
		void second() {
		}

	}

	static class CopiedTemplate {

		@SingleRunner("export:#{#user}")
		void first(String user) {
		}

		@SingleRunner("export:#{#user}")
		void second(String user) {
		}

	}

	static class Single {

		@SingleRunner("job")
		void run() {
		}

	}

	static class SingleInOtherNamespace {

		@SingleRunner(key = "job", namespace = "other")
		void run() {
		}

	}

	static class Other {

		@SingleRunner("other")
		void run() {
		}

	}

	static class Sharing {

		@SingleRunner(key = "job", allowSharedKey = true)
		void run() {
		}

	}

	static class SharingPermits {

		@SingleRunner(key = "job", allowSharedKey = true, permits = 3)
		void run() {
		}

	}

}
