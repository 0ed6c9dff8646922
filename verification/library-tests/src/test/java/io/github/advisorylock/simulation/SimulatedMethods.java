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

package io.github.advisorylock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.support.TwoPhaseLockOperations;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * The annotated methods of an application, with the advice that they have in one. Made
 * once for all simulated instances that come one after the other.
 */
final class SimulatedMethods {

	static final List<String> KEYS = List.of("orders", "reports", "mails", "exports", "prices");

	static final String CRON = "0 */2 * * * *";

	/**
	 * For how long a tick is remembered by its lock, a bit less than half a period.
	 */
	static final Duration REMEMBERED = Duration.ofSeconds(58);

	static final int MAX_RETRIES = 1;

	static final Duration CATCH_UP = Duration.ofMinutes(10);

	/**
	 * After how long a run is told at the latest that it lasts for longer than 40 s.
	 */
	static final Duration MAX_RUN = Duration.ofSeconds(42);

	static final Duration INTERVAL = Duration.ofSeconds(30);

	static final Duration MIN_INTERVAL = Duration.ofSeconds(40);

	private static final SingleRunnerSettings SETTINGS = new SingleRunnerSettings("sim",
			AdvisoryLockKeyFactory.sha256(), Duration.ZERO, Duration.ofMinutes(10),
			SingleRunnerSettings.LedgerUse.ON_DEMAND, (type) -> null, (key) -> null);

	private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

	private final SingleRunnerAnnotationBeanPostProcessor postProcessor;

	private @Nullable SimulatedInstance current;

	SimulatedMethods() {
		this.postProcessor = new SingleRunnerAnnotationBeanPostProcessor(() -> SETTINGS, (text) -> text,
				() -> (Operations) () -> current().operations(), () -> null, this::publish, List.of());
		this.postProcessor.setBeanFactory(this.beans);
		this.beans.addBeanPostProcessor(this.postProcessor);
		this.beans.registerBeanDefinition("jobs", new RootBeanDefinition(Jobs.class, () -> new Jobs(this)));
		this.beans.getBean(Jobs.class);
	}

	void use(SimulatedInstance instance) {
		this.current = instance;
	}

	/**
	 * What was killed publishes nothing to its successor.
	 */
	private void publish(Object event) {
		if (current().isCalling()) {
			current().publish(event);
		}
	}

	private SimulatedInstance current() {
		if (this.current == null) {
			throw new IllegalStateException("There is no instance");
		}
		return this.current;
	}

	/**
	 * Return when a method is called next by the schedule that is known.
	 */
	Instant nextTick(String key, Instant time) {
		return this.postProcessor.getMethods()
			.stream()
			.filter((method) -> Objects.requireNonNull(method.fixedKey()).name().equals(key))
			.map((method) -> method.operation().nextTick(time))
			.findFirst()
			.orElseThrow();
	}

	SingleRunnerAnnotationBeanPostProcessor postProcessor() {
		return this.postProcessor;
	}

	DefaultListableBeanFactory beans() {
		return this.beans;
	}

	/**
	 * Return what calls each method.
	 */
	Map<String, Runnable> calls() {
		Jobs jobs = this.beans.getBean(Jobs.class);
		return Map.of("orders", jobs::orders, "reports", jobs::reports, "mails", jobs::mails, "exports", jobs::exports,
				"prices", jobs::prices);
	}

	/**
	 * The methods.
	 */
	static class Jobs {

		private final @Nullable SimulatedMethods methods;

		Jobs(@Nullable SimulatedMethods methods) {
			this.methods = methods;
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRunner(key = "orders", once = Once.PER_TICK, catchUp = "10m", maxRetries = MAX_RETRIES)
		void orders() {
			work("orders");
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRunner(key = "reports", once = Once.PER_TICK, catchUp = "10m", maxRetries = MAX_RETRIES,
				scope = LockScope.SESSION, maxRun = "40s")
		void reports() {
			work("reports");
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRunner("mails")
		void mails() {
			work("mails");
		}

		@Scheduled(fixedRate = 30_000)
		@SingleRunner(key = "exports", scope = LockScope.SESSION)
		void exports() {
			work("exports");
		}

		@SingleRunner(key = "prices", minInterval = "40s")
		void prices() {
			work("prices");
		}

		private void work(String key) {
			if (this.methods != null) {
				this.methods.current().work(key);
			}
		}

	}

	/**
	 * Those of the instance that is the current one.
	 */
	private interface Operations extends TwoPhaseLockOperations {

		TwoPhaseLockOperations current();

		@Override
		default Admission admit(LockRequest request) {
			return current().admit(request);
		}

		@Override
		default <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
				LockCallback<T, X> action) throws X {
			return current().execute(request, action);
		}

		@Override
		default Optional<HeldLock> tryAcquire(LockRequest request) {
			return current().tryAcquire(request);
		}

	}

}
