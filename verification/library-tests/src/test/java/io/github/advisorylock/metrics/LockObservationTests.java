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

package io.github.advisorylock.metrics;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.autoconfigure.AdvisoryLockMetricsAutoConfiguration;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationFilter;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationPredicate;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationRegistryCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for when runs are observations, and when they are timed only.
 */
class LockObservationTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class, ObservationAutoConfiguration.class,
				AdvisoryLockMetricsAutoConfiguration.class))
		.withBean(SimpleMeterRegistry.class)
		.withBean(Jobs.class);

	@Test
	void runIsTimedButNotObservedWhereOnlyMetersListen() {
		this.runner.run((context) -> {
			assertThat(isObserved(context)).isFalse();
			assertThat(executions(context, "executed", "none")).isOne();
		});
	}

	@Test
	void failureIsTimedWhereOnlyMetersListen() {
		this.runner.run((context) -> {
			assertThatIllegalStateException().isThrownBy(() -> context.getBean(Jobs.class).run(() -> {
				throw new IllegalStateException("no");
			})).withMessage("no");
			assertThat(executions(context, "error", "IllegalStateException")).isOne();
			assertThat(executions(context, "executed", "none")).isZero();
		});
	}

	@ParameterizedTest
	@MethodSource("listeners")
	void runIsObservedWhereAnythingElseMayListen(UnaryOperator<ApplicationContextRunner> listener) {
		listener.apply(this.runner).run((context) -> assertThat(isObserved(context)).isTrue());
	}

	@ParameterizedTest
	@MethodSource("modes")
	void runIsUnderWayUntilItHasEnded(UnaryOperator<ApplicationContextRunner> mode) {
		mode.apply(this.runner).run((context) -> {
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			context.getBean(Jobs.class).run(() -> assertThat(active(meters)).isOne());
			assertThat(active(meters)).isZero();
			assertThat(meters.find("advisory.lock.execution.active").longTaskTimers()).hasSize(1);
			assertThat(executions(context, "executed", "none")).isOne();
		});
	}

	static List<UnaryOperator<ApplicationContextRunner>> modes() {
		return List.of((runner) -> runner, listeners().get(0));
	}

	static List<UnaryOperator<ApplicationContextRunner>> listeners() {
		return List.of((runner) -> runner.withBean(ObservationHandler.class, () -> (context) -> true),
				(runner) -> runner.withBean(ObservationFilter.class, () -> (context) -> context),
				(runner) -> runner.withBean(ObservationPredicate.class, () -> (name, context) -> true),
				(runner) -> runner.withBean(ObservationRegistryCustomizer.class, () -> (registry) -> {
				}), (runner) -> runner.withBean(ObservationRegistry.class, ObservationRegistry::create),
				(runner) -> runner.withBean(DefaultLockExecutionObservationConvention.class),
				(runner) -> runner.withPropertyValues("management.observations.key-values.team=blue"),
				(runner) -> runner.withPropertyValues("management.observations.enable.other=false"), (runner) -> runner
					.withPropertyValues("management.metrics.observations.ignored-meters=long-task-timer"));
	}

	private static boolean isObserved(ApplicationContext context) {
		AtomicReference<Observation> current = new AtomicReference<>();
		context.getBean(Jobs.class)
			.run(() -> current.set(context.getBean(ObservationRegistry.class).getCurrentObservation()));
		return current.get() != null;
	}

	private static long executions(ApplicationContext context, String outcome, String error) {
		return context.getBean(MeterRegistry.class)
			.get("advisory.lock.execution")
			.tags("key", "listened", "scope", "transaction", "outcome", outcome, "error", error)
			.timer()
			.count();
	}

	private static int active(MeterRegistry meters) {
		return meters.get("advisory.lock.execution.active")
			.tags("key", "listened", "scope", "transaction", "outcome", "none")
			.longTaskTimer()
			.activeTasks();
	}

	static class Jobs {

		@SingleRunner(key = "listened")
		void run(Runnable work) {
			work.run();
		}

	}

}
