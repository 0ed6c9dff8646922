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

package io.github.advisorylock;

import java.time.Duration;
import java.time.Instant;

import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link LockContext}.
 */
class LockContextTests {

	private final DriverManagerDataSource dataSource = new DriverManagerDataSource(TestPostgres.url());

	private final LockSession session = new LockSession(this.dataSource, "shop", LockSessionSettings.DEFAULT,
			(event) -> {
			});

	private final AdvisoryLockOperations locks = new PostgresAdvisoryLockTemplate(this.dataSource,
			new JdbcTransactionManager(this.dataSource), this.session, "shop", AdvisoryLockKeyFactory.sha256(),
			Duration.ZERO, 10);

	@AfterEach
	void closeSession() {
		this.session.close();
	}

	@Test
	void currentTickIsThatOfTheInnermostRun() {
		Instant tick = Instant.parse("2026-11-26T02:00:00Z");
		LockRequest outer = LockRequest.of("outer").rememberTick(tick.minusSeconds(60), Duration.ofMinutes(1));
		LockRequest inner = LockRequest.of("inner").rememberTick(tick, Duration.ofMinutes(1));
		assertThat(this.locks
			.execute(outer, (lock) -> this.locks.execute(inner, (nested) -> LockContext.currentTick()).value())
			.value()).isEqualTo(tick);
	}

	@Test
	void runThatIsForNoTickHasNoCurrentOne() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.locks.execute(LockRequest.of("cache"), (lock) -> LockContext.currentTick()))
			.withMessageContaining("'shop/cache' is for none")
			.withMessageContaining("once = PER_TICK");
	}

	@Test
	void threadThatIsInNoRunHasNoCurrentTick() {
		assertThatIllegalStateException().isThrownBy(LockContext::currentTick)
			.withMessageContaining("thread '" + Thread.currentThread().getName() + "' runs under no lock");
	}

}
