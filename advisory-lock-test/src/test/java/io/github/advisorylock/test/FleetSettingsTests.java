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

package io.github.advisorylock.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockBusyException;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.WhenBusy;
import io.github.advisorylock.test.fleet.FleetApplication;
import io.github.advisorylock.test.fleet.Jobs;
import io.github.advisorylock.test.fleet.Ledgers;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for what attributes and properties do on a fleet, which is what they do on
 * PostgreSQL.
 */
class FleetSettingsTests {

	private static final Duration HOUR = Duration.ofHours(1);

	@Test
	void methodThatNeedsTheLedgerIsRefusedWithoutIt() {
		TestContext context = new TestContextManager(WithoutLedger.class).getTestContext();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(context::getApplicationContext)
			.havingRootCause()
			.withMessageContaining("attribute 'once' needs the ledger, which is switched off or missing");
	}

	@ParameterizedTest
	@ValueSource(classes = { WithLongKey.class, WithLongInterval.class })
	void methodThatTheLedgerCanNotKeepIsRefusedAtTheStart(Class<?> test) {
		TestContext context = new TestContextManager(test).getTestContext();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(context::getApplicationContext)
			.havingRootCause()
			.isInstanceOf(InvalidSingleRunnerException.class)
			.withMessageContaining((test == WithLongKey.class) ? "'key' has 600 characters"
					: "'minInterval' is longer than keys with arguments are remembered, PT24H");
	}

