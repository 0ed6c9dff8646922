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

package io.github.advisorylock.doctor;

import java.time.Duration;
import java.time.Instant;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SettableTicker;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LongHoldWatcher}.
 */
class LongHoldWatcherTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withBean(Jobs.class)
		.withPropertyValues("advisory-lock.doctor.long-hold=200ms");

	@Test
	void longTransactionIsWarnedOfOnceWhileItRuns() {
		this.runner.run((context) -> {
			try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
				Instant before = Instant.now();
				context.getBean(Jobs.class).run(() -> {
					awaitWarning(log);
					assertThat(LogRecorder.fields(log.events().get(0)))
						.containsEntry("advisory_lock.alert", "long-hold")
						.containsEntry("advisory_lock.key", "held")
						.containsEntry("advisory_lock.scope", "transaction")
						.hasEntrySatisfying("advisory_lock.duration_ms",
								(millis) -> assertThat((Long) millis).isBetween(200L,
										Duration.between(before, Instant.now()).toMillis() + 50))
						.hasEntrySatisfying("advisory_lock.since", (since) -> assertThat(Instant.parse((String) since))
							.isBetween(before.minusMillis(50), Instant.now()));
					context.getBean(PostgresAdvisoryLockTemplate.class).reportLongHolds(Duration.ZERO);
				});
				assertThat(log.messages()).as("reported once")
					.singleElement()
					.asString()
					.startsWith("A transaction has held the lock on 'test/held'")
					.contains("scope SESSION", "VACUUM", "advisory-lock.doctor.long-hold");
			}
		});
	}

	@Test
	void programmaticTransactionIsWarnedOfInEachRun() {
		this.runner.run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			for (int run = 0; run < 2; run++) {
				try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
					operations.execute(LockRequest.of("programmatic"), (lock) -> {
						awaitWarning(log);
						return null;
					});
					assertThat(LogRecorder.fields(log.events().get(0))).containsEntry("advisory_lock.key",
							"programmatic");
				}
			}
		});
	}

	@Test
	void waitingIsNotWarnedOf() {
		this.runner.run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn");
					ForeignSession foreign = ForeignSession.holding(AdvisoryLockKey.of("test", "waits"))) {
				Thread waiter = new Thread(() -> operations
					.execute(LockRequest.of("waits").waitFor(Duration.ofSeconds(20)), (lock) -> null));
				waiter.start();
				operations.execute(LockRequest.of("measure"), (lock) -> {
					awaitWarning(log);
					return null;
				});
				foreign.unlock(AdvisoryLockKey.of("test", "waits"));
				waiter.join();
				assertThat(log.messages()).singleElement().asString().contains("'test/measure'");
			}
		});
	}

	@Test
	void longSessionLockIsWarnedOfOnceWhileItIsHeld() {
		this.runner.run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn");
					HeldLock held = operations.tryAcquire(LockRequest.of("held")).orElseThrow()) {
				awaitWarning(log);
				assertThat(held.isHeld()).isTrue();
				assertThat(LogRecorder.fields(log.events().get(0))).containsEntry("advisory_lock.key", "held")
					.containsEntry("advisory_lock.scope", "session");
				context.getBean(PostgresAdvisoryLockTemplate.class).reportLongHolds(Duration.ZERO);
				assertThat(log.messages()).singleElement()
					.asString()
					.startsWith("The lock session has held the lock on 'test/held'")
					.contains("advisory-lock.doctor.long-hold");
			}
		});
	}

	@Test
	void nothingIsPlannedAfterTheApplication() {
		SettableTicker ticker = new SettableTicker();
		ticker.in(this.runner).run((context) -> {
			context.getBean(Jobs.class).run(() -> {
			});
			// the look at transactions that outlast a heartbeat is over
			ticker.advance(Duration.ofSeconds(10));
			assertThat(ticker.planned()).isOne();
		});
		assertThat(ticker.planned()).isZero();
	}

	@Test
	void zeroSwitchesWatchOff() {
		SettableTicker ticker = new SettableTicker();
		ticker.in(this.runner.withPropertyValues("advisory-lock.doctor.long-hold=0")).run((context) -> {
			context.getBean(Jobs.class).run(() -> {
			});
			ticker.advance(Duration.ofSeconds(10));
			assertThat(ticker.planned()).isZero();
		});
	}

	private static void awaitWarning(LogRecorder log) {
		Awaitility.await().atMost(Patience.TIME).until(() -> !log.events().isEmpty());
	}

	static class Jobs {

		@SingleRunner("held")
		void run(Runnable work) {
			work.run();
		}

	}

}
