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

package io.github.advisorylock.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for waits for a lock that another instance holds.
 */
class LockWaitTests extends AbstractLockTests {

	private static final Duration HOUR = Duration.ofHours(1);

	@ParameterizedTest
	@EnumSource
	void interruptEndsTheWaitAndItsFlagStays(LockScope scope) throws Exception {
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			CountDownLatch waiting = new CountDownLatch(1);
			Future<List<Object>> waiter = this.threads.submit(() -> {
				waiting.countDown();
				LockOutcome outcome = this.template.execute(request(scope).waitFor(HOUR), (lock) -> 1).outcome();
				return List.of(outcome, Thread.interrupted());
			});
			waiting.await();
			assertThat(new CountDownLatch(1).await(200, TimeUnit.MILLISECONDS)).isFalse();
			this.threads.shutdownNow();
			assertThat(waiter.get(Patience.SECONDS, TimeUnit.SECONDS)).containsExactly(LockOutcome.BUSY, true);
		}
	}

	@ParameterizedTest
	@EnumSource
	void interruptFromBeforeTheWaitEndsItAtOnce(LockScope scope) throws Exception {
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			Future<List<Object>> waiter = this.threads.submit(() -> transaction().execute((status) -> {
				Thread.currentThread().interrupt();
				LockOutcome outcome = this.template.execute(request(scope).waitFor(HOUR), (lock) -> 1).outcome();
				return List.of(outcome, Thread.interrupted());
			}));
			assertThat(waiter.get(Patience.SECONDS, TimeUnit.SECONDS)).containsExactly(LockOutcome.BUSY, true);
		}
	}

	@Test
	void waitOutlastsTheSocketTimeoutOfTheDriver() throws Exception {
		usePool(TestPostgres.pool(TestPostgres.url() + "&socketTimeout=1", 1));
		ForeignSession foreign = ForeignSession.holding(KEY);
		Future<Integer> waiter = this.threads
			.submit(() -> this.template.execute(LockRequest.of("job").waitFor(HOUR), (lock) -> 1).value());
		TestPostgres.query("SELECT pg_sleep(2)");
		assertThat(waiter).isNotDone();
		foreign.close();
		assertThat(waiter.get(Patience.SECONDS, TimeUnit.SECONDS)).isOne();
	}

	@Test
	void waiterHoldsNoSnapshot() throws Exception {
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			Future<Integer> waiter = this.threads
				.submit(() -> this.template.execute(LockRequest.of("job").waitFor(HOUR), (lock) -> 1).value());
			Awaitility.await()
				.until(() -> TestPostgres
					.query("SELECT coalesce(backend_xmin::text, 'none') FROM pg_stat_activity "
							+ "WHERE state = 'idle in transaction' AND query LIKE '%advisory_lock.snapshot%'")
					.equals(List.of("none")));
			TestPostgres.execute("CREATE TABLE waited (id int)");
			// one that meets an attempt at its very statement waits for the whole
			// transaction
			Awaitility.await()
				.ignoreExceptionsMatching((ex) -> String.valueOf(ex.getMessage()).contains("lock timeout"))
				.untilAsserted(() -> TestPostgres.execute(TestPostgres.url() + "&options=-c%20lock_timeout=2s",
						"CREATE INDEX CONCURRENTLY ON waited (id)"));
			TestPostgres.execute("DROP TABLE waited");
			assertThat(waiter).isNotDone();
			this.threads.shutdownNow();
		}
	}

}
