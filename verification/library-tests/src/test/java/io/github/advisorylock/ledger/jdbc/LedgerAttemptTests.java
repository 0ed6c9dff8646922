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
import java.util.OptionalLong;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.support.RequestDetail.Recorded;
import io.github.advisorylock.support.RequestDetail.Retries;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link RecordedRun}: attempts of a tick, tokens, and what is known of a
 * failure before anybody else has the lock.
 */
class LedgerAttemptTests extends AbstractLedgerTests {

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void failedAttemptsAreCountedAndFollowedByPauseThatGrows(LockScope scope) {
		LockRequest request = request(scope).oncePerTick(TICK).with(new Retries(true, null));
		for (int attempt = 1; attempt <= 3; attempt++) {
			assertThatIllegalStateException().isThrownBy(() -> this.template.execute(request, (lock) -> {
				throw new IllegalStateException("attempt " + lock.attempt());
			})).withMessage("attempt " + attempt);
			assertThat(execute(request)).isEqualTo(LockOutcome.TOO_SOON);
			assertThat(Precheck.without(() -> execute(request))).isEqualTo(LockOutcome.TOO_SOON);
			assertThat(TestPostgres.query("SELECT retry_at - last_finished_at BETWEEN interval '1 second' * "
					+ (30 << (attempt - 1)) + " AND interval '1.2 seconds' * " + (30 << (attempt - 1))
					+ " AND open_tick = '" + TICK + "' AND attempts = " + attempt + " FROM ledger_tests_job"))
				.containsExactly("t");
			TestPostgres.execute("UPDATE ledger_tests_job SET retry_at = now()");
		}
		assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(TestPostgres.query("SELECT attempt || outcome FROM ledger_tests_run ORDER BY fencing_token"))
			.containsExactly("1FAILED", "2FAILED", "3FAILED", "4EXECUTED");
		assertThat(TestPostgres
			.query("SELECT attempts FROM ledger_tests_job WHERE open_tick IS NULL " + "AND retry_at IS NULL"))
			.containsExactly("0");
	}

