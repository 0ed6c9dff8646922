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

package io.github.advisorylock.test;

import java.time.Duration;
import java.util.UUID;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.test.shop.Greeter;
import io.github.advisorylock.test.shop.OrderCleanup;
import io.github.advisorylock.test.shop.OrderRepository;
import io.github.advisorylock.test.shop.ShopApplication;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLockTest#postgres()}.
 */
@AdvisoryLockTest(postgres = true,
		properties = { "advisory-lock.namespace=slice", "advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=slice_" })
@ContextConfiguration(classes = ShopApplication.class)
@Import(OrderRepository.class)
@Tag("gate")
class PostgresSliceTests {

	@Autowired
	private OrderCleanup cleanup;

	@Autowired
	private AdvisoryLockOperations operations;

	@Autowired
	private TestLocks locks;

	@DynamicPropertySource
	static void database(DynamicPropertyRegistry registry) {
		registry.add("spring.datasource.url", TestPostgres::url);
	}

	@Test
	void sliceHasGuardedComponentsAndLocksOfTheServer(@Autowired ObjectProvider<Greeter> greeter,
			@Autowired JdbcClient jdbc) {
		assertThat(greeter.getIfAvailable()).isNull();
		assertThat(this.locks).isInstanceOf(PostgresTestLocks.class);
		jdbc.sql("CREATE TABLE IF NOT EXISTS shop_order (id int, closed boolean)").update();
		try (HeldLock other = this.locks.holdElsewhere("order-cleanup")) {
			assertThat(TestPostgres.query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted "
					+ "AND (classid::bigint << 32 | objid::bigint) = " + other.key().value()))
				.containsExactly("1");
			this.cleanup.run();
		}
		this.cleanup.run();
		assertThatLock("order-cleanup").hasOutcomes(LockOutcome.BUSY, LockOutcome.EXECUTED).isFree();
	}

	@Test
	void whatIsRefusedInMemoryIsKept() {
		LockRequest request = LockRequest.of("export-" + UUID.randomUUID())
			.minInterval(Duration.ofHours(1))
			.maxRun(Duration.ofMinutes(5));
		assertThat(this.operations.execute(request, (lock) -> lock.fencingToken().isPresent()).value()).isTrue();
		assertThat(this.operations.execute(request, (lock) -> true).outcome()).isEqualTo(LockOutcome.TOO_SOON);
	}

}
