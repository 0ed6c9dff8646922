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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.support.RequestDetail.Retries;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link RecordedRun}: what becomes of a tick that any instance makes up for
 * when its run does not come to a good end.
 */
class BadEndTests extends AbstractLedgerTests {

	private static final JobName JOB = new JobName(NAMESPACE, "job");

	@Override
	LockSessionSettings sessionSettings() {
		return new LockSessionSettings(Duration.ofMillis(200), Duration.ofSeconds(5), WhenLost.INTERRUPT);
	}

	@ParameterizedTest
	@CsvSource({ "SESSION, 0", "SESSION, 2", "TRANSACTION, 0", "TRANSACTION, 2" })
	void tickThatFailedIsTriedAgainSoOftenAndThenForAnOperatorOnly(LockScope scope, int maxRetries) {
		LockRequest request = caughtUp(scope, maxRetries);
		for (int attempt = 1; attempt <= maxRetries + 1; attempt++) {
			fail(request, attempt);
			assertThat(execute(request)).isEqualTo(LockOutcome.TOO_SOON);
			endWait();
		}
		assertThat(execute(request)).isEqualTo(LockOutcome.TOO_SOON);
		assertThat(Precheck.without(() -> execute(request))).isEqualTo(LockOutcome.TOO_SOON);
		int failed = maxRetries + 1;
		assertThat(openTick()).containsExactly(failed + " " + failed + " t");
		assertThat(this.ledger.repository().job(JOB).orElseThrow().givenUp()).isTrue();
		this.ledger.retry(JOB, null, "alice");
		assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(openTick()).containsExactly("0 0 f");
		assertThat(outcomes()).hasSize(failed + 1).endsWith("FAILED", "EXECUTED");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void retryOfAnOperatorThatFailsIsTheOnlyOne(LockScope scope) {
		LockRequest request = caughtUp(scope, 0);
		fail(request, 1);
		this.ledger.retry(JOB, null, "alice");
		fail(request, 2);
		endWait();
		assertThat(execute(request)).isEqualTo(LockOutcome.TOO_SOON);
		assertThat(openTick()).containsExactly("2 2 t");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void nextTickAndCallByHandRunThoughATickIsGivenUp(LockScope scope) {
		fail(caughtUp(scope, 0), 1);
		assertThat(execute(caughtUp(scope, 0).oncePerTick(TICK.plusSeconds(60)))).isEqualTo(LockOutcome.EXECUTED);
		fail(caughtUp(scope, 0).oncePerTick(TICK.plusSeconds(120)), 1);
		assertThat(execute(request(scope).oncePerTick(TICK.plusSeconds(120)).with(new Retries(false, 0))))
			.isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void joinedRunThatFailedTooOftenIsGivenUp(LockScope scope) {
		LockRequest request = caughtUp(scope, 0);
		transaction().executeWithoutResult((status) -> {
			fail(request, 1);
			status.setRollbackOnly();
		});
		assertThat(openTick()).containsExactly("1 1 t");
		assertThat(execute(request)).isEqualTo(LockOutcome.TOO_SOON);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void runThatIsEndedByItsLimitIsNotTriedAgain(LockScope scope) {
		LockRequest request = caughtUp(scope, 5);
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.template.execute(request.maxRun(SHORT), (lock) -> hang(new CountDownLatch(1))));
		assertThat(errors()).singleElement().asString().contains("maxRun");
		assertThat(TestPostgres.query("SELECT cancelled_at FROM ledger_tests_job")).containsExactly((String) null);
		assertThat(openTick()).containsExactly("1 0 t");
		assertThat(outcomes()).containsExactly("FAILED");
		assertThat(execute(request)).isEqualTo(LockOutcome.TOO_SOON);
		this.ledger.retry(JOB, null, "alice");
		assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void runWhoseSessionIsCutUsesNoRetryUp() {
		LockRequest request = caughtUp(LockScope.SESSION, 0);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(request, (lock) -> TestPostgres.terminate("tests")));
		assertThatTickIsTriedAgainAfterAWait(request);
	}

	@Test
	void runWhoseTransactionIsCutUsesNoRetryUp() {
		LockRequest request = caughtUp(LockScope.TRANSACTION, 0);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.template.execute(request, (lock) -> {
			int backend = this.jdbc.queryForObject("SELECT pg_backend_pid()", Integer.class);
			TestPostgres.execute("SELECT pg_terminate_backend(" + backend + ", 5000)");
			return insertEffect("cut");
		})).satisfies((failure) -> assertThat(SqlState.of(failure)).isIn("57P01", "08006"));
		assertThatTickIsTriedAgainAfterAWait(request);
	}

	/**
	 * A query that is too much for the server would end each attempt like this.
	 */
	private void assertThatTickIsTriedAgainAfterAWait(LockRequest request) {
		assertThat(openTick()).containsExactly("1 0 f");
		assertThat(execute(request)).isEqualTo(LockOutcome.TOO_SOON);
		endWait();
		assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(effects()).containsExactly("job");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void runThatEndsWithItsApplicationIsMadeUpForAtOnce(LockScope scope) {
		LockRequest request = caughtUp(scope, 0);
		this.ledger.shutDown(true);
		fail(request, 1);
		this.ledger.shutDown(false);
		assertThat(openTick()).containsExactly("1 0 f");
		assertThat(outcomes()).containsExactly("ABANDONED");
		assertThat(errors()).containsExactly("java.lang.IllegalStateException: attempt 1");
		fail(request, 2);
		assertThat(openTick()).containsExactly("2 1 t");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void withoutCatchingUpEveryBadEndIsAFailureAndIsFollowedByAnyCall(LockScope scope) {
		LockRequest request = request(scope).oncePerTick(TICK);
		fail(request, 1);
		this.ledger.shutDown(true);
		fail(request, 2);
		this.ledger.shutDown(false);
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.template.execute(request.maxRun(SHORT), (lock) -> hang(new CountDownLatch(1))));
		assertThat(this.ledger.repository().job(JOB).orElseThrow().givenUp()).isFalse();
		assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("FAILED", "FAILED", "FAILED", "EXECUTED");
	}

	@Test
	void numberOfRetriesIsNotNegative() {
		assertThatIllegalArgumentException().isThrownBy(() -> new Retries(false, -1))
			.withMessage("'most' must not be negative");
		LockRequest request = request(LockScope.SESSION);
		assertThat(Retries.of(request).most()).isNull();
		assertThat(Retries.of(request.with(new Retries(false, 3)).with(new Retries(true, 4))).most()).isEqualTo(4);
	}

	private LockRequest caughtUp(LockScope scope, int maxRetries) {
		return request(scope).oncePerTick(TICK).with(new Retries(true, maxRetries));
	}

	private void fail(LockRequest request, int attempt) {
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(request, (lock) -> {
			throw new IllegalStateException("attempt " + lock.attempt());
		})).withMessage("attempt " + attempt);
	}

	private static boolean hang(CountDownLatch running) throws InterruptedException {
		running.countDown();
		return new CountDownLatch(1).await(Patience.SECONDS, TimeUnit.SECONDS);
	}

	private static void endWait() {
		TestPostgres.execute("UPDATE ledger_tests_job SET retry_at = now() WHERE retry_at IS NOT NULL");
	}

	/**
	 * Return how often the open tick was tried, how often that has failed, and whether it
	 * is given up.
	 */
	private static List<String> openTick() {
		return TestPostgres.query("SELECT concat_ws(' ', attempts, failed_attempts, given_up) FROM ledger_tests_job");
	}

}
