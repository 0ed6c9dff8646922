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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.concurrency.Schedules;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Tests for {@link HoldRegistry} under many schedules: what threads that don't wait are
 * told at one time could have been told to one after the other.
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

	private static List<DynamicTest> tries(LockMode held, Try... operations) {
		return Schedules.ofPairsAndTriples((tries) -> {
			BitSet right = Schedules.sequentially(() -> new Model(held), tries, Model::run,
					(model) -> model.inside.size());
			boolean whenIdle = tries.contains(Try.WHEN_IDLE);
			return () -> new Tries(held, right, whenIdle);
		}, List.of(operations));
	}

	private static Hold hold(LockMode mode) {
		return new Hold(KEY, mode, LockScope.SESSION);
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

}
