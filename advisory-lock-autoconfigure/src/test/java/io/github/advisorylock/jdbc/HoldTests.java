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

import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockScope;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Hold}: who is told of its end, and how.
 */
class HoldTests {

	private final Hold hold = new Hold(AdvisoryLockKey.of("tests", "job"), LockMode.EXCLUSIVE, LockScope.SESSION);

	@Test
	void lockIsReleasedByOneOnly() {
		assertThat(this.hold.beginRelease()).isTrue();
		assertThat(this.hold.beginRelease()).isFalse();
	}

	@Test
	void whoeverAsksWhileTheLockIsBeingReleasedIsToldOfItsLoss() {
		Runnable action = () -> {
		};
		assertThat(this.hold.beginRelease()).isTrue();
		this.hold.onLost(action);
		List<Runnable> told = this.hold.lose();
		assertThat(told).containsExactly(action);
	}

	@Test
	void interruptThatTheRunHasNotTakenIsTakenBack() {
		this.hold.beginRun();
		assertThat(this.hold.lose()).isEmpty();
		this.hold.interruptRunner();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		this.hold.endRun(false);
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void interruptThatComesWhenTheRunIsOverReachesNobody() {
		this.hold.beginRun();
		this.hold.endRun(false);
		this.hold.interruptRunner();
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void transactionWhoseLockIsLostBeforeItEndsMustNotBeCommitted() {
		assertThat(this.hold.lose()).isEmpty();
		assertThat(this.hold.beginEnd()).isFalse();
	}

	@Test
	void endOfTheTransactionIsNoLoss() {
		assertThat(this.hold.beginEnd()).isTrue();
		assertThat(this.hold.lose()).isNull();
		assertThat(this.hold.isLost()).isFalse();
		assertThat(this.hold.release()).isTrue();
	}

}
