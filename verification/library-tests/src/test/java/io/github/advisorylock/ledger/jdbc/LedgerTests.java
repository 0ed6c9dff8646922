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

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.support.RequestDetail.Recorded;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for runs that are recorded by {@link PostgresAdvisoryLockTemplate} in
 * {@link PostgresAdvisoryLockLedger}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LedgerTests extends AbstractLedgerTests {

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void tickRunsOnceAndOlderOneNotAtAll(LockScope scope) {
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(execute(scope, TICK.minusSeconds(1))).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(execute(scope, TICK.plusSeconds(1))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(this.ledger.runs("job", 10)).extracting(LedgerRun::tick).containsExactly(TICK.plusSeconds(1), TICK);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void keyThatNoMethodHasIsFoundByItsFullName(LockScope scope) {
		execute(LockRequest.of("event/1").scope(scope).oncePerKey());
		execute(LockRequest.of("1").namespace("other").scope(scope).with(new Recorded("1")));
		assertThat(this.ledger.runs("event/1", 9)).hasSize(1);
		assertThat(this.ledger.runs("tests/event/1", 9)).isEqualTo(this.ledger.runs("event/1", 9));
		this.ledger.pause("tests/event/1", "me");
		assertThat(this.ledger.job("event/1").orElseThrow().isPaused()).isTrue();
		assertThat(this.ledger.job("other/1").orElseThrow().namespace()).isEqualTo("other");
		this.ledger.pause("other/1", "me");
		assertThat(execute(LockRequest.of("1").namespace("other").scope(scope).with(new Recorded("1"))))
			.isEqualTo(LockOutcome.PAUSED);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void failedRunIsRecordedAndDoesNotUseTickUp(LockScope scope) {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.template.execute(request(scope).oncePerTick(TICK), (lock) -> {
				throw new IllegalStateException("first\nsecond");
			}))
			.withMessage("first\nsecond")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(this.ledger.runs("job", 10)).extracting(LedgerRun::outcome)
			.containsExactly(LedgerRun.Outcome.EXECUTED, LedgerRun.Outcome.FAILED);
		assertThat(this.ledger.runs("job", 10).get(1).error()).isEqualTo("java.lang.IllegalStateException: first");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void keyRunsOnceAndIsPausedAndLeavesAnInterval(LockScope scope) {
		LockRequest once = request(scope).oncePerKey();
		assertThat(this.template.execute(once, (lock) -> lock.fencingToken().getAsLong()).executed()).isTrue();
		assertThat(this.template.execute(once, (lock) -> 1).outcome()).isEqualTo(LockOutcome.ALREADY_RAN);
		LockRequest seldom = request(scope).minInterval(Duration.ofMinutes(10));
		assertThat(this.template.execute(seldom, (lock) -> 1).outcome()).isEqualTo(LockOutcome.EXECUTED);
		assertThat(this.template.execute(seldom, (lock) -> 1).outcome()).isEqualTo(LockOutcome.TOO_SOON);
		this.ledger.pause("job", "me");
		assertThat(this.template.execute(request(scope).with(new Recorded("job")), (lock) -> 1).outcome())
			.isEqualTo(LockOutcome.PAUSED);
		this.ledger.resume("job", "me");
		assertThat(this.template.execute(request(scope).with(new Recorded("job")), (lock) -> 1).executed()).isTrue();
	}

	/**
	 * The clock of the server was wrong for a moment, and has been set right.
	 */
	@ParameterizedTest
	@EnumSource(LockScope.class)
	void intervalOfRunThatStartsInTheFutureKeepsNobodyFromRunningAndIsToldOnce(LockScope scope, CapturedOutput output) {
		LockRequest seldom = request(scope).minInterval(Duration.ofMinutes(10));
		execute(seldom);
		TestPostgres.execute("UPDATE ledger_tests_job SET last_started_at = now() + interval '50 seconds'");
		assertThat(execute(seldom)).isEqualTo(LockOutcome.TOO_SOON);
		TestPostgres.execute("UPDATE ledger_tests_job SET last_started_at = now() + interval '1 year'");
		assertThat(execute(seldom)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(execute(seldom)).isEqualTo(LockOutcome.TOO_SOON);
		assertThat(output).containsOnlyOnce("as a time of 'tests/job', which is later than the clock");
	}

}
