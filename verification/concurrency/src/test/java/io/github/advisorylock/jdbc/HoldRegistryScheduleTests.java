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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.concurrency.Schedules;
import io.github.advisorylock.jdbc.thread.Deadline;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Tests for {@link HoldRegistry} under many schedules: what threads that don't wait are
 * told at one time could have been told to one after the other; those that wait are all
 * let in, and nobody beside whom they exclude.
 */
class HoldRegistryScheduleTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "job");

	@TestFactory
	List<DynamicTest> triesAnswerAsOneAfterTheOther() {
		return tries(null, Try.EXCLUSIVE, Try.SHARED);
	}

	@TestFactory
	List<DynamicTest> triesAnswerAsOneAfterTheOtherWhileTheKeyIsShared() {
		return tries(LockMode.SHARED, Try.EXCLUSIVE, Try.SHARED, Try.LEAVE);
	}

	@TestFactory
	List<DynamicTest> triesAnswerAsOneAfterTheOtherWhileTheKeyIsHeld() {
		return tries(LockMode.EXCLUSIVE, Try.values());
	}

	@TestFactory
	List<DynamicTest> whoWaitsIsLetInAndKeepsOthersOut() {
		return Schedules.ofPairsAndTriplesOnThreads((visits) -> {
			boolean take = visits.contains(Visit.TAKE_LASTING);
			return () -> new Visits(take);
		}, List.of(Visit.values()));
	}

	private static List<DynamicTest> tries(LockMode held, Try... operations) {
		return Schedules.ofPairsAndTriples((tries) -> {
			BitSet right = Schedules.sequentially(() -> new Model(held), tries, Model::run,
					(model) -> model.inside.size());
			boolean whenIdle = tries.contains(Try.WHEN_IDLE);
			return () -> new Tries(held, right, whenIdle);
		}, List.of(operations));
	}

	private static Hold hold(LockMode mode) {
		return new Hold.InSession(KEY, mode, LockScheduler.Ticker.SYSTEM, () -> {
		});
	}

	private enum Try {

		EXCLUSIVE, SHARED, LEAVE, WHEN_IDLE

	}

	/**
	 * What a registry does when one thread after the other asks it.
	 */
	private static final class Model {

		private final List<LockMode> inside = new ArrayList<>();

		private boolean held;

		private Model(LockMode held) {
			if (held != null) {
				this.inside.add(held);
				this.held = true;
			}
		}

		private int run(Try operation) {
			return switch (operation) {
				case EXCLUSIVE -> add(LockMode.EXCLUSIVE, this.inside.isEmpty());
				case SHARED -> add(LockMode.SHARED, !this.inside.contains(LockMode.EXCLUSIVE));
				case LEAVE -> {
					if (this.held) {
						this.inside.remove(0);
						this.held = false;
					}
					yield 0;
				}
				case WHEN_IDLE -> 0;
			};
		}

		private int add(LockMode mode, boolean free) {
			if (free) {
				this.inside.add(mode);
			}
			return free ? 1 : 0;
		}

	}

	/**
	 * Threads that don't wait, and stay inside.
	 */
	private static final class Tries implements Schedules.State<Try> {

		private final HoldRegistry holds = new HoldRegistry(100);

		private final Hold first;

		private final BitSet right;

		private final boolean whenIdle;

		private final Hold[] entered = new Hold[3];

		private final AtomicInteger count = new AtomicInteger();

		private final AtomicInteger idle = new AtomicInteger();

		private Tries(LockMode held, BitSet right, boolean whenIdle) {
			this.right = right;
			this.whenIdle = whenIdle;
			this.first = hold((held != null) ? held : LockMode.SHARED);
			if (held != null) {
				this.holds.enter(this.first, KEY, null);
			}
		}

		@Override
		public int run(Try operation) {
			switch (operation) {
				case EXCLUSIVE:
					return enter(hold(LockMode.EXCLUSIVE));
				case SHARED:
					return enter(hold(LockMode.SHARED));
				case LEAVE:
					this.holds.leave(this.first);
					return 0;
				default:
					this.holds.whenIdle(this.idle::incrementAndGet);
					return 0;
			}
		}

		private int enter(Hold hold) {
			boolean entered = this.holds.enter(hold, KEY, null);
			if (entered) {
				this.entered[this.count.getAndIncrement()] = hold;
			}
			return entered ? 1 : 0;
		}

		@Override
		public void check(int[] answers) {
			if (!this.right.get(Schedules.outcome(answers, this.holds.size()))) {
				throw new AssertionError("They have answered " + Arrays.toString(answers) + ", and " + this.holds.size()
						+ " are inside");
			}
			this.holds.leave(this.first);
			for (int i = 0; i < this.count.get(); i++) {
				this.holds.leave(this.entered[i]);
			}
			if (this.holds.size() != 0) {
				throw new AssertionError("Something is left: " + this.holds.keys());
			}
			if (this.whenIdle != (this.idle.get() > 0)) {
				throw new AssertionError("Told " + this.idle.get() + " times that nothing is left");
			}
		}

	}

	private enum Visit {

		WAIT_EXCLUSIVE, WAIT_SHARED, TRY_EXCLUSIVE, TRY_SHARED, WAIT_UNLESS_HELD, GIVE_UP, TAKE_LASTING

	}

	/**
	 * Threads that go in and leave again; some wait for the others.
	 */
	private static final class Visits implements Schedules.State<Visit> {

		private static final Duration LONG = Duration.ofMinutes(5);

		private static final Duration SHORT = Duration.ofNanos(1000);

		private static final int ALONE = 10;

		private final HoldRegistry holds = new HoldRegistry(100);

		private final AtomicInteger inside = new AtomicInteger();

		private final AtomicInteger crowd = new AtomicInteger();

		private final AtomicInteger taken = new AtomicInteger();

		private final AtomicInteger idle = new AtomicInteger();

		private final Hold lasting = hold(LockMode.SHARED);

		private final boolean take;

		private Visits(boolean take) {
			this.take = take;
			this.holds.enter(this.lasting, AdvisoryLockKey.of("tests", "another"), null);
			this.lasting.acquired();
		}

		@Override
		public int run(Visit operation) {
			return switch (operation) {
				case WAIT_EXCLUSIVE ->
					visit(hold(LockMode.EXCLUSIVE), new Deadline.Waits(LockScheduler.Ticker.SYSTEM).until(LONG), ALONE);
				case WAIT_SHARED ->
					visit(hold(LockMode.SHARED), new Deadline.Waits(LockScheduler.Ticker.SYSTEM).until(LONG), 1);
				case TRY_EXCLUSIVE -> visit(hold(LockMode.EXCLUSIVE), null, ALONE) | 1;
				case TRY_SHARED -> visit(hold(LockMode.SHARED), null, 1) | 1;
				case WAIT_UNLESS_HELD -> visitUnlessHeld();
				case GIVE_UP ->
					visit(hold(LockMode.EXCLUSIVE), new Deadline.Waits(LockScheduler.Ticker.SYSTEM).until(SHORT), ALONE)
							| 1;
				case TAKE_LASTING -> {
					this.taken.addAndGet(this.holds.takeHeldLonger(Duration.ZERO).size());
					yield 1;
				}
			};
		}

		private int visit(Hold hold, Deadline deadline, int weight) {
			if (!this.holds.enter(hold, KEY, deadline)) {
				return 0;
			}
			beInside(weight);
			this.holds.leave(hold);
			return 1;
		}

		/**
		 * Who has it already is not let in again, and does not wait for itself.
		 */
		private int visitUnlessHeld() {
			Hold hold = hold(LockMode.EXCLUSIVE);
			if (!this.holds.enterUnlessHeld(hold, KEY, new Deadline.Waits(LockScheduler.Ticker.SYSTEM).until(LONG))) {
				return 0;
			}
			boolean twice = this.holds.enterUnlessHeld(hold(LockMode.EXCLUSIVE), KEY,
					new Deadline.Waits(LockScheduler.Ticker.SYSTEM).until(LONG));
			beInside(ALONE);
			this.holds.leave(hold);
			return twice ? 0 : 1;
		}

		/**
		 * More than ten are one that is to be alone, and somebody beside it.
		 */
		private void beInside(int weight) {
			if (this.inside.addAndGet(weight) > ALONE) {
				this.crowd.incrementAndGet();
			}
			Thread.onSpinWait();
			this.inside.addAndGet(-weight);
		}

		@Override
		public void check(int[] answers) {
			if (Arrays.stream(answers).anyMatch((answer) -> answer != 1)) {
				throw new AssertionError("Not all were let in: " + Arrays.toString(answers));
			}
			if (this.crowd.get() > 0) {
				throw new AssertionError("Somebody was beside one that is to be alone");
			}
			if (this.holds.size() != 1) {
				throw new AssertionError("Something is left: " + this.holds.keys());
			}
			if (this.taken.get() != (this.take ? 1 : 0)) {
				throw new AssertionError("Told " + this.taken + " times of what lasts");
			}
			this.holds.leave(this.lasting);
			this.holds.whenIdle(this.idle::incrementAndGet);
			if (this.idle.get() != 1) {
				throw new AssertionError("Not idle when all have left");
			}
		}

	}

}
