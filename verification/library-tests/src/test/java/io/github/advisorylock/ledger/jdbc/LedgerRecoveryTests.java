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
import java.util.List;

import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link SessionRunRecord}: what the ledger says of runs whose lock or whose
 * instance is gone.
 */
@Tag("gate")
class LedgerRecoveryTests extends AbstractLedgerTests {

	@Override
	LockSessionSettings sessionSettings() {
		return new LockSessionSettings(Duration.ofMillis(100), Duration.ofSeconds(2), WhenLost.REPORT);
	}

	@Test
	void sessionRunIsOpenWhileItRuns() {
		List<String> meanwhile = this.template
			.execute(request(LockScope.SESSION).oncePerTick(TICK), (lock) -> outcomes())
			.orElseThrow();
		assertThat(meanwhile).containsExactly("OPEN");
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	@Test
	void runWhoseLockWasLostHasFailedAndLeavesItsTick() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(request(LockScope.SESSION).oncePerTick(TICK), (lock) -> {
				TestPostgres.terminate("tests");
				Awaitility.await().until(() -> !lock.isHeld());
				return 1;
			}));
		assertThat(errors()).singleElement().asString().startsWith(LockLostException.class.getName());
		assertThat(execute(LockScope.SESSION, TICK)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("FAILED", "EXECUTED");
	}

	@Test
	void overtakenRunIsAbandonedAndCannotComplete() {
		PostgresAdvisoryLockTemplate other = createTemplate(this.pool, this.transactionManager);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(request(LockScope.SESSION).oncePerTick(TICK), (lock) -> {
				TestPostgres.terminate("tests");
				return other.execute(request(LockScope.SESSION).oncePerTick(TICK), (overtaking) -> 2).orElseThrow();
			}));
		assertThat(outcomes()).containsExactly("ABANDONED", "EXECUTED");
	}

	@Test
	void runThatWasGivenUpMeanwhileCannotComplete() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(request(LockScope.SESSION).oncePerTick(TICK), (lock) -> {
				TestPostgres.execute("UPDATE ledger_tests_run SET finished_at = now(), outcome = 'ABANDONED'");
				return 1;
			}));
		assertThat(outcomes()).containsExactly("ABANDONED");
		assertThat(execute(LockScope.SESSION, TICK)).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void runOfKilledInstanceIsAbandonedByTheNextOne(LockScope scope) throws Exception {
		try (LedgerInstance instance = LedgerInstance.start(TestPostgres.url(), LockScope.SESSION,
				Duration.ofMinutes(1))) {
			instance.awaitRun();
			assertThat(outcomes()).containsExactly("OPEN");
		}
		Awaitility.await().until(() -> ForeignSession.isFree(KEY));
		assertThat(outcomes()).containsExactly("OPEN");
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("ABANDONED", "EXECUTED");
		assertThat(TestPostgres.query("SELECT instance FROM ledger_tests_run ORDER BY id").get(0))
			.startsWith(new LockInstance(null).name().substring(0, new LockInstance(null).name().lastIndexOf(':')));
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void openRunIsAbandonedByRunThatFails(LockScope scope) {
		insertOpenRun();
		assertThatIllegalStateException().isThrownBy(() -> executeAndFail(scope, TICK)).withMessage("expected");
		assertThat(outcomes()).containsExactly("ABANDONED", "FAILED");
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void runThatFailedInTransactionLeavesNewerOpenRunAlone() {
		transaction().executeWithoutResult((status) -> {
			execute(LockScope.TRANSACTION, TICK);
			insertRowOfOpenRun();
			status.setRollbackOnly();
		});
		assertThat(outcomes()).containsExactly("FAILED", "OPEN");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void skippedCallLeavesOpenRunOpen(LockScope scope) {
		execute(scope, TICK);
		insertOpenRun();
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(outcomes()).containsExactly("EXECUTED", "OPEN");
	}

}
