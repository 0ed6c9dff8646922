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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LedgerConnections} where the database's own isolation level is a
 * strict one.
 */
class LedgerConnectionsTests extends AbstractLedgerTests {

	private static final int THREADS = 8;

	private static final int RUNS = 15;

	@BeforeEach
	void useStrictPool() {
		HikariDataSource pool = TestPostgres.pool(THREADS);
		pool.setConnectionInitSql("SET default_transaction_isolation = 'serializable'");
		usePool(pool);
	}

	@Test
	void runsOfUnrelatedJobsDoNotFailEachOther() throws Exception {
		this.ledger.prepare();
		CyclicBarrier start = new CyclicBarrier(THREADS);
		List<Future<Integer>> jobs = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			LockRequest request = LockRequest.of("job" + i).scope(LockScope.SESSION);
			jobs.add(this.threads.submit(() -> run(request, start)));
		}
		for (Future<Integer> job : jobs) {
			assertThat(job.get(60, TimeUnit.SECONDS)).isEqualTo(RUNS);
		}
		assertThat(outcomes()).hasSize(THREADS * RUNS).containsOnly("EXECUTED");
	}

	private int run(LockRequest request, CyclicBarrier start) throws Exception {
		start.await(Patience.SECONDS, TimeUnit.SECONDS);
		int executed = 0;
		for (int i = 0; i < RUNS; i++) {
			LockOutcome outcome = this.template.execute(request.oncePerTick(TICK.plusSeconds(i)), (lock) -> true)
				.outcome();
			executed += (outcome == LockOutcome.EXECUTED) ? 1 : 0;
		}
		return executed;
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void ledgerChoosesItsIsolationAndLeavesThatOfThePool(boolean autoCommit) {
		HikariDataSource pool = TestPostgres.pool(1);
		pool.setConnectionInitSql("SET default_transaction_isolation = 'repeatable read'");
		pool.setAutoCommit(autoCommit);
		usePool(pool);
		LedgerConnections connections = new LedgerConnections(this.pool);
		new LedgerSchema(connections, settings()).open();
		assertThat(connections.<String>apart(LedgerConnectionsTests::isolation)).isEqualTo("read committed");
		assertThat(connections.<String>reading(LedgerConnectionsTests::isolation)).isEqualTo("read committed");
		assertThat(transaction().<String>execute((status) -> isolation(connections.current())))
			.isEqualTo("repeatable read");
		assertThat(transaction().<String>execute((status) -> connections.reading(LedgerConnectionsTests::isolation)))
			.isEqualTo("repeatable read");
		assertThat(connections.<String>afterCompletion(LedgerConnectionsTests::isolation)).isEqualTo("read committed");
	}

	private static String isolation(NamedParameterJdbcOperations jdbc) {
		return String.valueOf(jdbc.queryForObject("SHOW transaction_isolation", Map.of(), String.class));
	}

	@ParameterizedTest
	@ValueSource(strings = { "40001", "40P01" })
	void workThatLosesAgainstOthersIsRepeated(String state) {
		LedgerConnections connections = new LedgerConnections(this.pool);
		AtomicInteger attempts = new AtomicInteger();
		String answer = connections.apart((jdbc) -> {
			if (attempts.incrementAndGet() <= 3) {
				raise(jdbc, state);
			}
			return "done";
		});
		assertThat(answer).isEqualTo("done");
		attempts.set(0);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> connections.apart((jdbc) -> {
			attempts.incrementAndGet();
			raise(jdbc, state);
			return true;
		})).extracting(SqlState::of).isEqualTo(state);
		assertThat(attempts).hasValue(4);
	}

	@Test
	void otherFailureIsNotRepeated() {
		AtomicInteger attempts = new AtomicInteger();
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> new LedgerConnections(this.pool).apart((jdbc) -> {
				attempts.incrementAndGet();
				raise(jdbc, "P0001");
				return true;
			}))
			.extracting(SqlState::of)
			.isEqualTo("P0001");
		assertThat(attempts).hasValue(1);
	}

	private static void raise(NamedParameterJdbcOperations jdbc, String state) {
		jdbc.getJdbcOperations().execute("DO 'BEGIN RAISE EXCEPTION USING ERRCODE = ''" + state + "''; END'");
	}

}