	@ParameterizedTest
	@CsvSource({ "SESSION, 4, 480", "SESSION, 5, 600", "SESSION, 1000, 600", "TRANSACTION, 4, 480",
			"TRANSACTION, 5, 600", "TRANSACTION, 1000, 600" })
	void pauseBetweenAttemptsGrowsToTenMinutes(LockScope scope, int failed, int seconds) {
		TestPostgres
			.execute("INSERT INTO ledger_tests_job (namespace, key, open_tick, attempts) VALUES ('tests', 'job', '"
					+ TICK + "', " + failed + ")");
		assertThatIllegalStateException().isThrownBy(() -> executeAndFail(scope, TICK)).withMessage("expected");
		assertThat(TestPostgres
			.query("SELECT attempts || ' ' || (retry_at - last_finished_at BETWEEN " + "interval '1 second' * "
					+ seconds + " AND interval '1.2 seconds' * " + seconds + ") FROM ledger_tests_job"))
			.containsExactly(failed + 1 + " true");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void tickAheadOfTheClockOfTheDatabaseIsAnErrorAndLeavesNothing(LockScope scope) {
		Instant tick = Instant.now().plus(Duration.ofDays(365));
		for (boolean prechecked : new boolean[] { true, false }) {
			assertThatIllegalStateException().isThrownBy(() -> {
				LockRequest request = request(scope).oncePerTick(tick);
				LockOutcome outcome = prechecked ? execute(request) : execute(scope, tick);
				throw new AssertionError(outcome);
			})
				.withMessageContainingAll("PT87", "ahead of the clock of the database server, which says ",
						"the clock of this instance says ",
						"if all instances report this, set the clock of the database server right");
		}
		assertThat(rows()).isZero();
		assertThat(effects()).isEmpty();
	}

	/**
	 * As a clock that was ahead for a while leaves it behind.
	 */
	@ParameterizedTest
	@CsvSource({ "SESSION, last_tick", "SESSION, last_started_at", "SESSION, retry_at", "SESSION, held_until",
			"TRANSACTION, last_tick", "TRANSACTION, last_started_at", "TRANSACTION, retry_at",
			"TRANSACTION, held_until" })
	void timeOfTheFutureDecidesNothingAndIsToldOnce(LockScope scope, String column) {
		TestPostgres.execute("INSERT INTO ledger_tests_job (namespace, key, open_tick, held_since, " + column
				+ ") VALUES ('tests', 'job', '" + TICK
				+ "', now() + interval '59 minutes', now() + interval '1 hour')");
		if (!column.equals("held_until")) {
			TestPostgres.execute("UPDATE ledger_tests_job SET held_since = NULL");
		}
		LockRequest request = request(scope).oncePerTick(TICK)
			.minInterval(Duration.ofNanos(1000))
			.with(new Retries(true, null));
		try (LogRecorder log = LogRecorder.of(RecordedRun.class.getName(), "warn")) {
			assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
			assertThat(execute(request)).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(log.messages()).singleElement(InstanceOfAssertFactories.STRING)
				.contains("as a time of 'tests/job', which is later than the clock of the database server")
				.contains("it decides nothing");
			TestPostgres.execute("UPDATE ledger_tests_job SET held_since = NULL");
			assertThat(execute(request.oncePerTick(TICK.plusSeconds(1)))).isEqualTo(LockOutcome.EXECUTED);
		}
	}

	/**
	 * Clocks differ by as much.
	 */
	@ParameterizedTest
	@EnumSource(LockScope.class)
	void tickThatIsHalfAMinuteAheadDecides(LockScope scope) {
		TestPostgres.execute("INSERT INTO ledger_tests_job (namespace, key, last_tick) "
				+ "VALUES ('tests', 'job', now() + interval '30 seconds')");
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void tokensBeginWithTheTimelineOfTheServer(LockScope scope) {
		long token = this.template
			.execute(request(scope).oncePerTick(TICK), (lock) -> lock.fencingToken().orElseThrow())
			.orElseThrow();
		assertThat(token >> 44).isPositive();
		TestPostgres.execute("UPDATE ledger_tests_job SET fencing_token = fencing_token + (1::bigint << 44)");
		TestPostgres.execute("UPDATE ledger_tests_run SET fencing_token = fencing_token + (1::bigint << 44)");
		assertThat(this.template
			.execute(request(scope).oncePerTick(TICK.plusSeconds(1)), (lock) -> lock.fencingToken().orElseThrow())
			.orElseThrow()).as("restored from a server with more timelines").isGreaterThan(token + (1L << 44));
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void tokenThatIsAskedForIsOnTheDiskOfTheServer(LockScope scope) {
		for (int i = 0; i < 70; i++) {
			Instant tick = TICK.plusSeconds(i);
			this.template.execute(request(scope).oncePerTick(tick), (lock) -> {
				String drawn = TestPostgres.query("SELECT pg_current_wal_insert_lsn()").get(0);
				lock.fencingToken();
				assertThat(TestPostgres.query("SELECT pg_current_wal_flush_lsn() >= '" + drawn + "'"))
					.containsExactly("t");
				return 1;
			}).orElseThrow();
		}
	}

	@Test
	void holderThatLostItsLockBeforeItsStartWasWrittenOvertakesNobody() {
		PostgresAdvisoryLockTemplate successor = createTemplate(this.pool, this.transactionManager);
		LockRequest request = request(LockScope.SESSION).with(new Recorded("job"));
		LockSession session = new LockSession(new DriverManagerDataSource(TestPostgres.url()), "stalled",
				LockSessionSettings.DEFAULT, this.events::add);
		this.sessions.add(session);
		PostgresAdvisoryLockTemplate stalled = new PostgresAdvisoryLockTemplate(this.pool, this.transactionManager,
				session, NAMESPACE, AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 10,
				() -> (key, scope, recorded) -> new Stalling(this.ledger.record(key, scope, recorded),
						() -> TestPostgres.terminate("stalled"), successor, request));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> stalled.execute(request, (lock) -> insertEffect("overtaken")));
		assertThat(effects()).isEmpty();
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	@Test
	void intervalHoldsAfterFailureWhoeverIsWaiting() throws Exception {
		try (HikariDataSource otherPool = TestPostgres.pool(2)) {
			PostgresAdvisoryLockTemplate other = createTemplate(otherPool, new JdbcTransactionManager(otherPool));
			for (int i = 0; i < 20; i++) {
				assertThatNobodyRunsAfterFailure(LockRequest.of("job" + i).minInterval(Duration.ofHours(1)), other);
			}
		}
		assertThat(effects()).isEmpty();
		assertThat(outcomes()).hasSize(20).containsOnly("FAILED");
	}

	private void assertThatNobodyRunsAfterFailure(LockRequest request, PostgresAdvisoryLockTemplate other)
			throws Exception {
		AtomicInteger ran = new AtomicInteger();
		AtomicBoolean over = new AtomicBoolean();
		List<Future<?>> waiting = new ArrayList<>();
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(request, (lock) -> {
			insertEffect("failed");
			waiting.add(this.threads.submit(() -> {
				while (!over.get()) {
					other.execute(request, (another) -> ran.incrementAndGet());
				}
			}));
			throw new IllegalStateException("expected");
		})).withMessage("expected");
		over.set(true);
		waiting.get(0).get(Patience.SECONDS, TimeUnit.SECONDS);
		assertThat(ran).hasValue(0);
	}

	@Test
	void joinedRunThatFailedIsKnownBeforeItsTransactionIsRolledBack() {
		LockRequest request = LockRequest.of("job").minInterval(Duration.ofHours(1));
		List<String> known = new ArrayList<>();
		transaction().executeWithoutResult((status) -> {
			assertThatIllegalStateException().isThrownBy(() -> this.template.execute(request, (lock) -> {
				throw new IllegalStateException("expected");
			})).withMessage("expected");
			assertThat(outcomes()).as("the transaction may be committed yet").isEmpty();
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCompletion() {
					assertThat(TestPostgres.holders()).isNotEmpty();
					known.addAll(outcomes());
				}

			});
			status.setRollbackOnly();
		});
		assertThat(known).containsExactly("FAILED");
		assertThat(outcomes()).containsExactly("FAILED");
	}

