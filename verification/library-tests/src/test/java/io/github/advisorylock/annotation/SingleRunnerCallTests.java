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

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockBusyException;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.annotation.AliasFor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link SingleRunner}: what callers of annotated methods get, and through
 * which proxies.
 */
class SingleRunnerCallTests {

	private final ApplicationContextRunner runner = LockContextRunner.create().withPropertyValues("job.name=resolved");

	@Test
	void skippedCallReturnsNothingOfItsType() {
		run((jobs) -> {
			jobs.nothing();
			assertThat(jobs.object()).isNull();
			assertThat(jobs.optional()).isEmpty();
			assertThat(jobs.result().outcome()).isEqualTo(LockOutcome.BUSY);
			assertThat(jobs.result().executed()).isFalse();
			assertThat(jobs.runs()).hasValue(0);
		}, "nothing", "object", "optional", "result");
	}

	@Test
	void executedCallReturnsWhatTheMethodReturns() {
		run((jobs) -> {
			jobs.nothing();
			assertThat(jobs.object()).isEqualTo("value");
			assertThat(jobs.optional()).contains("value");
			assertThat(jobs.result().value()).isEqualTo("value");
			assertThat(jobs.primitive()).isEqualTo(5);
			assertThat(jobs.runs()).hasValue(5);
		});
	}

	@Test
	void busyCallOfMethodThatFailsThrows() {
		run((jobs) -> {
			assertThatExceptionOfType(LockBusyException.class).isThrownBy(jobs::primitive)
				.satisfies((ex) -> assertThat(ex.getKey()).hasToString("test/primitive"));
			assertThatExceptionOfType(LockBusyException.class).isThrownBy(jobs::failing);
			assertThat(jobs.runs()).hasValue(0);
		}, "primitive", "failing");
	}

	@Test
	void resultThatTheWorkGoesOnForIsRefused() {
		run((jobs) -> {
			for (Object promise : List.of(new CompletableFuture<>(), new FutureTask<>(() -> 1), Mono.just(1))) {
				assertThatIllegalStateException().isThrownBy(() -> jobs.undeclared(promise))
					.withMessageContainingAll("'Jobs.undeclared' (advisory lock 'test/undeclared')",
							promise.getClass().getName(), "its work goes on when the lock is released");
			}
			assertThat(jobs.undeclared(CompletableFuture.completedFuture(1))).isNotNull();
		});
	}

