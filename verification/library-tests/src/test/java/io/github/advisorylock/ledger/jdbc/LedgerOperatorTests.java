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

import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.testsupport.TestPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for what operators do by {@link AdvisoryLockLedger}: look at jobs by pages, undo
 * a tick of the future, forget a job that is no more, and run all methods of a key.
 */
class LedgerOperatorTests extends AbstractLedgerTests {

	private final List<JobFinder.LedgerMethod> methods = new ArrayList<>();

	private final List<String> calls = new ArrayList<>();

	@Override
	List<JobFinder.LedgerMethod> ledgerMethods() {
		return this.methods;
	}

	@BeforeEach
	void forgetMethods() {
		this.methods.clear();
	}

	@Test
	void jobsAreReadByPagesOfOneNamespace() {
		TestPostgres.execute("INSERT INTO ledger_tests_job (namespace, key) "
				+ "SELECT 'tests', to_char(n, 'FM0000') FROM generate_series(1, 1500) n");
		TestPostgres.execute("INSERT INTO ledger_tests_job (namespace, key) VALUES ('other', 'stranger')");
		List<LedgerJob> first = this.ledger.jobs(NAMESPACE, "", 1000);
		assertThat(first).hasSize(1000);
		assertThat(this.ledger.jobs(NAMESPACE, first.get(999).key(), 1000)).extracting(LedgerJob::key)
			.containsExactlyElementsOf(IntStream.rangeClosed(1001, 1500).mapToObj(String::valueOf).toList());
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 0, 1001 })
	void moreJobsThanThereIsRoomForAreRefused(int limit) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.ledger.jobs(NAMESPACE, "", limit))
			.withMessage("'limit' must be from 1 to 1000");
	}

	@Test
	void pauseHasAReasonUntilItIsResumed() {
		execute(LockScope.TRANSACTION, TICK);
		JobName name = new JobName(NAMESPACE, "job");
		this.ledger.pause(name, "ann", "the printer burns");
		this.ledger.pause(name, "ben", "another reason");
		assertThat(this.ledger.job("job").orElseThrow().pausedReason()).isEqualTo("the printer burns");
		this.ledger.resume("job", "ann");
		assertThat(this.ledger.job("job").orElseThrow().pausedReason()).isNull();
		this.ledger.pause("job", "ann");
		this.ledger.pause(name, "ben", "too late");
		assertThat(this.ledger.job("job").orElseThrow().pausedReason()).isNull();
		assertThatIllegalArgumentException().isThrownBy(() -> this.ledger.pause(name, "ann", "x".repeat(1001)))
			.withMessageContaining("'reason'");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void failedRunHasItsStackTraceAndAnExecutedOneHasNone(LockScope scope) {
		execute(scope, TICK);
		assertThatIllegalStateException().isThrownBy(() -> executeAndFail(scope, TICK.plusSeconds(60)))
			.withMessage("expected");
		JobName name = new JobName(NAMESPACE, "job");
		List<LedgerRun> runs = this.ledger.repository().runs(name.namespace(), name.key(), 10);
		assertThat(runs.get(0).stackTrace()).startsWith("java.lang.IllegalStateException: expected\n\tat ")
			.contains("executeAndFail")
			.hasSizeLessThanOrEqualTo(8000);
		assertThat(runs.get(1).stackTrace()).isNull();
	}

	@Test
	void lastRunThatIsOverIsToldWithItsStackTraceAndOthersAreNot() {
		assertThatIllegalStateException().isThrownBy(() -> executeAndFail(LockScope.SESSION, TICK))
			.withMessage("expected");
		assertThatIllegalStateException().isThrownBy(() -> executeAndFail(LockScope.SESSION, TICK))
			.withMessage("expected");
		this.template.execute(request(LockScope.SESSION).oncePerTick(TICK), (lock) -> {
			assertThat(this.ledger.runs("job", 10)).extracting((run) -> run.stackTrace() != null)
				.containsExactly(false, true, false);
			return true;
		}).orElseThrow();
		assertThat(this.ledger.runs("job", 10)).extracting(LedgerRun::stackTrace).containsOnlyNulls();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void jobThatIsForgottenLeavesNothingButWhatItHasCompleted(LockScope scope) {
		execute(scope, TICK);
		this.template.execute(request(scope).oncePerKey(), (lock) -> 1);
		this.ledger.forget("job", "ann");
		assertThat(this.ledger.job("job")).isEmpty();
		assertThat(this.ledger.runs("job", 10)).isEmpty();
		assertThat(execute(request(scope).oncePerKey())).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	@Test
	void scheduledTickThatCameDuringARunOfABackfillIsRunBeforeTheNext() {
		Instant from = Instant.parse("2026-03-01T00:00:00Z");
		Instant begin = Instant.now();
		List<Instant> ticks = new ArrayList<>();
		List<Instant> called = new ArrayList<>();
		this.methods
			.add(new JobFinder.LedgerMethod(new JobName(NAMESPACE, "job"), null, null, new EachSecond(ticks, called)));
		assertThat(this.ledger.backfill("job", from, from.plusSeconds(2), false, "ann"))
			.isEqualTo(LockOutcome.EXECUTED);
		assertThat(ticks).startsWith(from).contains(from.plusSeconds(1)).hasSizeGreaterThanOrEqualTo(3);
		assertThat(called).hasSize(ticks.size() - 2).allSatisfy((tick) -> assertThat(tick).isAfter(begin));
		assertThat(ticks.get(1)).isEqualTo(called.get(0));
		assertThat(TestPostgres.query("SELECT concat_ws(' ', done, ticks, outcome) FROM ledger_tests_backfill"))
			.containsExactly("2 2 EXECUTED");
	}

	@Test
	void jobIsNotForgottenWhileItRunsOrIsThatOfAMethod() {
		this.template.execute(request(LockScope.SESSION).oncePerTick(TICK), (lock) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> this.ledger.forget("job", "ann"))
				.withMessageContaining("not over");
			return 1;
		}).orElseThrow();
		this.methods.add(new JobFinder.LedgerMethod(new JobName(NAMESPACE, "job"), null, null, null));
		assertThatIllegalArgumentException().isThrownBy(() -> this.ledger.forget("job", "ann"))
			.withMessageContaining("this instance has a method");
		assertThatIllegalArgumentException().isThrownBy(() -> this.ledger.forget("unknown", "ann"))
			.withMessageContaining("no job of that key");
		assertThat(this.ledger.runs("job", 10)).hasSize(1);
	}

	@Test
	void allMethodsOfAKeyAreRunAndTheFirstThatDidNotRunIsTold() {
		method("one", LockOutcome.EXECUTED);
		assertThat(this.ledger.runNow("job", "ann")).isEqualTo(LockOutcome.EXECUTED);
		method("two", LockOutcome.BUSY);
		this.methods.add(new JobFinder.LedgerMethod(new JobName(NAMESPACE, "job"), null, null, null));
		method("three", LockOutcome.PAUSED);
		this.calls.clear();
		assertThat(this.ledger.runNow("job", "ann")).isEqualTo(LockOutcome.BUSY);
		assertThat(this.calls).containsExactly("one", "two", "three");
	}

	@Test
	void methodThatFailsKeepsNoOtherFromRunning() {
		method("one", null);
		method("two", LockOutcome.EXECUTED);
		method("three", null);
		assertThatIllegalStateException().isThrownBy(() -> this.ledger.runNow("job", "ann"))
			.withMessage("one")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement()
				.satisfies((later) -> assertThat(later).hasMessage("three")));
		assertThat(this.calls).containsExactly("one", "two", "three");
	}

	private void method(String name, LockOutcome outcome) {
		this.methods.add(new JobFinder.LedgerMethod(new JobName(NAMESPACE, "job"), () -> {
			this.calls.add(name);
			if (outcome == null) {
				throw new IllegalStateException(name);
			}
			return outcome;
		}, null, null));
	}

	/**
	 * Runs for longer than it is from one tick to the next.
	 */
	private record EachSecond(List<Instant> runs, List<Instant> called) implements Backfill.Work {

		@Override
		public AdvisoryLockKey key() {
			return AdvisoryLockKey.of(NAMESPACE, "job");
		}

		@Override
		public CronTicks ticks(Instant time) {
			return new CronTicks("* * * * * *", ZoneOffset.UTC);
		}

		@Override
		public @Nullable Instant nextAfter(Instant time) {
			return ticks(time).nextAfter(time);
		}

		@Override
		public LockOutcome run(Instant tick, boolean again) {
			Instant next = Instant.now().plusSeconds(1);
			this.runs.add(tick);
			if (this.runs.size() == 1) {
				await().until(() -> Instant.now().isAfter(next));
			}
			return LockOutcome.EXECUTED;
		}

		@Override
		public void call(Instant tick) {
			this.runs.add(tick);
			this.called.add(tick);
		}

	}

}
