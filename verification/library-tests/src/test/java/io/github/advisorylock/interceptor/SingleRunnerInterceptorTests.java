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

package io.github.advisorylock.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.LogRecorder;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.PriorityOrdered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link SingleRunnerInterceptor}: what it tells listeners.
 */
class SingleRunnerInterceptorTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withBean(Jobs.class)
		.withBean(Listener.class);

	@Test
	void finishedRunIsPublishedOnceWithKeyScopeAndMethod() {
		this.runner.run((context) -> {
			context.getBean(Jobs.class).run(false);
			assertThat(context.getBean(Listener.class).finished()).singleElement().satisfies((event) -> {
				assertThat(event.key()).hasToString("test/job");
				assertThat(event.scope()).isEqualTo(LockScope.TRANSACTION);
				assertThat(event.method()).isEqualTo("Jobs.run");
				assertThat(event.failure()).isNull();
			});
		});
	}

	@Test
	void failedRunIsPublishedWithItsFailure() {
		this.runner.run((context) -> {
			assertThatIllegalStateException().isThrownBy(() -> context.getBean(Jobs.class).run(true))
				.withMessage("failed");
			assertThat(context.getBean(Listener.class).finished()).singleElement()
				.extracting(SingleRunnerFinishedEvent::failure)
				.isInstanceOf(IllegalStateException.class);
		});
	}

	@Test
	void skippedRunIsPublishedWithItsReason() {
		this.runner.run((context) -> {
			try (ForeignSession lock = ForeignSession.holding(AdvisoryLockKey.of("test", "job"))) {
				context.getBean(Jobs.class).run(false);
			}
			assertThat(context.getBean(Listener.class).skipped()).containsExactly(new SingleRunnerSkippedEvent(
					AdvisoryLockKey.of("test", "job"), LockScope.TRANSACTION, "Jobs.run", LockOutcome.BUSY, null));
			assertThat(context.getBean(Listener.class).finished()).isEmpty();
		});
	}

	@Test
	void listenerThatFailsChangesNothing() {
		this.runner.withBean(FailingListener.class)
			.run((context) -> assertThat(context.getBean(Jobs.class).run(false)).isEqualTo("done"));
	}

	@Test
	void errorOfListenerChangesNothing() {
		this.runner.withInitializer((context) -> context
			.addApplicationListener(ApplicationListener.<SingleRunnerFinishedEvent>forPayload((event) -> {
				throw new NoClassDefFoundError("listener");
			}))).run((context) -> assertThat(context.getBean(Jobs.class).run(false)).isEqualTo("done"));
	}

	@Test
	void adviceThatGoesPastTheLockIsAnErrorThatNamesTheMethod() {
		this.runner
			.withBean(AdvicePostProcessor.class,
					(Supplier<AdvicePostProcessor>) () -> new AdvicePostProcessor((invocation) -> invocation.getMethod()
						.invoke(invocation.getThis(), invocation.getArguments())))
			.run((context) -> {
				assertThatIllegalStateException().isThrownBy(() -> context.getBean(Jobs.class).run(false))
					.withMessageContaining("Failed to guard 'Jobs.run' (advisory lock 'test/job')")
					.withMessageContaining("set 'scope' to SESSION");
				assertThat(context.getBean(Listener.class).finished()).singleElement()
					.extracting(SingleRunnerFinishedEvent::failure)
					.isInstanceOf(IllegalStateException.class);
				assertThat(context.getBean(Jobs.class).session()).isEqualTo("done");
			});
	}

	@Test
	void answerFromCacheIsNeitherRunNorSkip() {
		this.runner.withUserConfiguration(Caching.class).run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			assertThat(List.of(jobs.cached("a"), jobs.cached("a"), jobs.cached("b"))).containsExactly("a1", "a1", "b2");
			assertThat(context.getBean(Listener.class).finished()).hasSize(2);
			assertThat(context.getBean(Listener.class).skipped()).isEmpty();
		});
	}

	@Test
	void failureThatOtherAdviceKeepsBackIsPublished() {
		this.runner.withBean(AdvicePostProcessor.class,
				(Supplier<AdvicePostProcessor>) () -> new AdvicePostProcessor((invocation) -> {
					try {
						return invocation.proceed();
					}
					catch (IllegalStateException ex) {
						return "fallback";
					}
				}))
			.run((context) -> {
				assertThat(context.getBean(Jobs.class).run(true)).isEqualTo("fallback");
				assertThat(context.getBean(Listener.class).finished()).singleElement()
					.extracting(SingleRunnerFinishedEvent::failure)
					.isInstanceOf(IllegalStateException.class);
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "observe", "begin", "close", "end" })
	void observerThatFailsChangesNothingAndIsLoggedOnce(String place) {
		this.runner.withBean(SingleRunnerObserver.class, () -> new FailingObserver(place)).run((context) -> {
			try (LogRecorder log = LogRecorder.of(SingleRunnerObserver.class.getName(), "info")) {
				Jobs jobs = context.getBean(Jobs.class);
				assertThat(jobs.run(false)).isEqualTo("done");
				assertThatIllegalStateException().isThrownBy(() -> jobs.run(true)).withMessage("failed");
				assertThat(jobs.session()).isEqualTo("done");
				assertThat(log.events()).singleElement().extracting(ILoggingEvent::getLevel).isEqualTo(Level.WARN);
			}
			assertThat(context.getBean(Listener.class).finished()).hasSize(3);
		});
	}

	static class Jobs {

		private final AtomicInteger calls = new AtomicInteger();

		@Cacheable("answers")
		@SingleRunner("cached:#{#name}")
		String cached(String name) {
			return name + this.calls.incrementAndGet();
		}

		@SingleRunner(key = "session", scope = LockScope.SESSION)
		String session() {
			return "done";
		}

		@SingleRunner("job")
		String run(boolean fail) {
			if (fail) {
				throw new IllegalStateException("failed");
			}
			return "done";
		}

	}

	static class Listener {

		private final List<SingleRunnerFinishedEvent> finished = new ArrayList<>();

		private final List<SingleRunnerSkippedEvent> skipped = new ArrayList<>();

		@EventListener
		void onFinished(SingleRunnerFinishedEvent event) {
			this.finished.add(event);
		}

		@EventListener
		void onSkipped(SingleRunnerSkippedEvent event) {
			this.skipped.add(event);
		}

		List<SingleRunnerFinishedEvent> finished() {
			return this.finished;
		}

		List<SingleRunnerSkippedEvent> skipped() {
			return this.skipped;
		}

	}

	/**
	 * Puts advice around beans before the library does.
	 */
	static class AdvicePostProcessor implements BeanPostProcessor, PriorityOrdered {

		private final MethodInterceptor advice;

		AdvicePostProcessor(MethodInterceptor advice) {
			this.advice = advice;
		}

		@Override
		public int getOrder() {
			return 0;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (!(bean instanceof Jobs)) {
				return bean;
			}
			ProxyFactory factory = new ProxyFactory(bean);
			factory.setProxyTargetClass(true);
			factory.addAdvice(this.advice);
			return factory.getProxy();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching
	static class Caching {

		@Bean
		ConcurrentMapCacheManager cacheManager() {
			return new ConcurrentMapCacheManager();
		}

	}

	/**
	 * Fails in one place.
	 */
	record FailingObserver(String place) implements SingleRunnerObserver, SingleRunnerObserver.Call {

		@Override
		public Call observe(SingleRunnerOperation operation, AdvisoryLockKey key) {
			fail("observe");
			return this;
		}

		@Override
		public Work begin(LockContext lock) {
			fail("begin");
			return () -> fail("close");
		}

		@Override
		public void end(@Nullable LockOutcome outcome, @Nullable Throwable failure) {
			fail("end");
		}

		private void fail(String here) {
			if (this.place.equals(here)) {
				throw new NoSuchMethodError(here);
			}
		}

	}

	static class FailingListener {

		@EventListener
		void onFinished(SingleRunnerFinishedEvent event) {
			throw new IllegalStateException("listener");
		}

	}

}