	@Test
	void exceptionsReachTheCallerUnchanged() {
		run((jobs) -> {
			IOException checked = new IOException("checked");
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> jobs.throwing(checked)).isSameAs(checked);
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> jobs.throwingInSession(checked))
				.isSameAs(checked);
			AssertionError error = new AssertionError("error");
			assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> jobs.throwing(error)).isSameAs(error);
		});
	}

	@Test
	void placeholdersOfKeyAndNamespaceAreResolved() {
		run((jobs) -> assertThat(jobs.placeholders()).hasToString("resolved-space/job-resolved"));
	}

	@Test
	void keyIsOfTheNamesOfTheMethodsOwnParameters() {
		run((jobs) -> assertThat(jobs.export(7, "u1")).hasToString("test/export:u1-7"));
	}

	@Test
	void argumentThatLooksLikeAnExpressionIsPartOfTheKey() {
		run((jobs) -> {
			assertThat(jobs.export(1, "#{T(java.lang.Runtime).getRuntime()}"))
				.hasToString("test/export:#{T(java.lang.Runtime).getRuntime()}-1");
			assertThat(jobs.export(1, "${user.home}")).hasToString("test/export:${user.home}-1");
		});
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", " " })
	void callWithoutKeyThrowsAndRunsNothing(String user) {
		run((jobs) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> jobs.ofUser(user))
				.withMessageContaining("Failed to evaluate key 'user:#{#user}': '#{#user}' is ");
			assertThat(jobs.runs()).hasValue(0);
		});
	}

	@Test
	void dynamicKeysOfDifferentArgumentsDoNotExcludeEachOther() {
		run((jobs) -> {
			assertThat(jobs.ofUser("one")).isNull();
			assertThat(jobs.ofUser("two")).isEqualTo("two");
		}, "user:one");
	}

	@Test
	void composedAnnotationSetsAttributes() {
		run((jobs) -> {
			assertThat(jobs.composed().key()).hasToString("test/composed");
			assertThat(jobs.composed().scope()).isEqualTo(LockScope.SESSION);
		});
	}

	@Test
	void methodWithoutAnnotationRunsWithoutLock() {
		run((jobs) -> assertThat(jobs.unguarded()).isEmpty());
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void annotationOfInterfaceMethodWorksWithBothKindsOfProxy(boolean proxyTargetClass) {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
			.withBean(TextHandler.class)
			.run((context) -> {
				@SuppressWarnings("unchecked")
				Handler<String> handler = context.getBean(Handler.class);
				assertThat(AopUtils.isJdkDynamicProxy(handler)).isEqualTo(!proxyTargetClass);
				assertThat(handler.handle("e1")).hasToString("test/handle:e1");
			});
	}

	@ParameterizedTest
	@ValueSource(classes = { ScopedJobs.class, PrototypeJobs.class })
	void scopedBeansRunUnderTheirLock(Class<? extends ScopedParent> type) {
		this.runner.withUserConfiguration(type).run((context) -> {
			assertThat(context.getBean(type).isLocked()).isTrue();
			assertThat(context.getBean(type).isLocked()).isTrue();
		});
	}

	@Test
	void lazyBeanRunsUnderItsLock() {
		this.runner.withBean(PrototypeJobs.class, PrototypeJobs::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> assertThat(context.getBean(PrototypeJobs.class).isLocked()).isTrue());
	}

	private void run(Consumer<Jobs> consumer, String... busyKeys) {
		this.runner.withBean(Jobs.class).run((context) -> {
			ForeignSession[] locks = new ForeignSession[busyKeys.length];
			for (int i = 0; i < busyKeys.length; i++) {
				locks[i] = ForeignSession.holding(AdvisoryLockKey.of("test", busyKeys[i]));
			}
			try {
				consumer.accept(context.getBean(Jobs.class));
			}
			finally {
				for (ForeignSession lock : locks) {
					lock.close();
				}
			}
		});
	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@SingleRunner(scope = LockScope.SESSION)
	@interface SessionRunner {

		@AliasFor(annotation = SingleRunner.class, attribute = "key")
		String name();

	}

	/**
	 * Annotated once for all that implement it.
	 */
	interface Handler<E> {

		@SingleRunner("handle:#{#event}")
		AdvisoryLockKey handle(E event);

	}

	static class TextHandler implements Handler<String> {

		@Override
		public AdvisoryLockKey handle(String event) {
			return LockContext.current().orElseThrow().key();
		}

	}

	static class ScopedParent {

		boolean isLocked() {
			return false;
		}

	}

	@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class ScopedJobs extends ScopedParent {

		@Override
		@SingleRunner(key = "scoped-override", whenBusy = WhenBusy.FAIL)
		boolean isLocked() {
			return LockContext.current().isPresent();
		}

	}

	@Scope("prototype")
	static class PrototypeJobs extends ScopedParent {

		@Override
		@SingleRunner(key = "prototype", whenBusy = WhenBusy.FAIL)
		boolean isLocked() {
			return LockContext.current().isPresent();
		}

	}

	static class Jobs {

		private final AtomicInteger runs = new AtomicInteger();

		AtomicInteger runs() {
			return this.runs;
		}

		Optional<LockContext> unguarded() {
			return LockContext.current();
		}

		@SingleRunner("nothing")
		void nothing() {
			this.runs.incrementAndGet();
		}

		@SingleRunner("object")
		String object() {
			this.runs.incrementAndGet();
			return "value";
		}

		@SingleRunner("optional")
		Optional<String> optional() {
			this.runs.incrementAndGet();
			return Optional.of("value");
		}

		@SingleRunner("result")
		LockResult<String> result() {
			this.runs.incrementAndGet();
			return LockResult.executed("value");
		}

		@SingleRunner(key = "primitive", whenBusy = WhenBusy.FAIL)
		int primitive() {
			return this.runs.incrementAndGet();
		}

		@SingleRunner(key = "failing", whenBusy = WhenBusy.FAIL)
		LockResult<String> failing() {
			this.runs.incrementAndGet();
			return LockResult.executed("value");
		}

		@SingleRunner("undeclared")
		Object undeclared(Object result) {
			return result;
		}

		@SingleRunner("throwing")
		void throwing(Throwable failure) throws Throwable {
			throw failure;
		}

		@SingleRunner(key = "throwing-session", scope = LockScope.SESSION)
		void throwingInSession(Throwable failure) throws Throwable {
			throw failure;
		}

		@SingleRunner(key = "job-${job.name}", namespace = "${job.name}-space")
		AdvisoryLockKey placeholders() {
			return LockContext.current().orElseThrow().key();
		}

		@SingleRunner("export:#{#userId}-#{#count}")
		AdvisoryLockKey export(int count, String userId) {
			return LockContext.current().orElseThrow().key();
		}

		@SingleRunner("user:#{#user}")
		String ofUser(String user) {
			this.runs.incrementAndGet();
			return user;
		}

		@SessionRunner(name = "composed")
		LockContext composed() {
			return LockContext.current().orElseThrow();
		}

	}

}
