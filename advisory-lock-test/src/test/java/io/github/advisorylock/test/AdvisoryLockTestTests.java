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

import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.test.shop.Greeter;
import io.github.advisorylock.test.shop.OrderCleanup;
import io.github.advisorylock.test.shop.OrderRepository;
import io.github.advisorylock.test.shop.ShopApplication;
import org.junit.jupiter.api.Test;
import org.mockito.BDDMockito;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;

/**
 * Tests for {@link AdvisoryLockTest}, which is used here as an application does.
 */
@AdvisoryLockTest
@ContextConfiguration(classes = ShopApplication.class)
class AdvisoryLockTestTests {

	@Autowired
	private OrderCleanup cleanup;

	@Autowired
	private InMemoryLocks locks;

	@MockitoBean
	private OrderRepository orders;

	@Test
	void sliceHasGuardedComponentsOnly(@Autowired ObjectProvider<Greeter> greeter) {
		assertThat(greeter.getIfAvailable()).isNull();
	}

	@Test
	void jobIsSkippedWhileAnotherInstanceRunsIt() {
		try (HeldLock other = this.locks.holdElsewhere("order-cleanup")) {
			this.cleanup.run();
			assertThat(other.isHeld()).isTrue();
		}
		assertThatLock("order-cleanup").wasSkipped(LockOutcome.BUSY).hasNotRun();
		then(this.orders).shouldHaveNoInteractions();
	}

	@Test
	void messageIsHandledOnce() {
		AtomicInteger committed = new AtomicInteger();
		given(this.orders.closeOld()).willThrow(new IllegalStateException("expected")).willAnswer((invocation) -> {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					committed.incrementAndGet();
				}

			});
			return 1;
		});
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.cleanup.onMessage("m-1"))
			.withMessage("expected");
		this.cleanup.onMessage("m-1");
		this.cleanup.onMessage("m-1");
		assertThatLock("order-message:m-1").hasRunOnce()
			.hasFailedWith(IllegalStateException.class)
			.wasSkipped(LockOutcome.ALREADY_RAN);
		assertThat(committed).hasValue(1);
	}

	@Test
	void tickIsRunOnceWheneverTheTestIsRun() {
		assertThat(this.cleanup.runNightly()).isPresent();
		assertThat(this.cleanup.runNightly()).isEmpty();
		assertThatLock("nightly-cleanup").hasRunOnce().wasSkipped(LockOutcome.ALREADY_RAN);
	}

	@Test
	void eachTestBeginsAnew() {
		assertThat(this.cleanup.runNightly()).isPresent();
		assertThatLock("nightly-cleanup").hasOutcomes(LockOutcome.EXECUTED);
	}

	@Test
	void roleIsLedHereUnlessItIsLedElsewhere() {
		given(this.orders.closeOld()).willReturn(2);
		assertThat(this.cleanup.lead()).contains(2);
		this.locks.leadElsewhere("cleanup", true);
		assertThat(this.cleanup.lead()).isEmpty();
		BDDMockito.then(this.orders).should().closeOld();
	}

	@Test
	void pausedJobIsSkipped() {
		this.locks.pause("nightly-cleanup");
		assertThat(this.cleanup.runNightly()).isEmpty();
		assertThatLock("nightly-cleanup").hasOutcomes(LockOutcome.PAUSED);
	}

}
