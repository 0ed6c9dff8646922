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

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for recorded runs behind a table of the ledger that somebody else has locked, as
 * a migration does.
 */
class SlowTableTests extends AbstractLedgerTests {

	@Override
	LockSessionSettings sessionSettings() {
		return new LockSessionSettings(Duration.ofMillis(500), Duration.ofSeconds(3),
				LockSessionSettings.WhenLost.INTERRUPT);
	}

	@ParameterizedTest
	@ValueSource(strings = { "LOCK TABLE ledger_tests_job IN ACCESS EXCLUSIVE MODE",
			"LOCK TABLE ledger_tests_run IN ACCESS EXCLUSIVE MODE",
			"ALTER SEQUENCE ledger_tests_fencing_token INCREMENT 1" })
	void lockOfAnotherRunStays(String migration) throws Exception {
		// the word of a server that gives up arrives after the time it has taken
		try (TestProxy proxy = new TestProxy(Duration.ofMillis(100))) {
			this.template = createTemplate(this.pool, this.transactionManager,
					new DriverManagerDataSource(proxy.url()));
			HeldLock held = this.template.tryAcquire(LockRequest.of("held")).orElseThrow();
			String session = TestPostgres.connections(NAMESPACE).get(0);
			Future<LockOutcome> run;
			try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
				other.setAutoCommit(false);
				statement.execute(migration);
				run = this.threads.submit(() -> execute(request(LockScope.SESSION).oncePerTick(TICK)));
				awaitEndOrAnswerTimeout(run);
				other.rollback();
			}
			awaitEndOrAnswerTimeout(run);
			assertThat(run).isDone();
			assertThat(held.isHeld()).isTrue();
			assertThat(TestPostgres.connections(NAMESPACE)).containsExactly(session);
			assertThat(this.events).isEmpty();
			held.close();
		}
	}

	/**
	 * Whether the run gives up by then, or waits, is its own affair.
	 */
	private void awaitEndOrAnswerTimeout(Future<?> run) {
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(sessionSettings().answerTimeoutMillis() + 500);
		while (!run.isDone() && System.nanoTime() < end) {
			Pause.of(Duration.ofMillis(10));
		}
	}

}
