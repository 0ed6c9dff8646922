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

package io.github.advisorylock.ledger;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for recorded runs whose lock is taken by a role that may not use all of the
 * ledger.
 */
class LedgerSessionRoleTests extends AbstractLedgerTests {

	private static final String ROLE = "ledger_doorkeeper";

	@BeforeEach
	void createRole() {
		TestPostgres.execute("CREATE ROLE " + ROLE + " LOGIN PASSWORD 'low'");
		takeLocksBy(TestPostgres.url());
	}

	private void takeLocksBy(String url) {
		this.template = createTemplate(this.pool, this.transactionManager,
				new DriverManagerDataSource(url.replaceAll("(?<=[?&])(user|password)=[^&]*&?", ""), ROLE, "low"));
	}

	@AfterEach
	void dropRole() {
		this.sessions.forEach(LockSession::close);
		TestPostgres.execute("DROP OWNED BY " + ROLE + "; DROP ROLE " + ROLE);
	}

	@ParameterizedTest
	@EnumSource(Rights.class)
	void runsAreRecordedWhateverRoleOfLockMayDo(Rights rights) {
		rights.grant();
		LockRequest tick = request(LockScope.SESSION).oncePerTick(TICK);
		assertThat(execute(tick)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(execute(tick)).isEqualTo(LockOutcome.ALREADY_RAN);
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			assertThat(execute(tick)).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(execute(request(LockScope.SESSION).oncePerTick(TICK.plusSeconds(1))))
				.isEqualTo(LockOutcome.BUSY);
		}
		assertThat(execute(request(LockScope.SESSION).oncePerTick(TICK.plusSeconds(1))))
			.isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("EXECUTED", "EXECUTED");
	}

	/**
	 * What fails for one fails in the flight of all, who have their locks nevertheless.
	 */
	@ParameterizedTest
	@EnumSource(Rights.class)
	void crowdIsRecordedWhateverRoleOfLockMayDo(Rights rights) throws Exception {
		rights.grant();
		List<Future<LockOutcome>> crowd = new ArrayList<>();
		for (int i = 0; i < 16; i++) {
			LockRequest recorded = LockRequest.of("recorded-" + i).scope(LockScope.SESSION).oncePerKey();
			LockRequest plain = LockRequest.of("plain-" + i).scope(LockScope.SESSION);
			crowd.add(this.threads.submit(() -> execute(recorded)));
			crowd.add(this.threads.submit(() -> execute(plain)));
		}
		for (Future<LockOutcome> outcome : crowd) {
			assertThat(outcome.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
		}
		assertThat(outcomes()).hasSize(16).containsOnly("EXECUTED");
		assertThat(TestPostgres.locks()).isEmpty();
	}

	/**
	 * One to take the lock, one to confirm that it is held, one to release it. Where the
	 * role may not decide, one more: to draw the token, or to confirm that the lock was
	 * held when another connection had drawn it. What the role may not do it is asked for
	 * by the first run only.
	 */
	@ParameterizedTest
	@CsvSource({ "NONE, 4", "TO_DRAW, 4", "TO_DECIDE, 3" })
	void roleIsAskedOnceForWhatItMayNotDo(Rights rights, int waits) {
		rights.grant();
		try (TestProxy proxy = new TestProxy(Duration.ZERO)) {
			takeLocksBy(proxy.url());
			int first = waits(proxy, TICK);
			int next = IntStream.rangeClosed(1, 15)
				.map((number) -> waits(proxy, TICK.plusSeconds(number)))
				.min()
				.orElseThrow();
			assertThat(next).isEqualTo(waits);
			assertThat(first).isGreaterThan(next);
		}
	}

	/**
	 * As where its transactions are serializable by default, and the server finds one
	 * that it can't place.
	 */
	@Test
	void runIsRecordedWhoseDecisionCanNotBeSerialized() {
		Rights.TO_DECIDE.grant();
		TestPostgres.execute("""
				CREATE FUNCTION ledger_tests_refuse() RETURNS boolean STABLE LANGUAGE plpgsql
				AS $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = 'serialization_failure'; END $$;
				ALTER TABLE ledger_tests_job ENABLE ROW LEVEL SECURITY;
				CREATE POLICY refused ON ledger_tests_job TO %s USING (ledger_tests_refuse())""".formatted(ROLE));
		try {
			assertThat(execute(request(LockScope.SESSION).oncePerTick(TICK))).isEqualTo(LockOutcome.EXECUTED);
			assertThat(execute(request(LockScope.SESSION).oncePerTick(TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(TestPostgres.locks()).isEmpty();
		}
		finally {
			TestPostgres.execute("DROP POLICY refused ON ledger_tests_job; DROP FUNCTION ledger_tests_refuse();"
					+ "ALTER TABLE ledger_tests_job DISABLE ROW LEVEL SECURITY");
		}
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	private int waits(TestProxy proxy, Instant tick) {
		int before = proxy.waits();
		assertThat(execute(request(LockScope.SESSION).oncePerTick(tick))).isEqualTo(LockOutcome.EXECUTED);
		return proxy.waits() - before;
	}

	private enum Rights {

		NONE {

			@Override
			void grant() {
			}

		},

		TO_DRAW {

			@Override
			void grant() {
				TestPostgres.execute("GRANT SELECT ON ledger_tests_job, ledger_tests_run TO " + ROLE
						+ "; GRANT USAGE ON SEQUENCE ledger_tests_fencing_token TO " + ROLE);
			}

		},

		TO_DECIDE {

			@Override
			void grant() {
				TO_DRAW.grant();
				TestPostgres.execute("GRANT SELECT ON ledger_tests_namespace, ledger_tests_completion TO " + ROLE);
			}

		};

		abstract void grant();

	}

}
