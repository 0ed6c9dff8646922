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
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what {@link PostgresAdvisoryLockTemplate} asks the ledger before it takes a
 * lock.
 */
@Tag("gate")
class LedgerPrecheckTests extends AbstractLedgerTests {

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void completedTickHasAlreadyRunThoughItsLockIsHeldUnlessTheLastOneWasRunHere(LockScope scope) {
		execute(tick(scope, TICK));
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			assertThat(execute(tick(scope, TICK))).isEqualTo(LockOutcome.BUSY);
			assertThat(execute(tick(scope, TICK))).as("after it was busy").isEqualTo(LockOutcome.ALREADY_RAN);
		}
		assertThat(execute(tick(scope, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			assertThat(execute(tick(scope, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(execute(tick(scope, TICK.minusSeconds(1)))).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(execute(tick(scope, TICK.plusSeconds(1)))).isEqualTo(LockOutcome.BUSY);
		}
		assertThat(effects()).hasSize(1);
	}

	/**
	 * Whoever took the lock to ask would keep it, for a moment, from an instance whose
	 * clock is ahead: that is at a later tick, and does not come again.
	 */
	@ParameterizedTest
	@EnumSource(LockScope.class)
	void instanceThatBeginsTakesNoLockToAskForATickOfOthers(LockScope scope) {
		execute(tick(scope, TICK));
		PostgresAdvisoryLockTemplate started = createTemplate(this.pool, this.transactionManager);
		try (ForeignSession ahead = ForeignSession.holding(KEY)) {
			for (Instant tick : List.of(TICK.minusSeconds(5), TICK)) {
				assertThat(started.execute(tick(scope, tick), (lock) -> 1).outcome())
					.isEqualTo(LockOutcome.ALREADY_RAN);
			}
		}
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void completedTickOfPausedJobIsPausedThoughItsLockIsHeld(LockScope scope) {
		execute(tick(scope, TICK));
		assertThat(execute(tick(scope, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
		this.ledger.pause("job", "tester");
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			assertThat(execute(tick(scope, TICK))).isEqualTo(LockOutcome.PAUSED);
		}
		assertThat(execute(tick(scope, TICK))).isEqualTo(LockOutcome.PAUSED);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void ledgerIsNotAskedBeforehandInTransactionOfCaller(LockScope scope) {
		execute(tick(scope, TICK));
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			transaction()
				.executeWithoutResult((status) -> assertThat(execute(tick(scope, TICK))).isEqualTo(LockOutcome.BUSY));
		}
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void skippedCallDrawsNoToken(LockScope scope) {
		execute(tick(scope, TICK));
		String drawn = lastTokenDrawn();
		for (int i = 0; i < 3; i++) {
			assertThat(execute(tick(scope, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.ALREADY_RAN);
		}
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			assertThat(execute(tick(scope, TICK.plusSeconds(1)))).isEqualTo(LockOutcome.BUSY);
		}
		assertThat(lastTokenDrawn()).isEqualTo(drawn);
	}

	/**
	 * One to take the lock, one to decide, one to write the run, one to commit.
	 */
	@Test
	void recordedRunInTransactionTakesFourRoundTrips() {
		onProxiedPool((proxy) -> {
			assertThat(waits(proxy, (number) -> tick(LockScope.TRANSACTION, TICK.plusSeconds(number)))).isEqualTo(4);
			assertThat(waits(proxy, (number) -> LockRequest.of("event-" + number).oncePerKey())).isEqualTo(4);
			assertThat(waits(proxy, (number) -> request(LockScope.TRANSACTION).minInterval(Duration.ofNanos(1000))))
				.isEqualTo(4);
		});
	}

	/**
	 * One to take the lock, one to draw the token, one to confirm that the lock was held
	 * then, one to write the start of the run, one to confirm that the lock is held, one
	 * to write the end of the run, one to release the lock.
	 */
	@Test
	void recordedRunInSessionTakesSevenRoundTrips() {
		onProxiedPool((proxy) -> {
			assertThat(waits(proxy, (number) -> tick(LockScope.SESSION, TICK.plusSeconds(number)))).isEqualTo(7);
			assertThat(
					waits(proxy, (number) -> LockRequest.of("event-" + number).scope(LockScope.SESSION).oncePerKey()))
				.isEqualTo(7);
			assertThat(waits(proxy, (number) -> request(LockScope.SESSION).minInterval(Duration.ofNanos(1000))))
				.isEqualTo(7);
		});
	}

	@Test
	void tickThatOthersCompleteIsLookedForBeforeLockOfSessionOnceThatHasHappened() {
		onProxiedPool((proxy) -> {
			waits(proxy, (number) -> tick(LockScope.SESSION, TICK.plusSeconds(number)));
			LockRequest done = tick(LockScope.SESSION, TICK);
			assertThat(waits(proxy, done, LockOutcome.ALREADY_RAN)).isGreaterThan(1);
			assertThat(IntStream.range(0, 15).map((number) -> waits(proxy, done, LockOutcome.ALREADY_RAN)).min())
				.hasValue(1);
			assertThat(waits(proxy, tick(LockScope.SESSION, TICK.plusSeconds(100)), LockOutcome.EXECUTED))
				.isGreaterThanOrEqualTo(8);
			assertThat(waits(proxy, (number) -> tick(LockScope.SESSION, TICK.plusSeconds(200 + number)))).isEqualTo(7);
		});
	}

	@Test
	void tokenIsHigherThanWhatWasLeftBeforeLockWasTaken() {
		TestPostgres.execute("INSERT INTO ledger_tests_job (namespace, key, fencing_token) "
				+ "VALUES ('tests', 'job', 1000000000000000000)");
		assertThat(execute(tick(LockScope.SESSION, TICK))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(TestPostgres.query("SELECT fencing_token FROM ledger_tests_run"))
			.containsExactly("1000000000000000001");
	}

	@Test
	void tickThatOthersCompleteIsLookedForBeforeTransactionOnceThatHasHappened() {
		onProxiedPool((proxy) -> {
			waits(proxy, (number) -> tick(LockScope.TRANSACTION, TICK.plusSeconds(number)));
			LockRequest done = tick(LockScope.TRANSACTION, TICK);
			assertThat(waits(proxy, done, LockOutcome.ALREADY_RAN)).isGreaterThan(1);
			assertThat(IntStream.range(0, 15).map((number) -> waits(proxy, done, LockOutcome.ALREADY_RAN)).min())
				.hasValue(1);
			int next = waits(proxy, tick(LockScope.TRANSACTION, TICK.plusSeconds(100)), LockOutcome.EXECUTED);
			assertThat(next).isGreaterThanOrEqualTo(5);
			assertThat(waits(proxy, (number) -> tick(LockScope.TRANSACTION, TICK.plusSeconds(200 + number))))
				.isEqualTo(4);
		});
	}

	/**
	 * What is decided under the lock sees what the last holder has committed: whoever
	 * gets the lock in the moment that it is free does not run the tick again, nor fails
	 * because it was completed meanwhile.
	 */
	@ParameterizedTest
	@EnumSource(LockScope.class)
	void tickRunsOnceThoughInstancesTryItAllTheTime(LockScope scope) throws Exception {
		List<Future<Integer>> instances = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			PostgresAdvisoryLockTemplate instance = createTemplate(this.pool, this.transactionManager);
			instances.add(this.threads.submit(() -> runAllTicks(instance, scope)));
		}
		int executed = 0;
		for (Future<Integer> instance : instances) {
			executed += instance.get(60, TimeUnit.SECONDS);
		}
		assertThat(executed).isEqualTo(50);
		assertThat(effects()).hasSize(50);
	}

	/**
	 * What was decided with an attempt that did not get the lock counts for nothing.
	 */
	@Test
	void tickThatIsCompletedDuringTheWaitIsNotRunAgain() throws Exception {
		PostgresAdvisoryLockTemplate other = createTemplate(this.pool, this.transactionManager);
		LockRequest tick = tick(LockScope.TRANSACTION, TICK);
		List<Future<LockOutcome>> waiters = new ArrayList<>();
		whileAnotherThreadRuns(tick, () -> {
			waiters.add(this.threads
				.submit(() -> other.execute(tick.waitFor(LONG), (lock) -> insertEffect("job")).outcome()));
			Awaitility.await()
				.until(() -> TestPostgres.query("SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction'")
					.size() == 2);
			return null;
		});
		assertThat(waiters.get(0)).succeedsWithin(LONG).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(effects()).isEmpty();
	}

	private int runAllTicks(PostgresAdvisoryLockTemplate instance, LockScope scope) {
		int executed = 0;
		for (int i = 0; i < 50; i++) {
			LockRequest tick = tick(scope, TICK.plusSeconds(i));
			LockOutcome outcome = LockOutcome.BUSY;
			while (outcome == LockOutcome.BUSY) {
				outcome = instance.execute(tick, (lock) -> insertEffect("job")).outcome();
			}
			executed += (outcome == LockOutcome.EXECUTED) ? 1 : 0;
		}
		return executed;
	}

	private void onProxiedPool(Consumer<TestProxy> calls) {
		try (TestProxy proxy = new TestProxy(Duration.ZERO);
				HikariDataSource proxied = TestPostgres.pool(proxy.url(), 1)) {
			this.template = createTemplate(proxied, new JdbcTransactionManager(proxied),
					new DriverManagerDataSource(proxy.url()));
			calls.accept(proxy);
		}
	}

	private static String lastTokenDrawn() {
		return TestPostgres.query("SELECT last_value FROM ledger_tests_fencing_token").get(0);
	}

	private LockRequest tick(LockScope scope, Instant tick) {
		return request(scope).oncePerTick(tick);
	}

	/**
	 * Return how often a call waits for the server. The pool may check a connection, and
	 * the driver asks more about statements it does not know well, so the least of
	 * several calls counts.
	 */
	private int waits(TestProxy proxy, IntFunction<LockRequest> requests) {
		return IntStream.range(0, 15)
			.map((number) -> waits(proxy, requests.apply(number), LockOutcome.EXECUTED))
			.min()
			.orElseThrow();
	}

	private int waits(TestProxy proxy, LockRequest request, LockOutcome outcome) {
		int before = proxy.waits();
		assertThat(this.template.execute(request, (lock) -> 1).outcome()).isEqualTo(outcome);
		return proxy.waits() - before;
	}

}
