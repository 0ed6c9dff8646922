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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.RequestDetail.Recorded;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for requests that the ledger has no room for, which leave no lock and no row.
 */
class LedgerRequestTests extends AbstractLedgerTests {

	private static final String LONGEST_KEY = "\uD83D\uDD12".repeat(512);

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void sharedRunIsRefused(LockScope scope) {
		assertThatRequestIsRefused(request(scope).oncePerTick(TICK).mode(LockMode.SHARED), "SHARED");
		assertThatRequestIsRefused(request(scope).oncePerKey().mode(LockMode.SHARED), "SHARED");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void keyThatDoesNotFitIsRefused(LockScope scope) {
		assertThatRequestIsRefused(LockRequest.of("k".repeat(513)).scope(scope).oncePerKey(), "512");
		assertThatRequestIsRefused(LockRequest.of("a\0b").scope(scope).oncePerKey(), "NUL");
		assertThatRequestIsRefused(
				LockRequest.of("job").namespace("n".repeat(256)).scope(scope).with(new Recorded("job")), "255");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void keyWithMoreBytesThanAnIndexHoldsIsRefused(LockScope scope) {
		LockRequest request = LockRequest.of(LONGEST_KEY).scope(scope);
		assertThatRequestIsRefused(request.namespace("n".repeat(256)).with(new Recorded("job")), "256 characters");
		assertThatRequestIsRefused(request.namespace("\u20ac".repeat(171)).with(new Recorded("job")),
				"2561 bytes in UTF-8");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void longestKeyIsRecordedAndRunsOnce(LockScope scope) {
		LockRequest request = LockRequest.of(AdvisoryLockKey.of("n".repeat(255), LONGEST_KEY)).scope(scope);
		assertThat(execute(request.oncePerKey())).isEqualTo(LockOutcome.EXECUTED);
		assertThat(execute(request.oncePerKey())).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(TestPostgres.query("SELECT key FROM ledger_tests_run")).containsExactly(LONGEST_KEY);
	}

	@ParameterizedTest
	@EnumSource(names = "SESSION")
	void lockThatIsOnlyHeldIsNotRecorded(LockScope scope) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.template.tryAcquire(request(scope).oncePerTick(TICK)))
			.withMessageContaining("ledger");
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(rows()).isZero();
	}

	private void assertThatRequestIsRefused(LockRequest request, String reason) {
		assertThatIllegalArgumentException().isThrownBy(() -> execute(request)).withMessageContaining(reason);
		transaction().executeWithoutResult((status) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> execute(request)).withMessageContaining(reason);
			assertThat(TestPostgres.locks()).isEmpty();
		});
		assertThat(effects()).isEmpty();
		assertThat(rows()).isZero();
		assertThat(this.template.getHeldLocks()).isZero();
	}

}
