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

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for runs that are recorded in transactions whose snapshot is older than the lock,
 * or which may not write.
 */
@Tag("gate")
class LedgerIsolationTests extends AbstractLedgerTests {

	private static final int TICKS = 25;

	@ParameterizedTest
	@CsvSource({ "ISOLATION_REPEATABLE_READ, TRANSACTION", "ISOLATION_REPEATABLE_READ, SESSION",
			"ISOLATION_SERIALIZABLE, TRANSACTION", "ISOLATION_SERIALIZABLE, SESSION" })
	void tickThatSnapshotDoesNotKnowOfRunsNotTwice(String isolation, LockScope scope) {
		execute(scope, TICK.minusSeconds(1));
		assertThatSecondRunFails(isolation, request(scope).oncePerTick(TICK), "EXECUTED");
	}

	@ParameterizedTest
	@CsvSource({ "ISOLATION_REPEATABLE_READ, TRANSACTION", "ISOLATION_REPEATABLE_READ, SESSION",
			"ISOLATION_SERIALIZABLE, TRANSACTION", "ISOLATION_SERIALIZABLE, SESSION" })
	void firstTickEverThatSnapshotDoesNotKnowOfRunsNotTwice(String isolation, LockScope scope) {
		assertThatSecondRunFails(isolation, request(scope).oncePerTick(TICK), "EXECUTED", "FAILED");
	}

	@ParameterizedTest
	@CsvSource({ "ISOLATION_REPEATABLE_READ, TRANSACTION", "ISOLATION_REPEATABLE_READ, SESSION",
			"ISOLATION_SERIALIZABLE, TRANSACTION", "ISOLATION_SERIALIZABLE, SESSION" })
	void keyThatSnapshotDoesNotKnowOfRunsNotTwice(String isolation, LockScope scope) {
		assertThatSecondRunFails(isolation, request(scope).oncePerKey(), "EXECUTED", "FAILED");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ISOLATION_REPEATABLE_READ", "ISOLATION_SERIALIZABLE" })
	void racingTransactionsRunEachTickOnce(String isolation) throws Exception {
		usePool(TestPostgres.pool(4));
		try (HikariDataSource otherPool = TestPostgres.pool(4)) {
			Instance one = new Instance(this.template, this.pool, isolation);
			JdbcTransactionManager manager = new JdbcTransactionManager(otherPool);
			Instance other = new Instance(createTemplate(otherPool, manager), otherPool, isolation);
			List<Future<?>> racers = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				racers.add(this.threads.submit(one::runAllTicks));
				racers.add(this.threads.submit(other::runAllTicks));
			}
			for (Future<?> racer : racers) {
				racer.get(60, TimeUnit.SECONDS);
			}
		}
		assertThat(effects()).hasSize(TICKS).doesNotHaveDuplicates();
		assertThat(outcomes().stream().filter("EXECUTED"::equals)).hasSize(TICKS);
	}

	@Test
	void sessionRunInReadOnlyTransactionIsRecordedApart() {
		LockRequest request = request(LockScope.SESSION).oncePerTick(TICK);
		TransactionTemplate readOnly = transaction();
		readOnly.setReadOnly(true);
		readOnly.executeWithoutResult((status) -> {
			List<String> meanwhile = this.template.execute(request, (lock) -> outcomes()).orElseThrow();
			assertThat(meanwhile).containsExactly("OPEN");
			assertThat(outcomes()).containsExactly("EXECUTED");
			status.setRollbackOnly();
		});
		assertThat(outcomes()).containsExactly("EXECUTED");
		assertThat(execute(request)).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	@Test
	void transactionRunInReadOnlyTransactionIsRefusedAndLeavesNothing() {
		LockRequest request = request(LockScope.TRANSACTION).oncePerTick(TICK);
		TransactionTemplate readOnly = transaction();
		readOnly.setReadOnly(true);
		readOnly.executeWithoutResult((status) -> {
			assertThatExceptionOfType(IllegalTransactionStateException.class).isThrownBy(() -> execute(request))
				.withMessageContaining("'tests/job'")
				.withMessageContaining("read-only");
			assertThat(TestPostgres.locks()).isEmpty();
		});
		assertThat(rows()).isZero();
		assertThat(isBusyLocally(this.template, request)).isFalse();
		assertThat(this.threads.submit(() -> execute(request))).succeedsWithin(LONG).isEqualTo(LockOutcome.EXECUTED);
	}

	/**
	 * Where the job is known, the second run does not even begin.
	 */
	private void assertThatSecondRunFails(String isolation, LockRequest request, String... outcomes) {
		int before = outcomes().size();
		TransactionTemplate strict = transaction();
		strict.setIsolationLevelName(isolation);
		assertThatExceptionOfType(ConcurrencyFailureException.class)
			.isThrownBy(() -> strict.executeWithoutResult((status) -> {
				this.jdbc.queryForList("SELECT id FROM ledger_effect");
				assertThat(this.threads.submit(() -> execute(request))).succeedsWithin(LONG)
					.isEqualTo(LockOutcome.EXECUTED);
				execute(request);
			}))
			.extracting(SqlState::of)
			.isEqualTo("40001");
		assertThat(effects()).hasSize(before + 1);
		assertThat(outcomes().subList(before, outcomes().size())).containsExactly(outcomes);
		assertThat(execute(request)).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	/**
	 * One of the instances that race, whose callers bring a transaction.
	 */
	private static final class Instance {

		private final PostgresAdvisoryLockTemplate template;

		private final JdbcTemplate jdbc;

		private final TransactionTemplate transaction;

		private Instance(PostgresAdvisoryLockTemplate template, HikariDataSource pool, String isolation) {
			this.template = template;
			this.jdbc = new JdbcTemplate(pool);
			this.transaction = new TransactionTemplate(new JdbcTransactionManager(pool));
			this.transaction.setIsolationLevelName(isolation);
		}

		private void runAllTicks() {
			for (int i = 0; i < TICKS; i++) {
				Instant tick = TICK.plusSeconds(i);
				while (runTick(tick) == LockOutcome.BUSY) {
					Thread.yield();
				}
			}
		}

		private LockOutcome runTick(Instant tick) {
			try {
				return this.transaction.execute(
						(status) -> this.template
							.execute(LockRequest.of("job").oncePerTick(tick),
									(lock) -> this.jdbc.update("INSERT INTO ledger_effect (id) VALUES (?)",
											tick.toString()))
							.outcome());
			}
			catch (ConcurrencyFailureException ex) {
				return LockOutcome.BUSY;
			}
		}

	}

}
