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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for recorded runs whose lock is taken by a role that may not use the ledger: the
 * connection of session locks is asked for locks only.
 */
@Tag("gate")
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

	@Test
	void runsAreRecordedThoughRoleOfLockMayNotUseTheLedger() {
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

	@Test
	void crowdIsRecordedThoughRoleOfLockMayNotUseTheLedger() throws Exception {
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
	 * One to take the lock, one to confirm that it was held when another connection had
	 * drawn the token, one to confirm that it is held at the end, one to release it.
	 */
	@Test
	void sessionIsAskedFourTimes() {
		try (TestProxy proxy = new TestProxy(Duration.ZERO)) {
			takeLocksBy(proxy.url());
			waits(proxy, TICK);
			assertThat(IntStream.rangeClosed(1, 15).map((number) -> waits(proxy, TICK.plusSeconds(number))).min())
				.hasValue(4);
		}
	}

	private int waits(TestProxy proxy, Instant tick) {
		int before = proxy.waits();
		assertThat(execute(request(LockScope.SESSION).oncePerTick(tick))).isEqualTo(LockOutcome.EXECUTED);
		return proxy.waits() - before;
	}

}
