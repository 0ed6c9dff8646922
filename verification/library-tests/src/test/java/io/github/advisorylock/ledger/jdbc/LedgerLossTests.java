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

import java.sql.SQLException;
import java.time.Duration;

import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link LedgerRunRecord}: what the ledger says of runs whose lock was lost and
 * whose work ends before a heartbeat notices.
 */
class LedgerLossTests extends AbstractLedgerTests {

	private static final LockRequest REQUEST = LockRequest.of("job").scope(LockScope.SESSION).oncePerTick(TICK);

	@Override
	LockSessionSettings sessionSettings() {
		return new LockSessionSettings(Duration.ofMinutes(5), Duration.ofMinutes(20), WhenLost.INTERRUPT);
	}

	@Test
	void runWhoseLockWasLostUnnoticedHasFailedAndLeavesItsTick() {
		assertThatLockIsLost();
		assertThatRunHasFailed();
	}

	@Test
	void keyOfRunWhoseLockWasLostUnnoticedIsNotCompleted() {
		LockRequest request = LockRequest.of("job").scope(LockScope.SESSION).oncePerKey();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(request, (lock) -> TestPostgres.terminate("tests")));
		assertThat(TestPostgres.query("SELECT key FROM ledger_tests_completion")).isEmpty();
		assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void runInReadOnlyTransactionWhoseLockWasLostUnnoticedHasFailed() {
		TransactionTemplate readOnly = transaction();
		readOnly.setReadOnly(true);
		readOnly.executeWithoutResult((status) -> assertThatLockIsLost());
		assertThatRunHasFailed();
	}

	@Test
	void joinedRunWhoseLockWasLostUnnoticedHasFailedThoughItsCallerCommits() {
		transaction().executeWithoutResult((status) -> {
			assertThatLockIsLost();
			insertEffect("caller");
		});
		assertThat(effects()).containsExactly("caller");
		assertThatRunHasFailed();
	}

	@Test
	void secondRunInTransactionWhoseLockWasLostUnnoticedHasFailed() {
		LockRequest first = LockRequest.of("job").scope(LockScope.SESSION).oncePerTick(TICK.minusSeconds(1));
		transaction().executeWithoutResult((status) -> {
			assertThat(execute(first)).isEqualTo(LockOutcome.EXECUTED);
			assertThatLockIsLost();
		});
		assertThat(outcomes()).containsExactly("EXECUTED", "FAILED");
		assertThat(execute(REQUEST)).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void runWhoseLockSomebodyElseHasMeanwhileHasFailed() {
		try (ForeignSession other = new ForeignSession()) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
					TestPostgres.terminate("tests");
					return other.tryLock(KEY);
				}));
			assertThat(other.unlock(KEY)).isTrue();
		}
		assertThatRunHasFailed();
	}

	@Test
	void jobsOwnFailureIsRecordedWhenItsLockWasLostUnnoticed() {
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
			TestPostgres.terminate("tests");
			throw new IllegalStateException("expected");
		})).withMessage("expected");
		assertThat(errors()).containsExactly("java.lang.IllegalStateException: expected");
	}

	@Test
	void lockSessionIsAskedForMoreThanItsLockByRecordedRunsOnly() {
		try (TestProxy proxy = new TestProxy(Duration.ZERO)) {
			this.template = createTemplate(this.pool, this.transactionManager,
					new DriverManagerDataSource(proxy.url()));
			execute(request(LockScope.SESSION));
			int before = proxy.waits();
			execute(request(LockScope.SESSION));
			assertThat(proxy.waits() - before).isEqualTo(2);
			execute(REQUEST);
			assertThat(proxy.waits() - before).isEqualTo(6);
		}
	}

	private void assertThatLockIsLost() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> TestPostgres.terminate("tests")))
			.withMessageContaining("'tests/job'")
			.withCauseInstanceOf(SQLException.class)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	private void assertThatRunHasFailed() {
		assertThat(errors()).singleElement().asString().startsWith(LockLostException.class.getName());
		assertThat(execute(REQUEST)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("FAILED", "EXECUTED");
		assertThat(execute(REQUEST)).isEqualTo(LockOutcome.ALREADY_RAN);
	}

}
