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

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.autoconfigure.AdvisoryLockMetricsAutoConfiguration;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.test.simple.SimpleSpan;
import io.micrometer.tracing.test.simple.SimpleTracer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ScheduledTasksObservationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for runs and skips in traces and beside the observations of scheduled tasks.
 */
@Tag("gate")
class LockTracingTests {

	private static final String LOCK = "test/traced";

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class, ObservationAutoConfiguration.class,
				ScheduledTasksObservationAutoConfiguration.class, AdvisoryLockMetricsAutoConfiguration.class))
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always")
		.withBean(Jobs.class);

	private final SimpleTracer tracer = new SimpleTracer();

	private final ApplicationContextRunner tracing = this.runner.withBean(SimpleMeterRegistry.class)
		.withBean(DefaultTracingObservationHandler.class, () -> new DefaultTracingObservationHandler(this.tracer));

	@Test
	void scheduledRunIsChildSpanWithKeyAndFencingToken() {
		this.tracing.withUserConfiguration(Scheduling.class).run((context) -> {
			Awaitility.await().atMost(Patience.TIME).until(() -> spans("lock traced").size() == 1);
			SimpleSpan run = spans("lock traced").get(0);
			Awaitility.await().atMost(Patience.TIME).until(() -> spans("task jobs.traced").size() == 1);
			SimpleSpan task = spans("task jobs.traced").get(0);
			assertThat(run.getParentId()).isEqualTo(task.getSpanId());
			assertThat(run.getTraceId()).isEqualTo(task.getTraceId());
			assertThat(run.getTags()).containsEntry("lock.key", LOCK)
				.containsEntry("fencing.token", context.getBean(Jobs.class).fencingToken())
				.containsEntry("outcome", "executed");
		});
	}

	@Test
	void ledgerKeepsTheIdOfTheTraceOfARun() {
		this.tracing.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.traced();
			jobs.inSession();
			assertThatIllegalStateException().isThrownBy(jobs::failing).withMessage("expected");
			List<String> ids = spans("lock traced").stream().map(SimpleSpan::getTraceId).toList();
			AdvisoryLockLedger ledger = context.getBean(AdvisoryLockLedger.class);
			assertThat(ledger.runs("traced", 1)).extracting(LedgerRun::traceId).isEqualTo(ids).doesNotContainNull();
			assertThat(ledger.runs("session", 1)).extracting(LedgerRun::traceId)
				.containsExactly(spans("lock session").get(0).getTraceId())
				.doesNotContainAnyElementsOf(ids);
			assertThat(ledger.runs("failing", 1)).extracting(LedgerRun::traceId)
				.containsExactly(spans("lock failing").get(0).getTraceId());
		});
		this.runner.withBean(SimpleMeterRegistry.class).run((context) -> {
			context.getBean(Jobs.class).inSession();
			assertThat(context.getBean(AdvisoryLockLedger.class).runs("session", 1)).extracting(LedgerRun::traceId)
				.containsOnlyNulls();
		});
	}

	@Test
	void keyAndFencingTokenAreNoTagsOfMeters() {
		TestObservationRegistry observations = TestObservationRegistry.create();
		this.runner.withBean(SimpleMeterRegistry.class)
			.withBean(ObservationRegistry.class, () -> observations)
			.run((context) -> {
				Jobs jobs = context.getBean(Jobs.class);
				Observation.createNotStarted("outer", observations).observe(jobs::traced);
				TestObservationRegistryAssert.assertThat(observations)
					.hasNumberOfObservationsWithNameEqualTo("advisory.lock.execution", 1)
					.hasObservationWithNameEqualTo("advisory.lock.execution")
					.that()
					.hasHighCardinalityKeyValue("lock.key", LOCK)
					.hasHighCardinalityKeyValue("fencing.token", jobs.fencingToken())
					.hasLowCardinalityKeyValue("key", "traced")
					.hasLowCardinalityKeyValue("outcome", "executed")
					.hasParentObservationContextSatisfying((parent) -> assertThat(parent.getName()).isEqualTo("outer"));
			});
	}

	@Test
	void spanAsksForFencingTokenWhenItsRunIsOver() {
		List<String> atStart = new CopyOnWriteArrayList<>();
		this.runner.withBean(SimpleMeterRegistry.class)
			.withBean("starts", ObservationHandler.class, () -> new ObservationHandler<Observation.Context>() {

				@Override
				public void onStart(Observation.Context context) {
					context.getHighCardinalityKeyValues().forEach((value) -> atStart.add(value.getKey()));
				}

				@Override
				public boolean supportsContext(Observation.Context context) {
					return context instanceof LockExecutionObservationContext;
				}

			})
			.run((context) -> context.getBean(Jobs.class).traced());
		assertThat(atStart).containsExactly("lock.key");
	}

	@Test
	void spanOfRunForTickHasTickAndAttempt() {
		this.tracing.withPropertyValues("advisory-lock.ledger.table-prefix=tracing_").run((context) -> {
			context.getBean(Jobs.class).nightly();
			assertThat(spans("lock nightly")).hasSize(1).first().satisfies((run) -> {
				assertThat(Instant.parse(run.getTags().get("lock.tick"))).isBefore(Instant.now());
				assertThat(run.getTags()).containsEntry("lock.attempt", "1");
			});
		});
		TestPostgres.execute("DROP TABLE tracing_job, tracing_run, tracing_completion CASCADE");
	}

	@ParameterizedTest
	@ValueSource(strings = { "start", "open", "close", "stop" })
	void handlerThatThrowsTurnsNoRunIntoFailureAndLeavesNoScope(String place) {
		this.runner.withBean(SimpleMeterRegistry.class)
			.withBean(FailingHandler.class, () -> new FailingHandler(place))
			.run((context) -> {
				Jobs jobs = context.getBean(Jobs.class);
				jobs.traced();
				jobs.traced();
				assertThat(jobs.fencingToken()).isNotEqualTo("none");
				assertThat(context.getBean(ObservationRegistry.class).getCurrentObservationScope()).isNull();
			});
	}

	@Test
	void skipIsNoSpanUnlessAskedFor() {
		this.tracing.run((context) -> {
			skip(context.getBean(Jobs.class));
			assertThat(this.tracer.getSpans()).isEmpty();
		});
	}

	@Test
	void skipIsSpanOnceAskedFor() {
		this.tracing.withPropertyValues("management.observations.enable.advisory.lock.skip=true").run((context) -> {
			skip(context.getBean(Jobs.class));
			SimpleSpan span = this.tracer.onlySpan();
			assertThat(span.getName()).isEqualTo("skip traced");
			assertThat(span.getTags()).containsEntry("lock.key", LOCK).containsEntry("outcome", "busy");
			assertThat(context.getBean(SimpleMeterRegistry.class)
				.get("advisory.lock.execution")
				.tags("key", "traced", "outcome", "busy")
				.timer()
				.count()).isOne();
		});
	}

	@Test
	void scheduledTasksHaveTheSameLabelsWithLockAndWithout() {
		PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
		this.runner.withBean(PrometheusMeterRegistry.class, () -> registry)
			.withUserConfiguration(Scheduling.class)
			.run(LockContextRunner.started(() -> {
				Awaitility.await().atMost(Patience.TIME).until(() -> scheduledTasks(registry).size() == 2);
				assertThat(scheduledTasks(registry)).anyMatch((series) -> series.contains("\"traced\""))
					.anyMatch((series) -> series.contains("\"unguarded\""))
					.extracting((series) -> series.replaceAll("=\"[^\"]*\"", "").replaceAll(" .*", ""))
					.containsOnly("tasks_scheduled_execution_seconds_count"
							+ "{code_function,code_namespace,error,exception,outcome}");
				assertThat(registry.scrape()).contains("advisory_lock_execution_seconds_count"
						+ "{error=\"none\",key=\"traced\",outcome=\"executed\",scope=\"transaction\"} 1");
			}));
	}

	private static void skip(Jobs jobs) throws Exception {
		try (ForeignSession foreign = ForeignSession.holding(AdvisoryLockKey.of("test", "traced"))) {
			jobs.traced();
		}
	}

	private static List<String> scheduledTasks(PrometheusMeterRegistry registry) {
		return registry.scrape()
			.lines()
			.filter((line) -> line.startsWith("tasks_scheduled_execution_seconds_count"))
			.toList();
	}

	private List<SimpleSpan> spans(String name) {
		return this.tracer.getSpans()
			.stream()
			.filter((span) -> name.equals(span.getName()) && span.getEndTimestamp().toEpochMilli() > 0)
			.toList();
	}

	static class Jobs {

		private volatile String fencingToken = "none";

		@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.HOURS)
		@SingleRunner(key = "traced", minInterval = "1ms")
		void traced() {
			this.fencingToken = Long.toString(LockContext.current().orElseThrow().fencingToken().orElseThrow());
		}

		@Scheduled(cron = "0 0 3 * * *")
		@SingleRunner(key = "nightly", once = Once.PER_TICK)
		void nightly() {
		}

		@SingleRunner(key = "session", scope = LockScope.SESSION, minInterval = "1ms")
		void inSession() {
		}

		@SingleRunner(key = "failing", minInterval = "1ms")
		void failing() {
			throw new IllegalStateException("expected");
		}

		@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.HOURS)
		void unguarded() {
		}

		String fencingToken() {
			return this.fencingToken;
		}

	}

	/**
	 * Throws in one place.
	 */
	record FailingHandler(String place) implements ObservationHandler<Observation.Context> {

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof LockExecutionObservationContext;
		}

		@Override
		public void onStart(Observation.Context context) {
			fail("start");
		}

		@Override
		public void onScopeOpened(Observation.Context context) {
			fail("open");
		}

		@Override
		public void onScopeClosed(Observation.Context context) {
			fail("close");
		}

		@Override
		public void onStop(Observation.Context context) {
			fail("stop");
		}

		private void fail(String here) {
			if (this.place.equals(here)) {
				throw new IllegalStateException(here);
			}
		}

	}

	@EnableScheduling
	static class Scheduling {

	}

}
