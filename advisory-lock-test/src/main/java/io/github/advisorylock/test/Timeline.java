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
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.support.RequestDetail;
import org.jspecify.annotations.Nullable;

/**
 * What ran when, on which instance of a fleet.
 */
final class Timeline {

	/**
	 * Of many runs or lines the last ones are shown.
	 */
	private static final int SHOWN = 40;

	private static final int KEPT_LINES = 400;

	private final List<Run> runs = new ArrayList<>();

	private final List<String> log = new ArrayList<>();

	/**
	 * The methods that asked for no lock, and the instances that called them.
	 */
	private final Map<String, Set<Integer>> unguarded = new TreeMap<>();

	private final Map<AdvisoryLockKey, Instant> firstAsked = new HashMap<>();

	/**
	 * When each change of the instances left none that lives, or some again.
	 */
	private final NavigableMap<Instant, Boolean> served = new TreeMap<>();

	private Instant from = Instant.EPOCH;

	void begin(Instant from) {
		this.from = from;
		this.runs.clear();
		this.log.clear();
		this.unguarded.clear();
		this.firstAsked.clear();
		this.served.clear();
	}

	/**
	 * Note whether any instance lives, and can ask the database.
	 */
	void served(Instant now, boolean served) {
		if (this.served.isEmpty() || this.served.lastEntry().getValue() != served) {
			this.served.put(now, served);
		}
	}

	/**
	 * Return whether any instance could work all the time.
	 */
	boolean wasServed(Instant since, Instant until) {
		Map.Entry<Instant, Boolean> before = this.served.floorEntry(since);
		return (before == null || before.getValue())
				&& !this.served.subMap(since, true, until, false).containsValue(false);
	}

	/**
	 * Note that a key is asked for.
	 * @return when that is
	 */
	Instant asked(AdvisoryLockKey key, Instant now) {
		this.firstAsked.putIfAbsent(key, now);
		return now;
	}

	/**
	 * Return since when there are calls for a key: a schedule may have a delay before
	 * that.
	 */
	Instant firstAsked(AdvisoryLockKey key) {
		return this.firstAsked.getOrDefault(key, this.from);
	}

	Instant from() {
		return this.from;
	}

	Run add(Run run) {
		this.runs.add(run);
		return run;
	}

	void log(Instant now, String line) {
		if (this.log.size() == KEPT_LINES) {
			this.log.remove(0);
		}
		this.log.add(now + " " + line);
	}

	List<String> log() {
		return List.copyOf(this.log);
	}

	void unguarded(String task, int instance) {
		this.unguarded.computeIfAbsent(task, (none) -> new TreeSet<>()).add(instance);
	}

	/**
	 * Describe the methods that ran without a lock, with the instances.
	 */
	String unguarded() {
		return this.unguarded.entrySet()
			.stream()
			.map((task) -> task.getKey() + " on instances "
					+ task.getValue().stream().map(String::valueOf).collect(Collectors.joining(", ")))
			.collect(Collectors.joining("; "));
	}

	List<Run> of(AdvisoryLockKey key) {
		return this.runs.stream().filter((run) -> run.key.equals(key)).toList();
	}

	/**
	 * Return the runs that are under way.
	 */
	Stream<Run> underWay(AdvisoryLockKey key) {
		return of(key).stream().filter((run) -> run.end == null);
	}

	/**
	 * The process of an instance is gone, and with it its runs.
	 */
	void ended(FleetInstance instance, Instant now) {
		this.runs.stream().filter((run) -> run.instance == instance && run.end == null).forEach((run) -> {
			run.end = now;
			run.how = End.KILLED;
		});
	}

	/**
	 * Return the ticks until now that a key has had, or was to have.
	 * @param ticks its schedule, {@code null} if it has none of its own: what was seen
	 * counts then
	 */
	Set<Instant> ticks(AdvisoryLockKey key, @Nullable CronTicks ticks, Instant now) {
		Set<Instant> all = of(key).stream()
			.map((run) -> run.tick)
			.filter((tick) -> tick != null)
			.collect(Collectors.toCollection(TreeSet::new));
		Instant next = (ticks != null) ? ticks.nextAfter(this.from) : null;
		while (ticks != null && next != null && !next.isAfter(now)) {
			all.add(next);
			next = ticks.nextAfter(next);
		}
		return all;
	}

