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

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.concurrency.Schedules;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Tests for {@link Hold} under many schedules: it ends once, one caller releases it, and
 * whoever asks to be told of its loss is told once.
 */
class HoldScheduleTests {

	@TestFactory
	List<DynamicTest> holdEndsOnce() {
		return Schedules.ofPairsAndTriples((ends) -> {
			boolean release = ends.contains(End.RELEASE);
			return () -> new Ends(release, false);
		}, List.of(End.RELEASE, End.LOSE, End.GIVE_UP, End.LISTEN, End.RUN));
	}

	@TestFactory
	List<DynamicTest> holdOfTransactionEndsOnce() {
		return Schedules.ofPairsAndTriplesOnThreads((ends) -> {
			boolean release = ends.contains(End.COMMIT);
			boolean report = ends.contains(End.REPORT);
			return () -> new Ends(release, report);
		}, List.of(End.COMMIT, End.LOSE, End.GIVE_UP, End.LISTEN, End.RUN, End.REPORT));
	}

	private enum End {

		RELEASE, LOSE, GIVE_UP, LISTEN, RUN, COMMIT, REPORT

	}

	/**
	 * A lock that was handed over to somebody who may close it more than once.
	 */
	private static final class Ends implements Schedules.State<End> {

		private final Hold hold = new Hold.InSession(AdvisoryLockKey.of("tests", "job"), LockMode.EXCLUSIVE,
				LockScheduler.Ticker.SYSTEM, () -> {
				});

		private final AtomicInteger released = new AtomicInteger();

		private final AtomicInteger lost = new AtomicInteger();

		private final AtomicInteger told = new AtomicInteger();

		private final AtomicInteger listening = new AtomicInteger();

		private final AtomicInteger committed = new AtomicInteger();

		private final boolean release;

		private final boolean report;

		private Ends(boolean release, boolean report) {
			this.release = release;
			this.report = report;
			this.hold.handOver();
		}

		@Override
		public int run(End operation) {
			switch (operation) {
				case RELEASE:
					if (this.hold.beginRelease()) {
						this.released.incrementAndGet();
						this.hold.release();
					}
					break;
				case LOSE:
					tell(this.hold.markLost());
					break;
				case GIVE_UP:
					tell(this.hold.revoke(new Hold.Loss(LockLostEvent.Reason.MAX_RUN, "too long")));
					break;
				case LISTEN:
					this.listening.incrementAndGet();
					this.hold.onLost(this.told::incrementAndGet);
					break;
				case COMMIT:
					commit();
					break;
				case REPORT:
					return this.hold.report() ? 1 : 0;
				default:
					work();
			}
			return 0;
		}

		private void commit() {
			if (this.hold.beginCompletion()) {
				this.committed.incrementAndGet();
			}
			if (this.hold.release()) {
				this.released.incrementAndGet();
			}
		}

		private void tell(List<Runnable> actions) {
			if (actions != null) {
				this.lost.incrementAndGet();
				Run run = this.hold.run();
				if (run != null) {
					run.interrupt();
				}
				actions.forEach(Runnable::run);
			}
		}

		private void work() {
			Run run;
			try {
				run = this.hold.beginRun(null);
			}
			catch (LockLostException ex) {
				return;
			}
			run.end(false);
		}

		@Override
		public void check(int[] answers) {
			if (this.released.get() > 1 || this.lost.get() > 1) {
				throw new AssertionError("Released " + this.released + " times, lost " + this.lost + " times");
			}
			if (this.hold.isLost() != (this.lost.get() == 1)) {
				throw new AssertionError("Lost without a word");
			}
			if (this.release && this.lost.get() == 0 && this.released.get() != 1) {
				throw new AssertionError("Nobody has released it");
			}
			if (this.lost.get() == 1 && this.committed.get() > 0) {
				throw new AssertionError("Lost although its end had begun");
			}
			if (Arrays.stream(answers).sum() != (this.report ? 1 : 0)) {
				throw new AssertionError("Reported " + Arrays.toString(answers));
			}
			if (this.told.get() != (this.hold.isLost() ? this.listening.get() : 0)) {
				throw new AssertionError("Told " + this.told + " of " + this.listening);
			}
		}

	}

}
