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
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.RequestDetail.Recorded;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for pauses of {@link OperatorRepository}, beside runs that are under way.
 */
class LedgerPauseTests extends AbstractLedgerTests {

	@Test
	void pauseOfAllHoldsForJobsThatComeLaterToo() {
		execute(LockScope.TRANSACTION, TICK);
		assertThat(this.ledger.pauseAll(NAMESPACE, "alice", "no paper")).isEqualTo(1);
		assertThat(execute(LockScope.TRANSACTION, TICK.plusSeconds(1))).isEqualTo(LockOutcome.PAUSED);
		assertThat(execute(LockScope.SESSION, TICK.plusSeconds(1))).isEqualTo(LockOutcome.PAUSED);
		assertThat(execute(later("later"))).isEqualTo(LockOutcome.PAUSED);
		assertThat(this.ledger.job("job").orElseThrow()).satisfies((job) -> {
			assertThat(job.isPaused()).isTrue();
			assertThat(job.pausedWithAll()).isTrue();
			assertThat(job.pausedBy()).isEqualTo("alice");
			assertThat(job.pausedReason()).isEqualTo("no paper");
		});
		assertThat(this.ledger.resumeAll(NAMESPACE, "bob")).isEqualTo(1);
		assertThat(execute(LockScope.TRANSACTION, TICK.plusSeconds(1))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(execute(later("later"))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(this.ledger.job("job").orElseThrow().resumedAt()).isNotNull();
		assertThatIllegalArgumentException().isThrownBy(() -> this.ledger.resumeAll(NAMESPACE, "bob"))
			.withMessageContaining("they were not all paused together");
	}

	@Test
	void operatorsWaitForNoRun() throws Exception {
		execute(LockScope.TRANSACTION, TICK);
		transaction().executeWithoutResult((status) -> {
			execute(LockScope.TRANSACTION, TICK.plusSeconds(1));
			assertThat(this.threads.submit(() -> {
				this.ledger.pause("job", "alice");
				this.ledger.resume("job", "alice");
				this.ledger.pauseAll(NAMESPACE, "alice", null);
				this.ledger.resumeAll(NAMESPACE, "alice");
				this.ledger.pause("job", "alice");
				return this.ledger.pauseAll(NAMESPACE, "alice", null);
			})).succeedsWithin(LONG).isEqualTo(1);
		});
		assertThat(outcomes()).containsExactly("EXECUTED", "EXECUTED");
		assertThat(execute(LockScope.TRANSACTION, TICK.plusSeconds(2))).isEqualTo(LockOutcome.PAUSED);
		this.ledger.resumeAll(NAMESPACE, "alice");
		assertThat(execute(LockScope.TRANSACTION, TICK.plusSeconds(2))).isEqualTo(LockOutcome.PAUSED);
		this.ledger.resume("job", "alice");
		assertThat(execute(LockScope.TRANSACTION, TICK.plusSeconds(2))).isEqualTo(LockOutcome.EXECUTED);
	}

	/**
	 * Its clock may have gone back since: when something happened says nothing of what
	 * came later.
	 */
	@Test
	void pauseOfAllHoldsWhateverTheClockSaid() {
		execute(LockScope.TRANSACTION, TICK);
		this.ledger.pause("job", "alice");
		this.ledger.resume("job", "alice");
		TestPostgres.execute("UPDATE ledger_tests_job SET resumed_at = now() + interval '1 hour'");
		this.ledger.pauseAll(NAMESPACE, "alice", null);
		assertThat(execute(LockScope.TRANSACTION, TICK.plusSeconds(1))).isEqualTo(LockOutcome.PAUSED);
		this.ledger.resume("job", "alice");
		TestPostgres.execute("UPDATE ledger_tests_job SET resumed_at = now() - interval '1 hour'");
		assertThat(execute(LockScope.TRANSACTION, TICK.plusSeconds(1))).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void jobThatWasPausedItselfStaysSoAndOneThatWasResumedRuns() {
		execute(later("own"));
		execute(later("exempt"));
		this.ledger.pause("own", "ann");
		this.ledger.pauseAll(NAMESPACE, "alice", null);
		this.ledger.resume("exempt", "ann");
		assertThat(this.ledger.job("exempt").orElseThrow().isPaused()).isFalse();
		assertThat(execute(later("exempt"))).isEqualTo(LockOutcome.EXECUTED);
		this.ledger.pauseAll(NAMESPACE, "bob", null);
		assertThat(execute(later("exempt"))).isEqualTo(LockOutcome.PAUSED);
		assertThat(this.ledger.resumeAll(NAMESPACE, "bob")).isEqualTo(1);
		assertThat(this.ledger.job("own").orElseThrow().pausedBy()).isEqualTo("ann");
		assertThat(execute(later("own"))).isEqualTo(LockOutcome.PAUSED);
		assertThat(execute(later("exempt"))).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void keysOfArgumentsAndOtherNamespacesGoOnWhenAllJobsArePaused() {
		this.ledger.pauseAll(NAMESPACE, "alice", null);
		assertThat(execute(LockRequest.of("payment:1").with(new Recorded("payment:#{#id}")).oncePerKey()))
			.isEqualTo(LockOutcome.EXECUTED);
		assertThat(execute(LockRequest.of("payment:2").oncePerKey())).isEqualTo(LockOutcome.EXECUTED);
		assertThat(execute(later("job").namespace("billing"))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(execute(LockRequest.of("once").with(new Recorded("once")).oncePerKey()))
			.isEqualTo(LockOutcome.PAUSED);
	}

	private static LockRequest later(String key) {
		return LockRequest.of(key).minInterval(Duration.ofNanos(1000));
	}

	@ParameterizedTest
	@ValueSource(strings = { "ISOLATION_REPEATABLE_READ", "ISOLATION_SERIALIZABLE" })
	void pauseDoesNotFailRunThatReadsFromSnapshot(String isolation) throws Exception {
		execute(LockScope.TRANSACTION, TICK);
		TransactionTemplate strict = transaction();
		strict.setIsolationLevelName(isolation);
		CountDownLatch running = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		LockRequest request = request(LockScope.TRANSACTION).oncePerTick(TICK.plusSeconds(1));
		Future<?> run = this.threads
			.submit(() -> strict.executeWithoutResult((status) -> this.template.execute(request, (lock) -> {
				insertEffect("strict");
				running.countDown();
				Awaitility.await().until(() -> end.getCount() == 0);
				return true;
			})));
		assertThat(running.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
		try {
			this.ledger.pause("job", "alice");
			this.ledger.resume("job", "alice");
		}
		finally {
			end.countDown();
		}
		run.get(LONG.toSeconds(), TimeUnit.SECONDS);
		assertThat(effects()).containsExactly("job", "strict");
		assertThat(outcomes()).containsExactly("EXECUTED", "EXECUTED");
	}

	@Test
	void resumeTellsWhenItWas() {
		Instant before = TestPostgres.query("SELECT clock_timestamp() AT TIME ZONE 'UTC'")
			.stream()
			.map((time) -> Instant.parse(time.replace(' ', 'T') + "Z"))
			.findFirst()
			.orElseThrow();
		execute(LockScope.TRANSACTION, TICK);
		this.ledger.resume("job", "alice");
		assertThat(this.ledger.job("job").orElseThrow().resumedAt()).isNull();
		this.ledger.pause("job", "alice");
		this.ledger.resume("job", "alice");
		assertThat(this.ledger.job("job").orElseThrow().resumedAt()).isAfter(before);
	}

}
