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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link LockResult}.
 */
class LockResultTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("shop", "job");

	@Test
	void executedHasValue() {
		LockResult<String> result = LockResult.executed("done");
		assertThat(result.executed()).isTrue();
		assertThat(result.outcome()).isEqualTo(LockOutcome.EXECUTED);
		assertThat(result.value()).isEqualTo("done");
		assertThat(result.orElseThrow()).isEqualTo("done");
		assertThat(result).hasToString("EXECUTED[done]");
	}

	@Test
	void executedWithNullReturnsNullAndDoesNotThrow() {
		LockResult<String> result = LockResult.executed(null);
		assertThat(result.executed()).isTrue();
		assertThat(result.value()).isNull();
		assertThat(result.orElseThrow()).isNull();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "EXECUTED")
	void skippedHasOutcomeAndNoValue(LockOutcome outcome) {
		LockResult<String> result = LockResult.skipped(outcome, KEY);
		assertThat(result.executed()).isFalse();
		assertThat(result.outcome()).isEqualTo(outcome);
		assertThat(result.value()).isNull();
		assertThat(result).hasToString(outcome + "[shop/job]");
	}

	@Test
	void orElseThrowWhenBusyThrowsWithTheKey() {
		assertThatExceptionOfType(LockBusyException.class)
			.isThrownBy(() -> LockResult.skipped(LockOutcome.BUSY, KEY).orElseThrow())
			.withMessage("Failed to acquire advisory lock 'shop/job': another holder has it")
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(KEY));
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = { "EXECUTED", "BUSY" })
	void orElseThrowForOtherReasonsNamesTheOutcome(LockOutcome outcome) {
		assertThatIllegalStateException().isThrownBy(() -> LockResult.skipped(outcome, KEY).orElseThrow())
			.withMessageContaining("'shop/job'")
			.withMessageEndingWith(outcome.name());
	}

	@Test
	void skippedRefusesExecutedAndNull() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockResult.skipped(LockOutcome.EXECUTED, KEY))
			.withMessageStartingWith("'outcome'");
		assertThatIllegalArgumentException().isThrownBy(() -> LockResult.skipped(null, KEY))
			.withMessageStartingWith("'outcome'");
		assertThatIllegalArgumentException().isThrownBy(() -> LockResult.skipped(LockOutcome.BUSY, null))
			.withMessageStartingWith("'key'");
	}

}
