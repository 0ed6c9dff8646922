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

package io.github.advisorylock.jdbc;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
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
		execute(scope, TICK);
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(execute(scope, TICK.minusSeconds(1))).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(execute(scope, TICK.plusSeconds(1))).isEqualTo(LockOutcome.BUSY);
		}
		assertThat(effects()).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void completedTickOfPausedJobIsPausedThoughItsLockIsHeld(LockScope scope) {
		execute(scope, TICK);
		this.ledger.pause("job", "tester");
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.PAUSED);
		}
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.PAUSED);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void ledgerIsNotAskedBeforehandInTransactionOfCaller(LockScope scope) {
		execute(scope, TICK);
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			transaction()
				.executeWithoutResult((status) -> assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.BUSY));
		}
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void ledgerIsAskedOnceUnlessItWasAskedBefore(LockScope scope) {
		try (TestProxy proxy = new TestProxy(Duration.ZERO);
				HikariDataSource proxied = TestPostgres.pool(proxy.url(), 1)) {
			this.template = createTemplate(proxied, new JdbcTransactionManager(proxied));
			waits(proxy, request(scope).recorded());
			int withoutTick = waits(proxy, request(scope).recorded());
			int withTick = waits(proxy, request(scope).oncePerTick(TICK));
			int foreseen = waits(proxy, request(scope).oncePerTick(TICK.plusSeconds(1)).foreseen());
			assertThat(withTick).isEqualTo(withoutTick + 1);
			assertThat(foreseen).isEqualTo(withoutTick);
		}
	}

	private int waits(TestProxy proxy, LockRequest request) {
		this.template.execute(request(LockScope.TRANSACTION), (lock) -> 1);
		int before = proxy.waits();
		assertThat(this.template.execute(request, (lock) -> 1).executed()).isTrue();
		return proxy.waits() - before;
	}

}
