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

import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import org.assertj.core.api.AbstractAssert;

/**
 * Assertions about a lock, and about the calls of this test that asked for it.
 *
 * @since 0.1.0
 * @see LockAssertions
 */
public class LockAssert extends AbstractAssert<LockAssert, AdvisoryLockKey> {

	private final TestLocks locks;

	/**
	 * Create assertions.
	 * @param locks knows the lock
	 * @param key its key
	 */
	public LockAssert(TestLocks locks, AdvisoryLockKey key) {
		super(key, LockAssert.class);
		this.locks = locks;
	}

	/**
	 * Verify that somebody holds the lock, this application or another.
	 * @return this object
	 */
	public LockAssert isHeld() {
		if (!this.locks.isHeld(this.actual)) {
			failWithMessage("Expected advisory lock '%s' to be held, and it is free", this.actual);
		}
		return this;
	}

	/**
	 * Verify that nobody holds the lock.
	 * @return this object
	 */
	public LockAssert isFree() {
		if (this.locks.isHeld(this.actual)) {
			failWithMessage("Expected advisory lock '%s' to be free, and it is held", this.actual);
		}
		return this;
	}

	/**
	 * Verify that the work ran exactly once and came to a good end, however often it was
	 * called.
	 * @return this object
	 */
	public LockAssert hasRunOnce() {
		return hasRun(1);
	}

	/**
	 * Verify how often the work ran and came to a good end.
	 * @param times how often
	 * @return this object
	 */
	public LockAssert hasRun(int times) {
		return expect("to have run " + times + " time(s)", times,
				(call) -> call.outcome() == LockOutcome.EXECUTED && call.failure() == null);
	}

	/**
	 * Verify that the work did not run, neither to a good end nor to a bad one.
	 * @return this object
	 */
	public LockAssert hasNotRun() {
		return expect("not to have run", 0, (call) -> call.outcome() == LockOutcome.EXECUTED);
	}

	/**
	 * Verify that the work ran and threw something of a type, at least once.
	 * @param type the type of what it threw
	 * @return this object
	 */
	public LockAssert hasFailedWith(Class<? extends Throwable> type) {
		if (calls().stream().noneMatch((call) -> type.isInstance(call.failure()))) {
			fail("to have failed with " + type.getName());
		}
		return this;
	}

	/**
	 * Verify that a call was skipped, at least one, for a reason.
	 * @param reason why
	 * @return this object
	 */
	public LockAssert wasSkipped(LockOutcome reason) {
		if (calls().stream().noneMatch((call) -> call.outcome() == reason)) {
			fail("to have been skipped as " + reason);
		}
		return this;
	}

	/**
	 * Verify that no call was skipped.
	 * @return this object
	 */
	public LockAssert wasNotSkipped() {
		return expect("not to have been skipped", 0, (call) -> call.outcome() != LockOutcome.EXECUTED);
	}

	/**
	 * Verify how all calls of this test ended, in that order; one that failed is
	 * {@link LockOutcome#EXECUTED} too.
	 * @param outcomes the outcomes
	 * @return this object
	 */
	public LockAssert hasOutcomes(LockOutcome... outcomes) {
		if (!calls().stream().map(LockCall::outcome).toList().equals(Arrays.asList(outcomes))) {
			fail("to have been called with outcomes " + Arrays.toString(outcomes));
		}
		return this;
	}

	private LockAssert expect(String expectation, long times, Predicate<LockCall> condition) {
		if (calls().stream().filter(condition).count() != times) {
			fail(expectation);
		}
		return this;
	}

	private void fail(String expectation) {
		failWithMessage("Expected advisory lock '%s' %s, and its calls in this test were: %s", this.actual, expectation,
				calls().isEmpty() ? "none"
						: calls().stream().map(LockAssert::describe).collect(Collectors.joining(", ")));
	}

	private static String describe(LockCall call) {
		return (call.failure() != null) ? "FAILED with " + call.failure() : call.outcome().name();
	}

	private List<LockCall> calls() {
		return this.locks.calls(this.actual);
	}

}
