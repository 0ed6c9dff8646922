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

package io.github.advisorylock.test.shop;

import io.github.advisorylock.HeldLock;
import io.github.advisorylock.test.LockLeakDetector;
import io.github.advisorylock.test.PostgresContainerConfiguration;
import io.github.advisorylock.test.TestLocks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the whole application on PostgreSQL, with what {@code docs/testing.md} names.
 */
@SpringBootTest(properties = "advisory-lock.ledger.initialize-schema=always")
@Import(PostgresContainerConfiguration.class)
@ExtendWith(LockLeakDetector.class)
@EnabledIfSystemProperty(named = "postgres", matches = "testcontainers",
		disabledReason = "needs Docker: run with -Dpostgres=testcontainers")
class ShopIntegrationTests {

	@Autowired
	private OrderCleanup cleanup;

	@Autowired
	private TestLocks locks;

	@Test
	void leavesItToTheInstanceThatIsAtIt() {
		try (HeldLock other = this.locks.holdElsewhere("order-cleanup")) {
			this.cleanup.run();
			assertThatLock("order-cleanup").isHeld().hasNotRun();
			assertThat(other.isHeld()).isTrue();
		}
		assertThatLock("order-cleanup").isFree();
	}

}
