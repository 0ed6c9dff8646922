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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what {@link PostgresAdvisoryLockTemplate} asks the ledger before it takes a
 * lock.
 */
class LedgerForesightTests extends AbstractLedgerTests {

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void completedTickHasAlreadyRunThoughItsLockIsHeld(LockScope scope) {
		execute(tick(scope, TICK));
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			assertThat(execute(tick(scope, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(execute(tick(scope, TICK.minusSeconds(1)))).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(execute(tick(scope, TICK.plusSeconds(1)))).isEqualTo(LockOutcome.BUSY);
		}
		assertThat(effects()).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void completedTickOfPausedJobIsPausedThoughItsLockIsHeld(LockScope scope) {
		execute(tick(scope, TICK));
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
	void ledgerIsAskedOnceUnlessItWasAskedBefore(LockScope scope) {
		try (TestProxy proxy = new TestProxy(Duration.ZERO);
				HikariDataSource proxied = TestPostgres.pool(proxy.url(), 1)) {
			this.template = createTemplate(proxied, new JdbcTransactionManager(proxied));
			int asked = waits(proxy, (number) -> tick(scope, TICK.plusSeconds(number)));
			int foreseen = Foresight
				.without(() -> waits(proxy, (number) -> tick(scope, TICK.plusSeconds(100 + number))));
			// in scope SESSION it is asked before a token is drawn, if it was not before
			assertThat(asked).isEqualTo((scope == LockScope.TRANSACTION) ? foreseen + 1 : foreseen);
		}
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
		return IntStream.range(0, 15).map((number) -> {
			int before = proxy.waits();
			assertThat(this.template.execute(requests.apply(number), (lock) -> 1).executed()).isTrue();
			return proxy.waits() - before;
		}).min().orElseThrow();
	}

}
