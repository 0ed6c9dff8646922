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

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.autoconfigure.AdvisoryLockMetricsAutoConfiguration;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;

/**
 * Tests for the meters and observations of guarded methods.
 */
class AdvisoryLockMetricsTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(AdvisoryLockMetricsAutoConfiguration.class))
		.withBean(SimpleMeterRegistry.class)
		.withBean(Jobs.class);

	@Test
	void metersOfEachMethodExistBeforeItsFirstCall() {
		this.runner.run((context) -> {
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			for (String outcome : List.of("executed", "busy", "already-ran", "too-soon", "paused")) {
				assertThat(executions(meters, "metered", outcome).count()).isZero();
				assertThat(executions(meters, "export:#{#user}", outcome).count()).isZero();
			}
			assertThat(meters.get("advisory.lock.acquire").tag("key", "metered").timer().count()).isZero();
			assertThat(meters.get("advisory.lock.lost").tag("key", "metered").counter().count()).isZero();
			assertThat(meters.get("advisory.lock.last.success").tag("key", "metered").gauge().value()).isNaN();
			assertThat(meters.get("advisory.lock.held").gauge().value()).isZero();
			assertThat(meters.get("advisory.lock.leader").tag("role", "meters").gauge()).isNotNull();
		});
	}

	@Test
	void runIsTimedAndItsSuccessNoted() {
		this.runner.run((context) -> {
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			double before = System.currentTimeMillis() / 1000.0;
			context.getBean(Jobs.class).run(() -> assertThat(meters.get("advisory.lock.held").gauge().value()).isOne());
			assertThat(executions(meters, "metered", "executed").count()).isOne();
			assertThat(meters.get("advisory.lock.acquire").tag("key", "metered").timer().count()).isOne();
			assertThat(meters.get("advisory.lock.last.success").tag("key", "metered").gauge().value()).isBetween(before,
					System.currentTimeMillis() / 1000.0);
			assertThat(meters.get("advisory.lock.held").gauge().value()).isZero();
		});
	}

	@Test
	void busyCallIsSkipAndNoErrorAndNoSuccess() {
		this.runner.run((context) -> {
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			try (ForeignSession foreign = ForeignSession.holding(AdvisoryLockKey.of("test", "metered"))) {
				context.getBean(Jobs.class).run(() -> {
				});
			}
			assertThat(executions(meters, "metered", "busy").count()).isOne();
			assertThat(meters.get("advisory.lock.acquire").tag("key", "metered").timer().count()).isOne();
			assertThat(executions(meters, "metered", "executed").count()).isZero();
			assertThat(meters.find("advisory.lock.execution").tag("outcome", "error").timers()).isEmpty();
			assertThat(meters.get("advisory.lock.last.success").tag("key", "metered").gauge().value()).isNaN();
		});
	}

	@Test
	void failureIsErrorWithItsTypeAndNoSuccess() {
		this.runner.run((context) -> {
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			assertThatIllegalStateException().isThrownBy(() -> context.getBean(Jobs.class).run(() -> {
				throw new IllegalStateException("no");
			})).withMessage("no");
			assertThat(meters.get("advisory.lock.execution")
				.tags("key", "metered", "outcome", "error", "error", "IllegalStateException")
				.timer()
				.count()).isOne();
			assertThat(meters.get("advisory.lock.last.success").tag("key", "metered").gauge().value()).isNaN();
		});
	}

	@Test
	void valueOfDynamicKeyIsNeverTag() {
		this.runner.run((context) -> {
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			context.getBean(Jobs.class).export("alice");
			assertThat(executions(meters, "export:#{#user}", "executed").count()).isOne();
			assertThat(meters.getMeters()).flatExtracting((meter) -> meter.getId().getTags())
				.extracting(Tag::getValue)
				.noneMatch((value) -> value.contains("alice"));
		});
	}

	/**
	 * A key that arguments make is another one in each call.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void noKeyStaysInMemoryAfterItsRun(boolean observed) {
		List<WeakReference<AdvisoryLockKey>> keys = new CopyOnWriteArrayList<>();
		ApplicationContextRunner listening = this.runner
			.withInitializer((context) -> context.addApplicationListener(ApplicationListener
				.forPayload((SingleRunnerFinishedEvent event) -> keys.add(new WeakReference<>(event.key())))));
		(observed ? listening.withBean(ObservationRegistry.class, AdvisoryLockMetricsTests::observations) : listening)
			.run((context) -> {
				Jobs jobs = context.getBean(Jobs.class);
				for (int i = 0; i < 20; i++) {
					String user = "user-" + i;
					jobs.export(user);
					assertThatIllegalStateException().isThrownBy(() -> jobs.fail(user)).withMessage(user);
				}
				Awaitility.await().atMost(Patience.TIME).untilAsserted(() -> {
					System.gc();
					assertThat(keys).hasSize(40).allMatch((key) -> key.get() == null);
				});
			});
	}

	private static ObservationRegistry observations() {
		ObservationRegistry registry = ObservationRegistry.create();
		registry.observationConfig().observationHandler(new Recorder(false));
		return registry;
	}

	@Test
	void lossThatIsToldAfterTheRunIsCountedForItsMethodOnlyWhereTheKeyIsFixed() {
		this.runner.run((context) -> {
			context.getBean(Jobs.class).export("alice");
			context.getBean(Jobs.class).run(() -> {
			});
			context.publishEvent(new LockLostEvent(AdvisoryLockKey.of("test", "export:alice")));
			context.publishEvent(new LockLostEvent(AdvisoryLockKey.of("test", "metered")));
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			assertThat(lost(meters, "none")).isOne();
			assertThat(lost(meters, "metered")).isOne();
			assertThat(lost(meters, "export:#{#user}")).isZero();
		});
	}

	@Test
	void lossDuringARunIsCountedForItsTemplate() {
		this.runner.run((context) -> {
			context.getBean(Jobs.class)
				.importFor("alice",
						() -> context.publishEvent(new LockLostEvent(AdvisoryLockKey.of("test", "import:alice"))));
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			assertThat(lost(meters, "import:#{#user}")).isOne();
			assertThat(meters.find("advisory.lock.lost").tag("key", "none").counter()).isNull();
		});
	}

	private static double lost(MeterRegistry meters, String key) {
		return meters.get("advisory.lock.lost").tags("key", key, "reason", "gone").counter().count();
	}

	@Test
	void everySeriesOfOneNameHasTheSameTags() {
		this.runner.run((context) -> {
			context.getBean(Jobs.class).export("alice");
			assertThatIllegalStateException().isThrownBy(() -> context.getBean(Jobs.class).run(() -> {
				throw new IllegalStateException("no");
			})).withMessage("no");
			assertThat(context.getBean(MeterRegistry.class).find("advisory.lock.execution").timers())
				.extracting((timer) -> keys(timer))
				.containsOnly(List.of("error", "key", "outcome", "scope"));
		});
	}

	@Test
	void lostLockIsCountedForItsKey() {
		this.runner.run((context) -> {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> context.getBean(Jobs.class).runLong(AdvisoryLockMetricsTests::loseLock));
			Counter lost = context.getBean(MeterRegistry.class)
				.get("advisory.lock.lost")
				.tag("key", "metered-long")
				.counter();
			Awaitility.await().until(() -> lost.count() == 1);
		});
	}

	@Test
	void runIsOneObservationWithKeyAndSkipIsNone() {
		Recorder recorder = new Recorder(true);
		this.runner.withBean(ObservationRegistry.class, () -> {
			ObservationRegistry registry = ObservationRegistry.create();
			registry.observationConfig().observationHandler(recorder);
			return registry;
		}).run((context) -> {
			context.getBean(Jobs.class).export("alice");
			try (ForeignSession foreign = ForeignSession.holding(AdvisoryLockKey.of("test", "metered"))) {
				context.getBean(Jobs.class).run(() -> {
				});
			}
			assertThat(recorder.stopped).hasSize(1);
			assertThat(recorder.stopped.get(0).getContextualName()).isEqualTo("lock export:#{#user}");
			assertThat(recorder.stopped.get(0).getHighCardinalityKeyValues())
				.contains(KeyValue.of("lock.key", "test/export:alice"));
			assertThat(recorder.stopped.get(0).getLowCardinalityKeyValues())
				.contains(KeyValue.of("outcome", "executed"));
		});
	}

	/**
	 * A convention of the application may look at the outcome first.
	 */
	@Test
	void observationOfFailedRunHasErrorAndNoOutcome() {
		Recorder recorder = new Recorder(true);
		this.runner.withBean(ObservationRegistry.class, () -> {
			ObservationRegistry registry = ObservationRegistry.create();
			registry.observationConfig().observationHandler(recorder);
			return registry;
		}).run((context) -> {
			assertThatIllegalStateException().isThrownBy(() -> context.getBean(Jobs.class).fail("alice"))
				.withMessage("alice");
			context.getBean(Jobs.class).export("alice");
			assertThat(recorder.stopped).extracting(Observation.Context::getError)
				.satisfiesExactly((error) -> assertThat(error).hasMessage("alice"),
						(none) -> assertThat(none).isNull());
			assertThat(recorder.stopped).extracting((run) -> ((LockExecutionObservationContext) run).getOutcome())
				.containsExactly(null, LockOutcome.EXECUTED);
		});
	}

	@Test
	void conventionOfApplicationNamesRunsAndSkips() {
		this.runner
			.withBean(LockExecutionObservationConvention.class, () -> new DefaultLockExecutionObservationConvention() {

				@Override
				public String getName() {
					return "jobs.execution";
				}

			})
			.run((context) -> {
				MeterRegistry meters = context.getBean(MeterRegistry.class);
				context.getBean(Jobs.class).export("alice");
				assertThat(meters.find("advisory.lock.execution").meters()).isEmpty();
				assertThat(meters.get("jobs.execution")
					.tags("key", "export:#{#user}", "outcome", "executed", "error", "none")
					.timer()
					.count()).isOne();
				assertThat(meters.get("jobs.execution").tags("key", "metered", "outcome", "busy").timer().count())
					.isZero();
			});
	}

	@Test
	void clockSkewIsSmallOnOneMachine() {
		this.runner.run((context) -> {
			Gauge gauge = context.getBean(MeterRegistry.class).get("advisory.lock.clock.skew").gauge();
			long begin = System.nanoTime();
			double skew = gauge.value();
			assertThat(skew).isCloseTo(0, within((System.nanoTime() - begin) / 2e9 + 0.001));
		});
	}

	@Test
	void applicationStartsWithoutMicrometer() {
		LockContextRunner.create()
			.withConfiguration(AutoConfigurations.of(AdvisoryLockMetricsAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("io.micrometer"))
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(AdvisoryLockMetricsAutoConfiguration.class));
	}

	private static void loseLock() {
		TestPostgres.terminate("test");
		LockContext lock = LockContext.current().orElseThrow();
		Awaitility.await().atMost(Patience.TIME).until(() -> !lock.isHeld());
	}

	private static Timer executions(MeterRegistry meters, String key, String outcome) {
		return meters.get("advisory.lock.execution").tags("key", key, "outcome", outcome, "error", "none").timer();
	}

	private static List<String> keys(Meter meter) {
		return meter.getId().getTags().stream().map(Tag::getKey).sorted().toList();
	}

	static class Jobs {

		@SingleRunner(key = "metered")
		void run(Runnable work) {
			work.run();
		}

		@SingleRunner(key = "metered-long", scope = LockScope.SESSION)
		void runLong(Runnable work) {
			work.run();
		}

		@SingleRunner(key = "export:#{#user}")
		String export(String user) {
			return user;
		}

		@SingleRunner("import:#{#user}")
		void importFor(String user, Runnable work) {
			work.run();
		}

		@SingleRunner("fail:#{#user}")
		void fail(String user) {
			throw new IllegalStateException(user);
		}

		@LeaderOnly("meters")
		void lead() {
		}

	}

	private static final class Recorder implements ObservationHandler<Observation.Context> {

		private final List<Observation.Context> stopped = new CopyOnWriteArrayList<>();

		private final boolean keeps;

		private Recorder(boolean keeps) {
			this.keeps = keeps;
		}

		@Override
		public void onStop(Observation.Context context) {
			if (this.keeps) {
				this.stopped.add(context);
			}
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

	}

}
