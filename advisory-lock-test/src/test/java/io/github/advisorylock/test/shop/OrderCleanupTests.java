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

import java.time.Instant;

import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.test.AdvisoryLockTest;
import io.github.advisorylock.test.TestLocks;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.then;

/**
 * Tests for {@link OrderCleanup}, as {@code docs/testing.md} shows them.
 */
@AdvisoryLockTest(OrderCleanup.class)
class OrderCleanupTests {

	@Autowired
	private OrderCleanup cleanup;

	@Autowired
	private TestLocks locks;

	@MockitoBean
	private OrderRepository orders;

	@Test
	void leavesItToTheInstanceThatIsAtIt() {
		try (HeldLock other = this.locks.holdElsewhere("order-cleanup")) {
			this.cleanup.run();
			assertThatLock("order-cleanup").isHeld().wasSkipped(LockOutcome.BUSY).hasNotRun();
			assertThat(other.isHeld()).isTrue();
		}
		then(this.orders).shouldHaveNoInteractions();
	}

	@Test
	void handlesEachMessageOnce() {
		this.cleanup.onMessage("4711");
		this.cleanup.onMessage("4711");
		assertThatLock("order-message:4711").hasOutcomes(LockOutcome.EXECUTED, LockOutcome.ALREADY_RAN);
	}

	@Test
	void runsForTheLatestNight() {
		assertThat(this.cleanup.runNightly()).get().satisfies((tick) -> assertThat(tick).isBefore(Instant.now()));
		assertThat(this.cleanup.runNightly()).isEmpty();
	}

}
