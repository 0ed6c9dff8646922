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
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.support.RequestDetail.Recorded;
import io.github.advisorylock.support.RequestDetail.Retries;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what the ledger says of a run that an operator cancels: it is no failure.
 */
@Tag("gate")
class CancelledRunTests extends AbstractLedgerTests {

	private static final JobName JOB = new JobName(NAMESPACE, "job");

	private final CountDownLatch running = new CountDownLatch(1);

	@Override
	LockSessionSettings sessionSettings() {
		return new LockSessionSettings(Duration.ofMillis(200), Duration.ofSeconds(5), WhenLost.INTERRUPT);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void cancelledRunIsNoFailureAndIsNotTriedAgain(LockScope scope) throws Exception {
		LockRequest request = request(scope).oncePerTick(TICK).with(new Retries(true, 5));
		cancel(() -> this.template.execute(request, this::hang));
		assertThat(errors()).singleElement().asString().contains("it was cancelled by alice");
		assertThatRunIsCancelled(0);
		assertThat(execute(request)).isEqualTo(LockOutcome.TOO_SOON);
		this.ledger.retry(JOB, null, "alice");
		assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("CANCELLED", "EXECUTED");
	}

	/**
	 * An instance whose clock is late comes with the tick when its run was cancelled.
	 */
	@ParameterizedTest
	@EnumSource(LockScope.class)
	void tickOfCancelledRunIsNotRunByWhoComesLate(LockScope scope) throws Exception {
		LockRequest request = request(scope).oncePerTick(TICK);
		cancel(() -> this.template.execute(request, this::hang));
		assertThat(Precheck.without(() -> execute(request))).isEqualTo(LockOutcome.TOO_SOON);
		assertThat(execute(request(scope).oncePerTick(TICK.plusSeconds(60)))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(effects()).containsExactly("job");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void failuresInARowAreThoseBefore(LockScope scope) throws Exception {
		LockRequest request = request(scope).minInterval(Duration.ofMillis(1));
		Awaitility.await()
			.until(() -> failure(() -> this.template.execute(request, (lock) -> Integer.parseInt("none"))));
		Awaitility.await().until(() -> TestPostgres.query("SELECT failures FROM ledger_tests_job").contains("1"));
		cancel(() -> this.template.execute(request, this::hang));
		assertThatRunIsCancelled(1);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void runThatReturnsInSpiteOfItsInterruptIsCancelledAndUndone(LockScope scope) throws Exception {
		LockRequest request = request(scope).oncePerTick(TICK);
		cancel(() -> this.template.execute(request, (lock) -> {
			insertEffect("undone in scope TRANSACTION");
			return failure(() -> hang(lock));
		}));
		assertThatRunIsCancelled(0);
		assertThat(effects()).hasSize((scope == LockScope.SESSION) ? 1 : 0);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void runInCallersTransactionIsCancelled(LockScope scope) throws Exception {
		LockRequest request = request(scope).oncePerTick(TICK).with(new Retries(false, 0));
		cancel(() -> transaction().execute((status) -> {
			insertEffect("of the caller");
			return failure(() -> this.template.execute(request, this::hang)) ? rollback(status::setRollbackOnly)
					: "ran";
		}));
		assertThatRunIsCancelled(0);
		assertThat(effects()).isEmpty();
	}

	@Test
	void cancelledKeyRunsWhenItComesAgain() throws Exception {
		LockRequest request = LockRequest.of("job").with(new Recorded("job:#{#id}")).oncePerKey();
		cancel(() -> this.template.execute(request, this::hang));
		assertThat(outcomes()).containsExactly("CANCELLED");
		assertThat(this.ledger.repository().failures(new JobName(NAMESPACE, "job:#{#id}"), 10).latest()).isEmpty();
		assertThat(this.ledger.repository().state(JOB).orElseThrow().problems()).isEmpty();
		assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(execute(request)).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	/**
	 * What was committed before an operator came is done.
	 */
	@Test
	void runThatWasOverBeforeItWasCancelledIsExecuted() {
		LockRequest request = request(LockScope.TRANSACTION).oncePerTick(TICK);
		transaction().executeWithoutResult((status) -> {
			execute(request);
			sendCancellation();
			TestPostgres.execute("SELECT pg_sleep(0.5)");
		});
		assertThat(outcomes()).containsExactly("EXECUTED");
		assertThat(effects()).containsExactly("job");
	}

	private void assertThatRunIsCancelled(int failures) {
		assertThat(outcomes()).endsWith("CANCELLED");
		assertThat(TestPostgres.query("SELECT concat_ws(' ', last_outcome, failures) FROM ledger_tests_job"))
			.containsExactly("CANCELLED " + failures);
		assertThat(TestPostgres.query("SELECT state || coalesce(problem, '') FROM ledger_tests_job_state"))
			.containsExactly("idle");
	}

	private void cancel(Callable<Object> call) throws InterruptedException {
		Future<Object> run = this.threads.submit(call);
		assertThat(this.running.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		Awaitility.await().until(() -> {
			sendCancellation();
			return run.isDone();
		});
	}

	private static void sendCancellation() {
		TestPostgres.execute("SELECT pg_notify('advisory_lock_cancel', '" + PostgresAdvisoryLockTemplate.lockEntry(KEY)
				+ " ' || (extract(epoch FROM clock_timestamp()) * 1000)::bigint || ' alice')");
	}

	private boolean hang(LockContext lock) throws InterruptedException {
		this.running.countDown();
		return new CountDownLatch(1).await(Patience.SECONDS, TimeUnit.SECONDS);
	}

	private static String rollback(Runnable end) {
		end.run();
		return "rolled back";
	}

	private static boolean failure(Callable<?> call) {
		try {
			call.call();
			return false;
		}
		catch (Exception ex) {
			return true;
		}
	}

}
