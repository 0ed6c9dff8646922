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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.autoconfigure.AdvisoryLockMetricsAutoConfiguration;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.event.EventListener;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what is told of a run of a method that an operator cancels, without the
 * ledger: it is no failure, and its tick is not run again.
 */
@Tag("gate")
class CancelledMethodTests {

	private static final Instant TICK = Instant.parse("2026-03-01T03:00:00Z");

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class, ObservationAutoConfiguration.class,
				AdvisoryLockMetricsAutoConfiguration.class))
		.withBean(SimpleMeterRegistry.class)
		.withBean(Jobs.class)
		.withBean(Events.class)
		.withPropertyValues("advisory-lock.session.heartbeat=200ms");

	@ParameterizedTest
	@CsvSource({ "transaction, false", "transaction, true", "session, false", "session, true" })
	void cancelledRunIsNoFailureForAnybodyAndNotRunAgain(String key, boolean observed) {
		List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
		ApplicationContextRunner runner = observed
				? this.runner.withBean(ObservationHandler.class, () -> new ErrorHandler(errors)) : this.runner;
		try (LogRecorder log = LogRecorder.of(LockLog.RUN, "info")) {
			runner.run((context) -> this.runner.run((other) -> {
				cancel(context, key);
				assertThat(context.getBean(Events.class).finished).singleElement().satisfies((event) -> {
					assertThat(event.cancelled()).isTrue();
					assertThat(event.failure()).isInstanceOf(InterruptedException.class);
				});
				assertThat(log.messages())
					.anySatisfy((line) -> assertThat(line).contains("Cancelled 'test/" + key + "'"))
					.noneSatisfy((line) -> assertThat(line).contains("Failed"));
				assertThat(executions(context, key, "cancelled")).isOne();
				assertThat(executions(context, key, "error")).isZero();
				assertThat(context.getBean(MeterRegistry.class)
					.get("advisory.lock.last.success")
					.tag("key", key)
					.gauge()
					.value()).isNaN();
				assertThat(errors).isEmpty();
				call(other, key);
				assertThat(other.getBean(Jobs.class).hasRun()).isFalse();
			}));
		}
	}

	private static void cancel(ApplicationContext context, String key) throws InterruptedException {
		CompletableFuture<Void> run = CompletableFuture.runAsync(() -> call(context, key),
				(task) -> new Thread(task).start());
		assertThat(context.getBean(Jobs.class).awaitRun()).isTrue();
		String entry = PostgresAdvisoryLockTemplate.lockEntry(AdvisoryLockKey.of("test", key));
		Awaitility.await().until(() -> {
			TestPostgres.execute("SELECT pg_notify('advisory_lock_cancel', '" + entry
					+ " ' || (extract(epoch FROM clock_timestamp()) * 1000)::bigint || ' alice')");
			return run.isDone();
		});
	}

	private static void call(ApplicationContext context, String key) {
		PlannedTime.run(TICK, () -> {
			try {
				if (key.equals("session")) {
					context.getBean(Jobs.class).session();
				}
				else {
					context.getBean(Jobs.class).transaction();
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		});
	}

	private static long executions(ApplicationContext context, String key, String outcome) {
		return context.getBean(MeterRegistry.class)
			.find("advisory.lock.execution")
			.tags("key", key, "outcome", outcome)
			.timers()
			.stream()
			.peek((timer) -> assertThat(timer.getId().getTag("error")).isEqualTo("none"))
			.mapToLong((timer) -> timer.count())
			.sum();
	}

	static class Jobs {

		private final CountDownLatch running = new CountDownLatch(1);

		@SingleRunner("transaction")
		void transaction() throws InterruptedException {
			hang();
		}

		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void session() throws InterruptedException {
			hang();
		}

		boolean awaitRun() throws InterruptedException {
			return this.running.await(Patience.SECONDS, TimeUnit.SECONDS);
		}

		boolean hasRun() {
			return this.running.getCount() == 0;
		}

		private void hang() throws InterruptedException {
			this.running.countDown();
			new CountDownLatch(1).await(Patience.SECONDS, TimeUnit.SECONDS);
		}

	}

	static class Events {

		private final List<SingleRunnerFinishedEvent> finished = Collections.synchronizedList(new ArrayList<>());

		@EventListener
		void finished(SingleRunnerFinishedEvent event) {
			this.finished.add(event);
		}

	}

	private static final class ErrorHandler implements ObservationHandler<Observation.Context> {

		private final List<Throwable> errors;

		private ErrorHandler(List<Throwable> errors) {
			this.errors = errors;
		}

		@Override
		public void onError(Observation.Context context) {
			this.errors.add(context.getError());
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

	}

}
