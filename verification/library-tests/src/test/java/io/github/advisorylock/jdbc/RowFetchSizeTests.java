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
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.LockRequest;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for holders of scope TRANSACTION whose JDBC URL has the driver fetch the rows of
 * every query in portions. The driver gives the portal of such a query a name then, and
 * the server keeps its snapshot until the end of the transaction.
 */
@ParameterizedClass
@ValueSource(strings = { "&defaultRowFetchSize=10", "&defaultRowFetchSize=10&adaptiveFetch=true&maxResultBuffer=10M" })
class RowFetchSizeTests extends AbstractLockTests {

	private static final LockRequest REQUEST = LockRequest.of("job");

	private final String parameters;

	RowFetchSizeTests(String parameters) {
		this.parameters = parameters;
	}

	@BeforeEach
	void fetchInPortions() {
		usePool(TestPostgres.pool(TestPostgres.url() + this.parameters, 2));
	}

	/**
	 * Let go of the tick that the session remembers.
	 */
	@AfterEach
	void closeSessions() {
		this.sessions.forEach(LockSession::close);
	}

	@Test
	void idleHolderPinsNoSnapshot() {
		TestPostgres.execute("CREATE TABLE fetched (id int)");
		try {
			this.template.execute(REQUEST, (lock) -> {
				assertThatHolderPinsNoSnapshot();
				TestPostgres.execute("CREATE INDEX CONCURRENTLY ON fetched (id)");
				return 1;
			}).orElseThrow();
		}
		finally {
			TestPostgres.execute("DROP TABLE fetched");
		}
	}

	@Test
	void holderThatHasWaitedPinsNoSnapshot() throws Exception {
		Future<Integer> waiter;
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			waiter = this.threads
				.submit(() -> this.template.execute(REQUEST.waitFor(Duration.ofSeconds(Patience.SECONDS)), (lock) -> {
					assertThatHolderPinsNoSnapshot();
					return 1;
				}).orElseThrow());
			Awaitility.await()
				.until(() -> TestPostgres
					.query("SELECT coalesce(backend_xmin::text, 'none') FROM pg_stat_activity "
							+ "WHERE state = 'idle in transaction' AND query LIKE '%advisory_lock.snapshot%'")
					.equals(List.of("none")));
		}
		assertThat(waiter.get(Patience.SECONDS, TimeUnit.SECONDS)).isOne();
	}

	@Test
	void holderInCallersTransactionPinsNoSnapshot() {
		transaction().executeWithoutResult((status) -> {
			this.template.execute(REQUEST, (lock) -> 1).orElseThrow();
			assertThatHolderPinsNoSnapshot();
		});
	}

	@Test
	void holderThatHasAskedWhetherItHoldsTheLockPinsNoSnapshot() {
		this.template.execute(REQUEST, (lock) -> {
			lock.checkHeld();
			assertThatHolderPinsNoSnapshot();
			return 1;
		}).orElseThrow();
	}

	@Test
	void holderForTickPinsNoSnapshot() {
		LockRequest request = REQUEST.rememberTick(Instant.parse("2026-11-22T02:00:00Z"), Duration.ofMinutes(1));
		this.template.execute(request, (lock) -> {
			assertThatHolderPinsNoSnapshot();
			return 1;
		}).orElseThrow();
	}

	private static void assertThatHolderPinsNoSnapshot() {
		List<String> holders = ForeignSession.holders(KEY);
		assertThat(holders).hasSize(1);
		assertThat(TestPostgres.query("SELECT backend_xmin FROM pg_stat_activity WHERE pid = " + holders.get(0)))
			.containsOnlyNulls();
	}

}