	@Test
	void requestThatNeedsTheLedgerIsRefusedWithoutIt() {
		AdvisoryLockOperations operations = new TestContextManager(WithoutLedgerAndMethods.class).getTestContext()
			.getApplicationContext()
			.getBean(AdvisoryLockOperations.class);
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> operations.execute(LockRequest.of("payment").oncePerKey(), (lock) -> "ran"))
			.withMessageContaining("there is no ledger");
		assertThat(operations.execute(LockRequest.of("payment"), (lock) -> "ran").value()).isEqualTo("ran");
	}

	@FleetTest(Jobs.class)
	@Import(Tasks.class)
	@ContextConfiguration(classes = FleetApplication.class)
	abstract static class OnAFleet {

		@MockitoBean
		Ledgers ledgers;

		static HeldLock hold(Fleet fleet, int instance, String key, Duration maxRun) {
			return fleet.bean(instance, AdvisoryLockOperations.class)
				.tryAcquire(LockRequest.of(key).maxRun(maxRun))
				.orElseThrow();
		}

	}

	@Nested
	class ByDefault extends OnAFleet {

		@Test
		void listenersOfAnInstanceAreToldOfItsLostLocks(Fleet fleet) {
			fleet.takes("task", Duration.ofMinutes(20));
			fleet.advanceBy(Duration.ofMinutes(65));
			int runner = fleet.runnerOf("task");
			fleet.loseSession(runner);
			fleet.advanceBy(Duration.ofMinutes(1));
			assertThat(fleet.instances()).hasSize(3)
				.allSatisfy((instance) -> assertThat(fleet.bean(instance, Tasks.class).lost())
					.hasSize((instance == runner) ? 1 : 0));
		}

		@Test
		void lockThatIsHeldForTooLongIsLost(Fleet fleet) {
			try (HeldLock lock = hold(fleet, 0, "held", Duration.ofMinutes(5))) {
				fleet.advanceBy(Duration.ofMinutes(4));
				assertThat(lock.isHeld()).isTrue();
				fleet.advanceBy(Duration.ofMinutes(2));
				assertThat(lock.isHeld()).isFalse();
				assertThatLock("held").isFree();
			}
		}

		@Test
		void keyIsForgottenAfterAWeek(Fleet fleet) {
			Tasks tasks = fleet.bean(0, Tasks.class);
			tasks.handle("4711");
			fleet.advanceBy(Duration.ofDays(6));
			tasks.handle("4711");
			fleet.advanceBy(Duration.ofDays(2));
			tasks.handle("4711");
			assertThatLock("message:4711").hasOutcomes(LockOutcome.EXECUTED, LockOutcome.ALREADY_RAN,
					LockOutcome.EXECUTED);
		}

		@Test
		void busyCallFailsWhereTheMethodSaysSo(Fleet fleet) {
			try (HeldLock other = hold(fleet, 1, "urgent", Duration.ofMinutes(5))) {
				assertThatExceptionOfType(LockBusyException.class).isThrownBy(fleet.bean(0, Tasks.class)::urgent)
					.withMessageContaining("urgent");
				assertThat(other.isHeld()).isTrue();
			}
		}

	}

	@Nested
	@FleetTest(value = Jobs.class,
			properties = { "advisory-lock.ledger.remember-keys=1d", "advisory-lock.max-held-locks=2",
					"advisory-lock.session.dead-client-timeout=30s", "advisory-lock.session.when-lost=report",
					"advisory-lock.jobs.task.paused=true", "advisory-lock.jobs.cleanup.scope=session" })
	class ByProperties extends OnAFleet {

		@Test
		void keyIsForgottenAfterADay(Fleet fleet) {
			Tasks tasks = fleet.bean(0, Tasks.class);
			tasks.handle("4711");
			fleet.advanceBy(Duration.ofHours(26));
			tasks.handle("4711");
			assertThatLock("message:4711").hasOutcomes(LockOutcome.EXECUTED, LockOutcome.EXECUTED);
		}

		@Test
		void noMoreLocksAreHeldThanAnInstanceMay(Fleet fleet) {
			try (HeldLock first = hold(fleet, 0, "first", HOUR); HeldLock second = hold(fleet, 0, "second", HOUR)) {
				assertThatExceptionOfType(CannotAcquireLockException.class)
					.isThrownBy(() -> hold(fleet, 0, "third", HOUR))
					.withMessageContaining("holds 2 already, as many as 'advisory-lock.max-held-locks' allows");
				hold(fleet, 1, "third", HOUR).close();
				assertThat(List.of(first, second)).hasSize(2).allMatch(HeldLock::isHeld);
			}
		}

		@Test
		void frozenInstanceKeepsItsLocksUntilTheServerEndsItsConnections(Fleet fleet) {
			try (HeldLock lock = hold(fleet, 0, "held", HOUR)) {
				fleet.freeze(0);
				fleet.advanceBy(Duration.ofSeconds(29));
				assertThat(lock.isHeld()).isTrue();
				fleet.advanceBy(Duration.ofSeconds(2));
				assertThat(lock.isHeld()).isFalse();
			}
		}

		@Test
		void runGoesOnThoughItsLockIsLost(Fleet fleet) {
			fleet.takes("export", Duration.ofMinutes(20));
			fleet.advanceBy(Duration.ofMinutes(65));
			int runner = fleet.runnerOf("export");
			fleet.loseSession(runner);
			fleet.advanceBy(Duration.ofMinutes(1));
			assertThat(fleet.runnerOf("export")).isEqualTo(runner);
			fleet.advanceBy(Duration.ofMinutes(20));
			assertThatLock("export").hasFailedWith(LockLostException.class);
		}

		@Test
		void runGoesOnThoughItIsToldToEnd(Fleet fleet) {
			fleet.takes("export", Duration.ofMinutes(45));
			fleet.advanceBy(Duration.ofMinutes(100));
			assertThatLock("export").isFree();
			assertThat(fleet.instances()).contains(fleet.runnerOf("export"));
			fleet.advanceBy(Duration.ofMinutes(10));
			assertThatLock("export").hasFailedWith(LockLostException.class);
		}

		@Test
		void pausedJobDoesNotRun(Fleet fleet) {
			fleet.advanceBy(Duration.ofHours(2));
			assertThatLock("task").hasNotRun().wasSkipped(LockOutcome.PAUSED);
		}

	}

	@AdvisoryLockTest(value = NoLedgers.class, properties = "advisory-lock.ledger.enabled=false")
	@Import({ Tasks.class, NoLedgers.class })
	@ContextConfiguration(classes = FleetApplication.class)
	static class WithoutLedger {

	}

	@AdvisoryLockTest(value = NoLedgers.class, properties = "advisory-lock.ledger.enabled=false")
	@Import(NoLedgers.class)
	@ContextConfiguration(classes = FleetApplication.class)
	static class WithoutLedgerAndMethods {

	}

	@FleetTest(LongKey.class)
	@Import(LongKey.class)
	@ContextConfiguration(classes = FleetApplication.class)
	static class WithLongKey {

	}

	@AdvisoryLockTest(value = LongInterval.class, properties = "advisory-lock.ledger.remember-keys=1d")
	@Import(LongInterval.class)
	@ContextConfiguration(classes = FleetApplication.class)
	static class WithLongInterval {

	}

	/**
	 * Has a key that is too long.
	 */
	static class LongKey {

		private static final String TEN = "0123456789";

		private static final String HUNDRED = TEN + TEN + TEN + TEN + TEN + TEN + TEN + TEN + TEN + TEN;

		@SingleRunner(key = HUNDRED + HUNDRED + HUNDRED + HUNDRED + HUNDRED + HUNDRED, once = Once.PER_KEY)
		void run() {
		}

	}

	/**
	 * Has a time apart that is too long.
	 */
	static class LongInterval {

		@SingleRunner(key = "mail:#{#id}", minInterval = "48h")
		void send(String id) {
		}

	}

	/**
	 * Writes nothing.
	 */
	static class NoLedgers implements Ledgers {

		@Override
		public void write(String what) {
		}

	}

	/**
	 * More jobs.
	 */
	@Component
	static class Tasks {

		private final List<LockLostEvent> lost = new ArrayList<>();

		@Scheduled(cron = "0 0 * * * *", zone = "UTC")
		@SingleRunner(key = "task", scope = LockScope.SESSION)
		void task() {
		}

		@SingleRunner(key = "message:#{#id}", once = Once.PER_KEY)
		void handle(String id) {
		}

		@SingleRunner(key = "urgent", whenBusy = WhenBusy.FAIL)
		void urgent() {
		}

		List<LockLostEvent> lost() {
			return this.lost;
		}

		@EventListener
		void lost(LockLostEvent event) {
			this.lost.add(event);
		}

	}

}
