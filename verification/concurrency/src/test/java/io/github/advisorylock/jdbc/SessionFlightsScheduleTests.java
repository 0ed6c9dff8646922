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
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.concurrency.Schedules;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Tests for {@link SessionFlights} under many schedules: each command is answered once,
 * by one flight at a time, and nobody waits for an answer that has come.
 */
class SessionFlightsScheduleTests {

	@TestFactory
	List<DynamicTest> eachCommandIsAnsweredOnce() {
		return Schedules.ofPairsAndTriples((submissions) -> () -> new Flights(submissions.toArray(new Submission[0])),
				List.of(Submission.values()));
	}

	private enum Submission {

		PATIENT, IF_IDLE, FAILING

	}

	/**
	 * A queue whose flights answer, and fail with one command.
	 */
	private static final class Flights implements Schedules.State<Submission> {

		private final SessionFlights flights = new SessionFlights(this::fly, LockScheduler.Threads.ofCurrent());

		private final AtomicInteger inTheAir = new AtomicInteger();

		private final AtomicInteger failures = new AtomicInteger();

		private final Submission[] submissions;

		private Flights(Submission[] submissions) {
			this.submissions = submissions;
		}

		private void fly(List<SessionCommand> commands) {
			if (this.inTheAir.getAndIncrement() != 0) {
				throw new AssertionError("Two flights at a time");
			}
			IllegalStateException failure = null;
			for (SessionCommand command : commands) {
				try {
					command.land();
				}
				catch (IllegalStateException ex) {
					failure = ex;
				}
			}
			this.inTheAir.decrementAndGet();
			if (failure != null) {
				throw failure;
			}
		}

		@Override
		public int run(Submission operation) {
			AtomicInteger landings = new AtomicInteger();
			try {
				if (operation == Submission.IF_IDLE) {
					this.flights.submitIfIdle(new SessionCommand.Turn(landings::incrementAndGet));
				}
				else if (operation == Submission.PATIENT) {
					this.flights.submit(new SessionCommand.Turn(landings::incrementAndGet));
				}
				else {
					this.flights.submit(new SessionCommand.Turn(() -> {
						landings.incrementAndGet();
						throw new IllegalStateException("As told");
					}));
				}
			}
			catch (IllegalStateException ex) {
				this.failures.incrementAndGet();
			}
			return landings.get();
		}

		@Override
		public void check(int[] answers) {
			boolean failing = false;
			for (int i = 0; i < answers.length; i++) {
				failing |= this.submissions[i] == Submission.FAILING;
				if (answers[i] > 1 || (answers[i] == 0 && this.submissions[i] == Submission.PATIENT)) {
					throw new AssertionError(this.submissions[i] + " was answered " + answers[i] + " times");
				}
			}
			if (failing != (this.failures.get() > 0)) {
				throw new AssertionError("Failed for " + this.failures.get());
			}
			int[] later = new int[1];
			this.flights.submit(new SessionCommand.Turn(() -> later[0]++));
			if (later[0] != 1) {
				throw new AssertionError("The next one was answered " + later[0] + " times");
			}
		}

	}

}
