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

package io.github.advisorylock.ledger.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.WhenBusy;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for annotated methods whose runs are recorded in {@link AdvisoryLockLedger}, and
 * for what operators do to them.
 */
@Tag("gate")
class RecordedMethodRegistryTests {

	private static final String YEARLY = "0 0 0 1 1 *";

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withBean("jobs", Jobs.class)
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=methods_tests.ledger_");

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS methods_tests CASCADE");
		TestPostgres.execute("CREATE SCHEMA methods_tests");
	}

	@Test
	void tickRunsOnceOverTwoInstances() {
		this.runner.run((first) -> this.runner.run((second) -> {
			for (ApplicationContext context : List.of(first, second, first)) {
				jobs(context).tick();
				jobs(context).transactionalTick();
				jobs(context).sessionTick();
			}
			assertThat(jobs(first).ran()).containsExactly("tick", "transactionalTick", "sessionTick");
			assertThat(jobs(second).ran()).isEmpty();
			assertThat(ledger(second).runs("tick", 9)).singleElement()
				.satisfies((run) -> assertThat(run.tick()).isNotNull());
		}));
	}

	@Test
	void completedTickIsNotBusyThoughItsLockIsHeldWhereThatWasSoBefore() {
		this.runner.run((context) -> {
			assertThat(jobs(context).tickWithResult().outcome()).isEqualTo(LockOutcome.EXECUTED);
			assertThat(jobs(context).tickWithResult().outcome()).isEqualTo(LockOutcome.ALREADY_RAN);
			try (ForeignSession other = ForeignSession.holding(AdvisoryLockKey.of("test", "tick-with-result"))) {
				assertThat(jobs(context).tickWithResult().outcome()).isEqualTo(LockOutcome.ALREADY_RAN);
			}
		});
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void ledgerIsAskedOnceBeforeTheLockOfAnnotatedMethodIsTaken(LockScope scope) {
		try (TestProxy proxy = new TestProxy(Duration.ZERO)) {
			this.runner.withPropertyValues("spring.datasource.url=" + proxy.url()).run((context) -> {
				AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
				Runnable annotated = (scope == LockScope.SESSION) ? jobs(context)::sessionTick : jobs(context)::tick;
				LockRequest request = LockRequest.of("by-hand").scope(scope).oncePerTick(Instant.now());
				Runnable byHand = () -> operations.execute(request, (lock) -> null);
				assertThat(waits(proxy, annotated)).isEqualTo(waits(proxy, byHand));
			});
		}
	}

	@Test
	void keyRunsOnceForEachArgumentAndEmptyResultIsReturned() {
		this.runner.run((context) -> {
			assertThat(jobs(context).result("a").value()).isEqualTo("a");
			assertThat(jobs(context).result("a").outcome()).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(jobs(context).result("b").executed()).isTrue();
			assertThat(jobs(context).optional("a")).contains("a");
			assertThat(jobs(context).optional("a")).isEmpty();
			assertThat(jobs(context).object("a")).isEqualTo("a");
			assertThat(jobs(context).object("a")).isNull();
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void keyOfTransactionThatRolledBackRunsAgain(boolean transactional) {
		this.runner.run((context) -> {
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			Jobs jobs = jobs(context);
			transaction.executeWithoutResult((status) -> {
				assertThat(transactional ? jobs.transactional("a") : jobs.object("a")).isNotNull();
				status.setRollbackOnly();
			});
			assertThat(transactional ? jobs.transactional("a") : jobs.object("a")).isNotNull();
			assertThat(transactional ? jobs.transactional("a") : jobs.object("a")).isNull();
		});
	}

	@Test
	void secondCallWithinIntervalIsSkipped() {
		this.runner.run((context) -> {
			assertThat(jobs(context).seldom().executed()).isTrue();
			assertThat(jobs(context).seldom().outcome()).isEqualTo(LockOutcome.TOO_SOON);
			TestPostgres.execute("UPDATE methods_tests.ledger_job SET last_started_at = last_started_at - "
					+ "interval '10 minutes'");
			assertThat(jobs(context).seldom().executed()).isTrue();
		});
	}

	@Test
	void currentContextHasRisingFencingToken() {
		this.runner.run((context) -> {
			String first = jobs(context).token("a");
			String second = jobs(context).token("b");
			assertThat(Long.parseLong(second)).isGreaterThan(Long.parseLong(first));
		});
	}

	@Test
	void keyThatIsTooLongIsRefusedBeforeAnythingRuns() {
		this.runner.run((context) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> jobs(context).object("k".repeat(513)))
				.withMessageContaining("512");
			assertThat(jobs(context).ran()).isEmpty();
		});
	}

	@Test
	void tickOfScheduleThatIsSwitchedOffCannotBeCalledByHand() {
		this.runner.run((context) -> assertThatIllegalStateException().isThrownBy(() -> jobs(context).switchedOff())
			.withMessageContaining("switched off"));
	}

	@Test
	void pauseOfOneInstanceIsKeptAndObeyedByTheOther() {
		this.runner.run((first) -> this.runner.run((second) -> {
			ledger(first).pause("tick", "alice");
			ledger(first).pause("tick", "bob");
			jobs(second).tick();
			assertThat(jobs(second).ran()).isEmpty();
			LedgerJob job = ledger(second).job("tick").orElseThrow();
			assertThat(job.isPaused()).isTrue();
			assertThat(job.pausedBy()).isEqualTo("alice");
			ledger(second).resume("tick", "bob");
			jobs(first).tick();
			assertThat(jobs(first).ran()).containsExactly("tick");
			assertThat(ledger(first).job("tick").orElseThrow().pausedBy()).isNull();
		}));
	}

	@Test
	void unknownKeyIsRefusedByOperations() {
		this.runner.run((context) -> {
			AdvisoryLockLedger ledger = ledger(context);
			assertThatIllegalArgumentException().isThrownBy(() -> ledger.pause("unknown", "alice"))
				.withMessageContaining("'test/unknown'");
			assertThatIllegalArgumentException().isThrownBy(() -> ledger.resume("unknown", "alice"))
				.withMessageContaining("'test/unknown'");
			assertThatIllegalArgumentException().isThrownBy(() -> ledger.runNow("unknown", "alice"))
				.withMessageContaining("'unknown'");
			assertThatIllegalArgumentException().isThrownBy(() -> ledger.runNow("argument", "alice"))
				.withMessageContaining("'argument'")
				.withMessageContaining("takes no arguments");
			for (String by : List.of(" ", "b".repeat(256), "a\0b")) {
				assertThatIllegalArgumentException().isThrownBy(() -> ledger.pause("tick", by))
					.withMessageContaining("'by'");
			}
		});
	}

	@Test
	void operatorsNameJobByNamespaceAndKey() {
		this.runner.withBean("twins", Twins.class).run((context) -> {
			AdvisoryLockLedger ledger = ledger(context);
			assertThat(ledger.runNow("a/twin", "alice")).isEqualTo(LockOutcome.EXECUTED);
			ledger.pause("b/twin", "alice");
			assertThat(ledger.runNow("b/twin", "alice")).isEqualTo(LockOutcome.PAUSED);
			assertThat(ledger.runNow("a/twin", "alice")).isEqualTo(LockOutcome.EXECUTED);
			assertThat(ledger.job("a/twin").orElseThrow().isPaused()).isFalse();
			assertThat(ledger.job("b/twin").orElseThrow().isPaused()).isTrue();
			assertThat(ledger.runs("a/twin", 9)).hasSize(2).extracting(LedgerRun::namespace).containsOnly("a");
			assertThat(ledger.runs("b/twin", 9)).isEmpty();
			ledger.resume("b/twin", "alice");
			assertThat(ledger.job("b/twin").orElseThrow().isPaused()).isFalse();
			assertThat(ledger.job("test/tick")).isEqualTo(ledger.job("tick")).isPresent();
		});
	}

	@Test
	void keyOfTwoNamespacesIsRefusedAndBothNamesAreTold() {
		this.runner.withBean("twins", Twins.class).run((context) -> {
			AdvisoryLockLedger ledger = ledger(context);
			for (Consumer<String> operation : List.<Consumer<String>>of(ledger::job, (key) -> ledger.runs(key, 1),
					(key) -> ledger.pause(key, "alice"), (key) -> ledger.resume(key, "alice"),
					(key) -> ledger.runNow(key, "alice"))) {
				assertThatIllegalArgumentException().isThrownBy(() -> operation.accept("twin"))
					.withMessageContaining("a/twin, b/twin");
			}
		});
	}

	@Test
	void runNowIgnoresTickAndDoesNotUseItUp() {
		this.runner.run((context) -> {
			for (String key : List.of("tick", "transactional-tick", "session-tick")) {
				assertThat(ledger(context).runNow(key, "alice")).isEqualTo(LockOutcome.EXECUTED);
				assertThat(ledger(context).job(key).orElseThrow().lastTick()).isNull();
			}
			jobs(context).tick();
			assertThat(jobs(context).ran()).containsExactly("tick", "transactionalTick", "sessionTick", "tick");
			assertThat(ledger(context).runNow("tick", "alice")).isEqualTo(LockOutcome.EXECUTED);
			assertThat(ledger(context).runs("tick", 9)).extracting((run) -> run.tick() != null)
				.containsExactly(false, true, false);
		});
	}

	@Test
	void runNowIgnoresIntervalAndObeysPauseAndLock() {
		this.runner.run((context) -> {
			jobs(context).seldom();
			assertThat(ledger(context).runNow("seldom", "alice")).isEqualTo(LockOutcome.EXECUTED);
			try (ForeignSession other = ForeignSession.holding(AdvisoryLockKey.of("test", "seldom"))) {
				assertThat(ledger(context).runNow("seldom", "alice")).isEqualTo(LockOutcome.BUSY);
			}
			ledger(context).pause("seldom", "alice");
			assertThat(ledger(context).runNow("seldom", "alice")).isEqualTo(LockOutcome.PAUSED);
		});
	}

	@Test
	void runNowPassesFailureOfJobOn() {
		this.runner.run((context) -> {
			assertThatIllegalStateException().isThrownBy(() -> ledger(context).runNow("failing", "alice"))
				.withMessage("failed");
			assertThat(ledger(context).runs("failing", 9)).extracting(LedgerRun::outcome)
				.containsExactly(LedgerRun.Outcome.FAILED);
		});
	}

	@Test
	void everyFixedKeyIsRecordedWhenLedgerIsAlwaysOn() {
		this.runner.withPropertyValues("advisory-lock.ledger.enabled=true").run((context) -> {
			jobs(context).plain();
			jobs(context).plainWithArgument("a");
			assertThat(ledger(context).runs("plain", 9)).hasSize(1);
			assertThat(ledger(context).runs("plain:a", 9)).isEmpty();
			assertThat(jobs(context).primitive()).isEqualTo(1);
			ledger(context).pause("primitive", "alice");
			assertThatIllegalStateException().isThrownBy(() -> jobs(context).primitive())
				.withMessageContaining("PAUSED");
		});
	}

	@Test
	void plainMethodIsNotRecordedWhenNotAsked() {
		this.runner.run((context) -> {
			jobs(context).plain();
			assertThat(ledger(context).job("plain")).isEmpty();
			assertThat(ledger(context).runs("plain", 9)).isEmpty();
		});
	}

	/**
	 * Return how often a call for a tick waits for the server. The pool may check a
	 * connection, and the driver asks more about statements it does not know well, so the
	 * least of several calls counts.
	 */
	private static int waits(TestProxy proxy, Runnable call) {
		return IntStream.range(0, 15).map((number) -> {
			TestPostgres.execute("UPDATE methods_tests.ledger_job SET last_tick = NULL");
			int before = proxy.waits();
			call.run();
			return proxy.waits() - before;
		}).min().orElseThrow();
	}

	private static Jobs jobs(ApplicationContext context) {
		return context.getBean(Jobs.class);
	}

	private static AdvisoryLockLedger ledger(ApplicationContext context) {
		return context.getBean(AdvisoryLockLedger.class);
	}

	static class Twins {

		@SingleRunner(key = "twin", namespace = "a", minInterval = "10m")
		void first() {
		}

		@SingleRunner(key = "twin", namespace = "b", minInterval = "10m")
		void second() {
		}

	}

	static class Jobs {

		private final List<String> ran = new ArrayList<>();

		@Scheduled(cron = YEARLY)
		@SingleRunner(key = "tick", once = Once.PER_TICK)
		void tick() {
			this.ran.add("tick");
		}

		@Scheduled(cron = YEARLY)
		@SingleRunner(key = "tick-with-result", once = Once.PER_TICK)
		LockResult<String> tickWithResult() {
			return LockResult.executed("tick");
		}

		@Transactional
		@Scheduled(cron = YEARLY)
		@SingleRunner(key = "transactional-tick", once = Once.PER_TICK)
		void transactionalTick() {
			this.ran.add("transactionalTick");
		}

		@Scheduled(cron = YEARLY)
		@SingleRunner(key = "session-tick", scope = LockScope.SESSION, once = Once.PER_TICK)
		void sessionTick() {
			this.ran.add("sessionTick");
		}

		@Scheduled(cron = "-")
		@SingleRunner(key = "switched-off", once = Once.PER_TICK)
		void switchedOff() {
			this.ran.add("switchedOff");
		}

		@SingleRunner(key = "result:#{#id}", once = Once.PER_KEY)
		LockResult<String> result(String id) {
			this.ran.add("result");
			return LockResult.executed(id);
		}

		@SingleRunner(key = "optional:#{#id}", scope = LockScope.SESSION, once = Once.PER_KEY)
		Optional<String> optional(String id) {
			this.ran.add("optional");
			return Optional.of(id);
		}

		@SingleRunner(key = "object:#{#id}", once = Once.PER_KEY)
		String object(String id) {
			this.ran.add("object");
			return id;
		}

		@Transactional
		@SingleRunner(key = "transactional:#{#id}", once = Once.PER_KEY)
		String transactional(String id) {
			this.ran.add("transactional");
			return id;
		}

		@SingleRunner(key = "token:#{#id}", once = Once.PER_KEY)
		String token(String id) {
			this.ran.add("token");
			return String.valueOf(LockContext.current().orElseThrow().fencingToken().orElseThrow());
		}

		@SingleRunner(key = "seldom", minInterval = "10m")
		LockResult<String> seldom() {
			this.ran.add("seldom");
			return LockResult.executed("seldom");
		}

		@SingleRunner(key = "argument", minInterval = "10m")
		void argument(String id) {
			this.ran.add("argument");
		}

		@SingleRunner("plain")
		void plain() {
			this.ran.add("plain");
		}

		@SingleRunner("plain:#{#id}")
		void plainWithArgument(String id) {
			this.ran.add("plainWithArgument");
		}

		@SingleRunner(key = "primitive", whenBusy = WhenBusy.FAIL)
		int primitive() {
			this.ran.add("primitive");
			return 1;
		}

		List<String> ran() {
			return this.ran;
		}

		@SingleRunner(key = "failing", minInterval = "10m")
		void fail() {
			throw new IllegalStateException("failed");
		}

	}

}
