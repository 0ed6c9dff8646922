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

package io.github.advisorylock.leader;

import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.concurrency.Schedules;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.ServerEvents;
import io.github.advisorylock.jdbc.thread.TrustWindow;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Tests for {@link Leadership} under many schedules: work, the loss of its lock, answers
 * that come too late, resignation and the next term happen as if they came one after the
 * other. The role is not handed over while there is work, and each term that was gained
 * is told to be lost once.
 */
class LeadershipScheduleTests {

	@TestFactory
	List<DynamicTest> whatHappensAtOneTimeCouldHaveHappenedOneByOne() {
		return Schedules.ofPairsAndTriples((steps) -> {
			BitSet right = Schedules.sequentially(Leader::new, steps, Leader::run, Leader::state);
			return () -> new Leader(right);
		}, List.of(Step.values()));
	}

	private enum Step {

		WORK, LOSE, LATE, RESIGN, RENEW

	}

	/**
	 * The leader of the first term.
	 */
	private static final class Leader implements Schedules.State<Step> {

		private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("role");

		private static final Duration TRUST = Duration.ofHours(1);

		private static final LockSession SESSION = new LockSession(new DriverManagerDataSource(), "tests",
				new LockSessionSettings(Duration.ofSeconds(2), Duration.ofSeconds(10),
						LockSessionSettings.WhenLost.REPORT),
				(event) -> {
				});

		private final TrustWindow trust = ServerEvents.window(TRUST);

		private final AtomicInteger gained = new AtomicInteger();

		private final AtomicInteger lost = new AtomicInteger();

		private final AtomicInteger woken = new AtomicInteger();

		private final AtomicInteger asked = new AtomicInteger();

		private final long start = System.nanoTime();

		private final Leadership leadership = new Leadership("role", KEY, SESSION, this.trust,
				(event) -> ((event instanceof LeadershipGainedEvent) ? this.gained : this.lost).incrementAndGet(),
				this.woken::incrementAndGet);

		private final Hold hold = SESSION.candidate(KEY, () -> {
		});

		private final BitSet right;

		private volatile boolean handedOver;

		private Leader() {
			this(new BitSet());
		}

		private Leader(BitSet right) {
			this.right = right;
			ServerEvents.answer(this.trust, this.start, this.start);
			this.leadership.begin(this.hold, 1);
		}

		@Override
		public int run(Step operation) {
			switch (operation) {
				case WORK -> {
					return work() ? 1 : 0;
				}
				case LOSE -> {
					ServerEvents.lose(this.hold);
					this.leadership.check();
				}
				case LATE -> {
					ServerEvents.answer(this.trust, this.start + this.asked.incrementAndGet(),
							this.start + TRUST.multipliedBy(2).toNanos());
					this.leadership.check();
				}
				case RESIGN -> {
					this.leadership.resign();
					elect(false);
				}
				case RENEW -> elect(true);
			}
			return 0;
		}

		/**
		 * There is one elector, which takes its turns one after the other, and begins
		 * nothing after it has handed over.
		 */
		private synchronized void elect(boolean renew) {
			if (this.leadership.isOver()) {
				this.leadership.handOver();
				this.handedOver = true;
			}
			else if (renew && !this.handedOver && !this.leadership.isLeader()) {
				this.leadership.check();
				this.leadership.begin(this.hold, 2);
			}
		}

		private boolean work() {
			LeaderOnlyGate.Work work = this.leadership.beginWork();
			if (work == null) {
				return false;
			}
			if (this.handedOver) {
				throw new AssertionError("The role was handed over while there was work");
			}
			try {
				work.complete();
				return true;
			}
			catch (LockLostException ex) {
				return false;
			}
		}

		private int state() {
			elect(false);
			return (this.leadership.isLeader() ? 1 : 0) + 2 * this.lost.get() + 6 * this.gained.get();
		}

		@Override
		public void check(int[] answers) {
			int state = state();
			if (!this.right.get(Schedules.outcome(answers, state))) {
				throw new AssertionError("They have answered " + Arrays.toString(answers) + ", it believes: "
						+ this.leadership.isLeader() + ", and has gained " + this.gained + " and lost " + this.lost);
			}
			if (this.handedOver && this.woken.get() == 0) {
				throw new AssertionError("The elector was not woken");
			}
			this.leadership.end();
			if (this.gained.get() != this.lost.get()) {
				throw new AssertionError("Gained " + this.gained + " and lost " + this.lost);
			}
		}

	}

}
