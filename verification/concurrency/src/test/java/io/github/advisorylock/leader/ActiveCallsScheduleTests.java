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

import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.concurrency.Schedules;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.WorkContext;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Tests for {@link ActiveCalls} under many schedules: who is to be told when no call is
 * under way is told, once, and not before.
 */
class ActiveCallsScheduleTests {

	@TestFactory
	List<DynamicTest> resignationIsToldOnceThereIsNoCall() {
		return Schedules.ofPairsAndTriples((steps) -> () -> new Calls(false, resignations(steps)),
				List.of(Step.values()));
	}

	@TestFactory
	List<DynamicTest> resignationIsNotToldWhileThereIsACall() {
		return Schedules.ofPairsAndTriples((steps) -> () -> new Calls(true, resignations(steps)),
				List.of(Step.values()));
	}

	private static int resignations(List<Step> steps) {
		return (int) steps.stream().filter((step) -> step == Step.RESIGN).count();
	}

	private enum Step {

		CALL, RESIGN

	}

	/**
	 * Calls that begin and end, beside one that goes on until the others have ended.
	 */
	private static final class Calls implements Schedules.State<Step> {

		private static final WorkContext CONTEXT = WorkContext.begin(AdvisoryLockKey.of("role"), OptionalLong.empty(),
				() -> true, () -> {
				});

		private static final CurrentTerm.Term TERM = new CurrentTerm.Term(
				new LockSession(new DriverManagerDataSource(), "tests", LockSessionSettings.DEFAULT, (event) -> {
				}).candidate(AdvisoryLockKey.of("role"), () -> {
				}), 1, 0);

		private final ActiveCalls calls = new ActiveCalls();

		private final AtomicInteger told = new AtomicInteger();

		private final boolean longCall;

		private final int resignations;

		private Calls(boolean longCall, int resignations) {
			this.longCall = longCall;
			this.resignations = resignations;
			if (longCall) {
				this.calls.begin(CONTEXT, TERM);
			}
		}

		@Override
		public int run(Step operation) {
			if (operation == Step.RESIGN) {
				this.calls.whenNone(this.told::incrementAndGet);
			}
			else {
				this.calls.begin(CONTEXT, TERM);
				this.calls.end();
			}
			return 0;
		}

		@Override
		public void check(int[] answers) {
			if (this.longCall) {
				if (this.told.get() != 0) {
					throw new AssertionError("Told though a call is under way");
				}
				this.calls.end();
			}
			int last = this.told.get();
			this.calls.begin(CONTEXT, TERM);
			this.calls.end();
			if (this.told.get() != last || last > this.resignations || (last == 0 && this.resignations > 0)) {
				throw new AssertionError(this.resignations + " resignations, told " + last + " times, and then "
						+ (this.told.get() - last));
			}
		}

	}

}