	/**
	 * Describe the runs of a key, an instance a line.
	 */
	String describe(AdvisoryLockKey key, Set<Integer> instances) {
		Map<Integer, List<Run>> byInstance = new TreeMap<>();
		instances.forEach((instance) -> byInstance.put(instance, new ArrayList<>()));
		of(key).forEach((run) -> byInstance.computeIfAbsent(run.number(), (none) -> new ArrayList<>()).add(run));
		return byInstance.entrySet()
			.stream()
			.map((instance) -> ((instance.getKey() != Fleet.TEST) ? "  instance " + instance.getKey() : "  the test")
					+ " | " + latest(instance.getValue(), Run::toString, " | "))
			.collect(Collectors.joining("\n"));
	}

	/**
	 * Describe the latest of what may be very many.
	 */
	static <T> String latest(List<T> all, Function<? super T, String> description, String separator) {
		int hidden = Math.max(0, all.size() - SHOWN);
		return ((hidden > 0) ? "(" + hidden + " before) " : "")
				+ all.stream().skip(hidden).map(description).collect(Collectors.joining(separator));
	}

	/**
	 * Return the pairs of runs that were under way at one time, more of them than may be.
	 */
	List<Run> overlapping(AdvisoryLockKey key) {
		List<Run> sorted = of(key).stream().sorted(Comparator.comparing((run) -> run.begin)).toList();
		return sorted.stream()
			.filter((run) -> sorted.stream()
				.filter((other) -> other != run && !other.begin.isAfter(run.begin)
						&& (other.end == null || other.end.isAfter(run.begin)))
				.count() >= run.permits)
			.toList();
	}

	/**
	 * How a run ended.
	 */
	enum End {

		/**
		 * Well.
		 */
		DONE,

		/**
		 * By an exception, or by the loss of its lock.
		 */
		FAILED,

		/**
		 * With its instance, which was stopped.
		 */
		ABANDONED,

		/**
		 * With its instance, which was killed.
		 */
		KILLED

	}

	/**
	 * One run.
	 */
	static final class Run {

		final AdvisoryLockKey key;

		private final FleetInstance instance;

		final Instant begin;

		final @Nullable Instant tick;

		final RequestDetail.@Nullable Interval interval;

		private final int permits;

		@Nullable Instant end;

		@Nullable End how;

		Run(AdvisoryLockKey key, LockRequest request, FleetInstance instance, Instant begin) {
			this.key = key;
			this.instance = instance;
			this.begin = begin;
			this.tick = request.tick();
			this.interval = RequestDetail.Interval.of(request);
			this.permits = request.permits();
		}

		int number() {
			return this.instance.number();
		}

		/**
		 * Note how it ended: the rollback of its transaction has the last word.
		 */
		void end(End how) {
			Fleet fleet = this.instance.fleet();
			if (this.how != End.KILLED && this.how != how) {
				this.end = fleet.now();
				this.how = how;
				fleet.log(this.instance + " ends '" + this.key.name() + "': " + how);
			}
		}

		/**
		 * Return from when its interval is counted: its end, if that is asked for and has
		 * come, else its begin.
		 */
		Instant countedFrom(boolean fromEnd) {
			Instant ended = this.end;
			return (fromEnd && ended != null) ? ended : this.begin;
		}

		/**
		 * Return whether it came to a good end, or may come to one.
		 */
		boolean counts() {
			return this.how == null || this.how == End.DONE;
		}

		@Override
		public String toString() {
			Instant ended = this.end;
			return this.begin
					+ ((ended != null) ? (ended.equals(this.begin) ? "" : " +" + Duration.between(this.begin, ended))
							: "")
					+ " " + ((this.how != null) ? this.how : "RUNNING")
					+ ((this.tick != null && !this.tick.equals(this.begin)) ? " (tick " + this.tick + ")" : "");
		}

	}

}
