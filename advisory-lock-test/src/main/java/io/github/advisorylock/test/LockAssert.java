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

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.support.RequestDetail;
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

	/**
	 * Verify that the work ran to a good end exactly once for each tick of its schedule
	 * until now, on whatever instance; the run of the latest tick may be under way. In a
	 * {@link FleetTest}.
	 * @return this object
	 */
	public LockAssert hasRunOncePerTick() {
		Fleet fleet = fleet();
		Set<Instant> ticks = ticks(fleet);
		if (ticks.isEmpty()) {
			failInFleet("to have run once per tick, and it was called for no tick");
		}
		Map<Instant, List<Integer>> runs = runs(fleet);
		List<Instant> missed = missed(runs, ticks);
		List<String> again = ticks.stream()
			.filter((tick) -> runs.getOrDefault(tick, List.of()).size() > 1)
			.map((tick) -> tick + " on instances " + runs.get(tick))
			.toList();
		Set<Integer> unplanned = instances(fleet, (run) -> run.tick == null && run.counts());
		List<String> wrong = new ArrayList<>();
		if (!missed.isEmpty()) {
			wrong.add("did not run for " + missed);
		}
		if (!again.isEmpty()) {
			wrong.add("ran more than once for " + again);
		}
		if (!unplanned.isEmpty()) {
			wrong.add("ran for no tick on instances " + unplanned);
		}
		if (!wrong.isEmpty()) {
			failInFleet("to have run once per tick, and it " + String.join(", and ", wrong));
		}
		return this;
	}

	/**
	 * Verify that the work of a {@code fixedRate} or {@code fixedDelay} ran once per
	 * interval until now, on whatever instance: two runs at least 0.9 and, as long as an
	 * instance lived, at most 1.1 intervals apart. In a {@link FleetTest}.
	 * @return this object
	 */
	public LockAssert hasRunOncePerInterval() {
		Fleet fleet = fleet();
		List<Timeline.Run> runs = fleet.timeline()
			.of(this.actual)
			.stream()
			.filter((run) -> run.counts() && run.interval != null)
			.toList();
		if (runs.isEmpty()) {
			failInFleet("to have run once per interval, and it ran for none");
		}
		for (int i = 0; i <= runs.size(); i++) {
			Timeline.Run run = runs.get(Math.min(i, runs.size() - 1));
			Timeline.Run before = (i > 0) ? runs.get(i - 1) : null;
			RequestDetail.Interval interval = Objects.requireNonNull(run.interval, "'interval' must not be null");
			boolean fromEnd = interval.counted() != RequestDetail.Interval.Counted.FROM_BEGIN;
			Instant since = (before != null) ? before.countedFrom(fromEnd) : fleet.timeline().firstAsked(this.actual);
			Instant until = (i < runs.size()) ? run.begin : fleet.now();
			Duration apart = Duration.between(since, until);
			if (i > 0 && i < runs.size() && apart.compareTo(interval.memory()) < 0) {
				failInFleet("to have run once per interval of " + interval.length() + ", and two runs are " + apart
						+ " apart at " + until);
			}
			if (apart.compareTo(interval.length().multipliedBy(11).dividedBy(10)) > 0
					&& (before == null || before.end != null) && fleet.timeline().wasServed(since, until)) {
				failInFleet("to have run once per interval of " + interval.length() + ", and from " + since + " to "
						+ until + " it did not run");
			}
		}
		return this;
	}

	/**
	 * Verify for which ticks of its schedule until now the work did not come to a good
	 * end: for these, and no others. In a {@link FleetTest}.
	 * @param ticks the ticks, such as {@code 2026-10-25T00:30:00Z}
	 * @return this object
	 */
	public LockAssert hasMissed(String... ticks) {
		Fleet fleet = fleet();
		Set<Instant> expected = Arrays.stream(ticks)
			.map(VirtualTime::instant)
			.collect(Collectors.toCollection(TreeSet::new));
		List<Instant> missed = missed(runs(fleet), ticks(fleet));
		if (!missed.equals(List.copyOf(expected))) {
			failInFleet("to have missed " + expected + ", and it missed " + missed);
		}
		return this;
	}

	/**
	 * Verify for which ticks of its schedule until now the work did not come to a good
	 * end: for these, and no others. In a {@link FleetTest}.
	 * @param tick a tick
	 * @param ticks other ticks
	 * @return this object
	 */
	public LockAssert hasMissed(Instant tick, Instant... ticks) {
		return hasMissed(
				Stream.concat(Stream.of(tick), Stream.of(ticks)).map(Instant::toString).toArray(String[]::new));
	}

	/**
	 * Verify that no two runs were under way at one time, or no more than the key has
	 * permits. In a {@link FleetTest}.
	 * @return this object
	 */
	public LockAssert neverOverlapped() {
		List<Timeline.Run> overlapping = fleet().timeline().overlapping(this.actual);
		if (!overlapping.isEmpty()) {
			failInFleet("to have never overlapped, and these runs began during others: " + overlapping);
		}
		return this;
	}

	/**
	 * Verify on which instances the work ran to a good end, or is running: on each of
	 * these, and on no other. In a {@link FleetTest}.
	 * @param instances their numbers
	 * @return this object
	 */
	public LockAssert hasRunOn(int... instances) {
		Set<Integer> expected = Arrays.stream(instances).boxed().collect(Collectors.toCollection(TreeSet::new));
		Set<Integer> ran = instances(fleet(), Timeline.Run::counts);
		if (!ran.equals(expected)) {
			failInFleet("to have run on instances " + expected + ", and it ran on " + ran);
		}
		return this;
	}

	private Set<Instant> ticks(Fleet fleet) {
		CronTicks schedule = fleet.ticks(this.actual);
		Set<Instant> ticks = fleet.timeline().ticks(this.actual, schedule, fleet.now());
		if (schedule == null) {
			calls().stream()
				.map(LockCall::tick)
				.filter((tick) -> tick != null && !tick.isAfter(fleet.now()))
				.forEach(ticks::add);
		}
		return ticks;
	}

	private static List<Instant> missed(Map<Instant, List<Integer>> runs, Set<Instant> ticks) {
		return ticks.stream().filter((tick) -> !runs.containsKey(tick)).toList();
	}

	/**
	 * Return the instances of the runs that count, by their ticks.
	 */
	private Map<Instant, List<Integer>> runs(Fleet fleet) {
		return fleet.timeline()
			.of(this.actual)
			.stream()
			.filter((run) -> run.tick != null && run.counts())
			.collect(Collectors.groupingBy((run) -> run.tick,
					Collectors.mapping(Timeline.Run::number, Collectors.toList())));
	}

	private Set<Integer> instances(Fleet fleet, Predicate<Timeline.Run> condition) {
		return fleet.timeline()
			.of(this.actual)
			.stream()
			.filter(condition)
			.map(Timeline.Run::number)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private Fleet fleet() {
		Fleet fleet = (this.locks instanceof InMemoryLocks inMemory) ? inMemory.fleet() : null;
		if (fleet == null) {
			throw new IllegalStateException(
					"What ran on which instance is known in a test with @FleetTest only, and this is none");
		}
		if (fleet.method(this.actual) == null && calls().isEmpty()) {
			String unguarded = fleet.timeline().unguarded();
			failWithMessage(
					"Expected advisory lock '%s' to be that of a job, and nothing asked for it; no bean has a "
							+ "method with that key: its class must be a component, and @FleetTest name it%s",
					this.actual, unguarded.isEmpty() ? ""
							: "; these methods ask for no lock, and each instance runs them: " + unguarded);
		}
		return fleet;
	}

	private void failInFleet(String expectation) {
		failWithMessage("Expected advisory lock '%s' %s; from %s to %s:%n%s", this.actual, expectation,
				fleet().timeline().from(), fleet().now(), fleet().describe(this.actual));
	}

	private LockAssert expect(String expectation, long times, Predicate<LockCall> condition) {
		if (calls().stream().filter(condition).count() != times) {
			fail(expectation);
		}
		return this;
	}

	private void fail(String expectation) {
		failWithMessage("Expected advisory lock '%s' %s, and its calls in this test were: %s", this.actual, expectation,
				calls().isEmpty() ? "none" : Timeline.latest(calls(), LockAssert::describe, ", "));
	}

	private static String describe(LockCall call) {
		return (call.failure() != null) ? "FAILED with " + call.failure() : call.outcome().name();
	}

	private List<LockCall> calls() {
		return this.locks.calls(this.actual);
	}

}