	@Test
	void joinedRunThatFailedIsKnownWhenOlderSavepointIsRolledBackTo() {
		LockRequest request = LockRequest.of("job").minInterval(Duration.ofHours(1));
		transaction().executeWithoutResult((status) -> {
			assertThatIllegalStateException().isThrownBy(() -> transaction(TransactionDefinition.PROPAGATION_NESTED)
				.executeWithoutResult((nested) -> this.template.execute(request, (lock) -> {
					throw new IllegalStateException("expected");
				}))).withMessage("expected");
			assertThat(TestPostgres.holders()).isEmpty();
			assertThat(outcomes()).containsExactly("FAILED");
		});
		assertThat(outcomes()).containsExactly("FAILED");
	}

	@Test
	void endOfRunWhoseJobHasGoneIsRepaired() {
		LockRequest request = request(LockScope.SESSION).oncePerTick(TICK);
		this.template.execute(request, (lock) -> {
			TestPostgres.execute("DELETE FROM ledger_tests_job");
			return 1;
		});
		assertThat(execute(request)).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	@Test
	void endOfRunWhoseRowHasGoneIsRepaired() {
		LockRequest request = request(LockScope.SESSION).oncePerTick(TICK);
		this.template.execute(request, (lock) -> {
			TestPostgres.execute("DELETE FROM ledger_tests_run");
			return 1;
		});
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	/**
	 * Begins when another run is under way.
	 */
	private record Stalling(RunRecord record, Runnable loss, PostgresAdvisoryLockTemplate successor,
			LockRequest request) implements RunRecord {

		@Override
		public LockOutcome precheck() {
			return this.record.precheck();
		}

		@Override
		public LockOutcome begin(Boundary boundary, Hold hold) {
			this.loss.run();
			return this.successor.execute(this.request, (lock) -> {
				try {
					return Optional.of(this.record.begin(boundary, hold));
				}
				catch (LockLostException ex) {
					return Optional.<LockOutcome>empty();
				}
			}).orElseThrow().orElseThrow(() -> new LockLostException(KEY));
		}

		@Override
		public void complete(@Nullable Object result) {
			this.record.complete(result);
		}

		@Override
		public void fail(Throwable failure) {
			this.record.fail(failure);
		}

		@Override
		public OptionalLong fencingToken() {
			return this.record.fencingToken();
		}

		@Override
		public int attempt() {
			return this.record.attempt();
		}

	}

}
