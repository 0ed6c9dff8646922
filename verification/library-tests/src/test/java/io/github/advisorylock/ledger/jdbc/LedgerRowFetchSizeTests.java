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

import java.util.List;

import io.github.advisorylock.LockRequest;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for recorded runs in scope TRANSACTION whose JDBC URL has the driver fetch the
 * rows of every query in portions, which keeps the snapshot of such a query.
 */
class LedgerRowFetchSizeTests extends AbstractLedgerTests {

	@BeforeEach
	void fetchInPortions() {
		usePool(TestPostgres.pool(TestPostgres.url() + "&defaultRowFetchSize=10", 4));
	}

	@Test
	void recordedHolderPinsNoSnapshot() {
		this.template.execute(LockRequest.of("job").oncePerTick(TICK), (lock) -> {
			assertThatHolderPinsNoSnapshot();
			return 1;
		}).orElseThrow();
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	@Test
	void recordedHolderThatDecidesUnderTheLockPinsNoSnapshot() {
		Precheck.without(() -> this.template.execute(LockRequest.of("job").oncePerTick(TICK), (lock) -> {
			assertThatHolderPinsNoSnapshot();
			return 1;
		}).orElseThrow());
	}

	@Test
	void recordedHolderInCallersTransactionPinsNoSnapshot() {
		transaction()
			.executeWithoutResult((status) -> this.template.execute(LockRequest.of("job").oncePerTick(TICK), (lock) -> {
				assertThatHolderPinsNoSnapshot();
				return 1;
			}).orElseThrow());
	}

	@Test
	void holderWithFencingTokenPinsNoSnapshot() {
		this.template.execute(LockRequest.of("job").oncePerTick(TICK), (lock) -> {
			assertThat(lock.fencingToken()).isPresent();
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
