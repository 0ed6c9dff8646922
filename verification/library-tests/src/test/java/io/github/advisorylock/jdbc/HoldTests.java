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
import io.github.advisorylock.jdbc.thread.LockScheduler;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Hold}: who is told of its end, and how.
 */
class HoldTests {

	private final Hold hold = new Hold.InSession(AdvisoryLockKey.of("tests", "job"), LockMode.EXCLUSIVE,
			LockScheduler.Ticker.SYSTEM, () -> {
			});

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
		List<Runnable> told = this.hold.markLost();
		assertThat(told).containsExactly(action);
	}

	@Test
	void interruptThatTheRunHasNotTakenIsTakenBack() {
		Run run = this.hold.beginRun(null);
		assertThat(this.hold.markLost()).isEmpty();
		run.interrupt();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		run.end(false);
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void interruptThatComesWhenTheRunIsOverReachesNobody() {
		Run run = this.hold.beginRun(null);
		run.end(false);
		run.interrupt();
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void transactionWhoseLockIsLostBeforeItEndsMustNotBeCommitted() {
		assertThat(this.hold.markLost()).isEmpty();
		assertThat(this.hold.beginCompletion()).isFalse();
	}

	@Test
	void endOfTheTransactionIsNoLoss() {
		assertThat(this.hold.beginCompletion()).isTrue();
		assertThat(this.hold.markLost()).isNull();
		assertThat(this.hold.isLost()).isFalse();
		assertThat(this.hold.release()).isTrue();
	}

	@Test
	void whatTheThreadDoesAfterTheRunIsNotTold() {
		assertThat(Run.now(this.hold.run(), 0).thread()).isNull();
		Run run = this.hold.beginRun(null);
		Thread thread = Thread.currentThread();
		assertThat(Run.now(this.hold.run(), 0).thread())
			.isEqualTo(thread.getName().isEmpty() ? "thread " + thread.getId() : thread.getName());
		assertThat(Run.note(run, 0, Runnable::run)).isNotNull();
		run.end(false);
		assertThat(Run.now(this.hold.run(), 0).thread()).isNull();
		assertThat(Run.noted(run)).asString().contains("\n\tat ", "HoldTests.whatTheThreadDoes");
	}

}
