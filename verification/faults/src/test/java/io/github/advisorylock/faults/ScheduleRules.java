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

package io.github.advisorylock.faults;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/**
 * The rules for the ticks of each {@link OperatedJob}: those of the schedule that holds
 * at their time, and none of them is missed. That none runs twice is the checker's.
 */
final class ScheduleRules {

	/**
	 * How soon another schedule holds at the least, and until when instances have learned
	 * of it that were disturbed when it was chosen.
	 */
	static final long AHEAD = 25_000;

	/**
	 * How far the clocks of the machine and of the database may be apart.
	 */
	private static final long NEAR = 1_000;

	/**
	 * By how much a timer may be early.
	 */
	private static final long EARLY = 100;

	private static final long ALWAYS = Long.MIN_VALUE / 2;

	private static final Map<String, OperatedJob.Schedule> OTHERS = Map.of(OperatedJob.VERSIONED,
			OperatedJob.Schedule.VERSION, OperatedJob.ADDED, OperatedJob.Schedule.ADDED_TICKS, OperatedJob.BACKFILLED,
			OperatedJob.Schedule.BACKFILLED);

	private final List<Event> events;

	private final Set<Execution> recorded;

	private final List<Disturbance> disturbances;

	private final Map<Act, Integer> acts;

	private final long end;

	/**
	 * What a wall clock that is right says when the machine's own clock began.
	 */
	private final long offset;

	private final TreeMap<Instant, Change> changes = new TreeMap<>();

	private final List<String> violations = new ArrayList<>();

	/**
	 * Create the rules.
	 * @param events all histories, in the order of time
	 * @param recorded what the ledger counts as executed
	 * @param disturbances what was done to the instances
	 * @param acts is told what was looked at
	 * @param end when the instances were told to stop
	 */
	ScheduleRules(List<Event> events, List<Execution> recorded, List<Disturbance> disturbances, Map<Act, Integer> acts,
			long end) {
		this.events = events;
		this.recorded = new HashSet<>(recorded);
		this.disturbances = disturbances;
		this.acts = acts;
		this.end = end;
		// Most instances have the right time: a few may have a wrong clock
		long[] offsets = events.stream().mapToLong((event) -> event.wall() - event.at()).sorted().toArray();
		this.offset = (offsets.length > 0) ? offsets[offsets.length / 2] : 0;
	}

	List<String> violations() {
		findChanges();
		checkSchedule();
		OTHERS.forEach((key, schedule) -> checkMissed(key));
		checkMissed(OperatedJob.RESCHEDULED);
		checkBackfills();
		countChanges();
		return this.violations;
	}

	/**
	 * From an order without an answer on, and from one that a server may have lost, it is
	 * not known which schedule holds, until the next one.
	 */
	private void findChanges() {
		Event asked = null;
		this.changes.put(Instant.MIN, new Change(OperatedJob.Schedule.ANNOTATED, ALWAYS));
		for (Event event : this.events) {
			if (event.kind() == Event.Kind.RESCHEDULING) {
				addUnknown(asked);
				asked = event;
			}
			else if (event.kind() == Event.Kind.RESCHEDULED && asked != null) {
				if (this.disturbances.stream().anyMatch((fault) -> fault.mayLoseCommitOf(event.at()))) {
					addUnknown(asked);
				}
				else {
					addChange(asked, event);
				}
				asked = null;
			}
		}
		addUnknown(asked);
	}

	/**
	 * One that does not hold yet is replaced: what held before goes on to.
	 */
	private void addChange(Event asked, Event answer) {
		NavigableMap<Instant, Change> pending = pending(asked);
		if (!pending.isEmpty()) {
			Instant from = pending.firstKey();
			boolean replaced = pending.get(from).schedule() != null && from.isAfter(time(answer.at() + NEAR));
			pending.clear();
			this.changes.put(from, new Change(replaced ? changeAt(from).schedule() : null, answer.at()));
		}
		this.changes.put(Objects.requireNonNull(answer.tick()),
				new Change(OperatedJob.Schedule.of(Objects.requireNonNull(answer.token())), answer.at()));
	}

	private void addUnknown(@Nullable Event asked) {
		if (asked != null) {
			NavigableMap<Instant, Change> pending = pending(asked);
			Instant from = pending.isEmpty() ? time(asked.at() + AHEAD) : pending.firstKey();
			pending.clear();
			this.changes.put(from, new Change(null, asked.at()));
		}
	}

	private NavigableMap<Instant, Change> pending(Event asked) {
		return this.changes.tailMap(time(asked.at() - NEAR), false);
	}

	private Instant time(long at) {
		return Instant.ofEpochMilli(at + this.offset);
	}

	private Change changeAt(Instant tick) {
		return this.changes.floorEntry(tick).getValue();
	}

	/**
	 * No tick begins before its time by the clock of its instance, unless that was just
	 * set, and none of another schedule than of that which holds at its time, in the
	 * version of the instance. One that a wrong clock has begun early was of a schedule
	 * that may have been replaced before that time.
	 */
	private void checkSchedule() {
		for (Event event : this.events) {
			Instant tick = (event.kind() == Event.Kind.START) ? event.tick() : null;
			if (tick != null && event.wall() < tick.toEpochMilli() - EARLY) {
				if (!isDisturbed(event.at(), event.at())) {
					this.violations.add("Begun before its time: " + event.toLine());
				}
			}
			else if (tick != null && OperatedJob.isRecorded(event.key())) {
				OperatedJob.Schedule schedule = scheduleOf(event.key(),
						Fleet.isAt(Fleet.NEXT_VERSION, event.instance()), tick);
				if (schedule != null && !schedule.has(tick)) {
					this.violations.add("No tick of the schedule " + schedule.cron() + ": " + event.toLine());
				}
			}
		}
	}

	private OperatedJob.@Nullable Schedule scheduleOf(String key, boolean nextVersion, Instant tick) {
		if (key.equals(OperatedJob.VERSIONED) && nextVersion) {
			return OperatedJob.Schedule.NEXT_VERSION;
		}
		return OTHERS.containsKey(key) ? OTHERS.get(key) : changeAt(tick).schedule();
	}

	/**
	 * From the first run of a complete fleet on each tick is executed, unless there was a
	 * fault at its time or when its schedule was to be learned, a wrong clock had a later
	 * one run before, or each instance that has it was drained or had set its timer by a
	 * wrong clock. The last ones are not asked for, as the instances stop then.
	 */
	private void checkMissed(String key) {
		long end = this.end - Disturbance.RECOVERY;
		long begin = this.events.stream()
			.filter((event) -> event.kind() == Event.Kind.START && event.key().equals(key))
			.mapToLong(Event::at)
			.min()
			.orElse(end);
		begin = Math.max(begin, complete());
		for (long second = (begin + this.offset) / 1000 + 1; second * 1000 - this.offset <= end; second++) {
			Instant tick = Instant.ofEpochSecond(second);
			Change change = OTHERS.containsKey(key) ? new Change(OTHERS.get(key), ALWAYS) : changeAt(tick);
			OperatedJob.Schedule schedule = change.schedule();
			if (schedule != null && schedule.has(tick) && !this.recorded.contains(new Execution(key, tick))) {
				long moment = second * 1000 - this.offset;
				long since = (moment < change.answered() + 2 * AHEAD) ? change.answered() : moment;
				if (!isDisturbed(since, moment + schedule.periodMillis()) && !isOvertaken(key, tick, moment)
						&& !isLeftToLateTimers(key, tick, moment)) {
					this.violations.add("Nobody ran the tick " + tick + " of " + key + " at " + moment);
				}
			}
		}
	}

	private boolean isOvertaken(String key, Instant tick, long moment) {
		return this.events.stream()
			.anyMatch((event) -> event.kind() == Event.Kind.START && event.key().equals(key) && event.at() < moment
					&& tick.isBefore(event.tick()));
	}

	private boolean isLeftToLateTimers(String key, Instant tick, long moment) {
		return IntStream.range(0, Fleet.SIZE)
			.filter((place) -> !key.equals(OperatedJob.ADDED) || place == Fleet.NEXT_VERSION)
			.allMatch((place) -> {
				OperatedJob.Schedule schedule = scheduleOf(key, place == Fleet.NEXT_VERSION, tick);
				return schedule == null || !schedule.has(tick) || isDrained(place, moment) || this.disturbances.stream()
					.anyMatch((fault) -> fault.mayDelayTimer(place, moment, schedule.periodMillis()));
			});
	}

	private boolean isDrained(int place, long moment) {
		boolean drained = false;
		for (Event event : this.events) {
			if (event.at() <= moment && Fleet.isAt(place, event.key())) {
				drained = (event.kind() == Event.Kind.DRAINED) || (drained && event.kind() != Event.Kind.DRAIN_ENDED);
			}
		}
		return drained;
	}

	/**
	 * Return when there was an instance at each place: one that is alone may be drained.
	 */
	private long complete() {
		return IntStream.range(0, Fleet.SIZE)
			.mapToObj(Fleet::name)
			.flatMap((place) -> this.events.stream().filter((event) -> event.instance().startsWith(place)).limit(1))
			.mapToLong(Event::at)
			.max()
			.orElse(0);
	}

	/**
	 * A backfill is answered as executed unless it is cancelled, or there was a fault.
	 * Then each of its ticks is by that time, and they are begun oldest first.
	 */
	private void checkBackfills() {
		Set<Instant> ended = new HashSet<>();
		Event last = null;
		Event asked = null;
		for (Event event : this.events) {
			if (!event.key().equals(OperatedJob.BACKFILLED)) {
				continue;
			}
			switch (event.kind()) {
				case BACKFILLING -> {
					last = null;
					asked = event;
				}
				case BACKFILLED -> {
					asked = null;
					checkBackfill(event, ended);
				}
				case CANCELLED -> asked = null;
				case LAST_TICK -> {
					if (asked != null && !isDisturbed(asked.at(), event.at())) {
						this.violations.add("Not answered as executed: " + asked.toLine());
					}
					asked = null;
				}
				case START -> {
					if (OperatedJob.isOver(event)) {
						if (last != null && Objects.requireNonNull(event.tick()).isBefore(last.tick())) {
							this.violations.add("Not oldest first: " + last.toLine() + " and " + event.toLine());
						}
						last = event;
					}
				}
				case END -> ended.add(Objects.requireNonNull(event.tick()));
				case DONE -> {
					if (OperatedJob.isOver(event)) {
						Act.count(this.acts, Act.BACKFILLED_TICK);
					}
				}
				default -> {
				}
			}
		}
	}

	/**
	 * What the ledger has in the end may be of a later backfill.
	 */
	private void checkBackfill(Event backfill, Set<Instant> ended) {
		for (int i = 1; i <= OperatedJob.BACKFILL; i++) {
			Instant tick = Objects.requireNonNull(backfill.tick()).minusSeconds((long) i * OperatedJob.BACKFILL_PERIOD);
			boolean recorded = this.recorded.contains(new Execution(OperatedJob.BACKFILLED, tick))
					|| this.disturbances.stream().anyMatch((fault) -> fault.mayLoseCommitOf(backfill.at()));
			if (!recorded || !ended.contains(tick)) {
				this.violations.add("Not executed by a backfill that was: " + tick + ", " + backfill.toLine());
			}
		}
	}

	private boolean isDisturbed(long from, long to) {
		return this.disturbances.stream().anyMatch((fault) -> fault.mayHaveStoppedWork(from, to));
	}

	private void countChanges() {
		OperatedJob.@Nullable Schedule before = OperatedJob.Schedule.ANNOTATED;
		for (Map.Entry<Instant, Change> entry : this.changes.entrySet()) {
			OperatedJob.Schedule schedule = entry.getValue().schedule();
			Instant next = this.changes.higherKey(entry.getKey());
			if (schedule != null && before != null && schedule != before
					&& this.recorded.stream()
						.anyMatch((executed) -> executed.key().equals(OperatedJob.RESCHEDULED)
								&& !executed.tick().isBefore(entry.getKey())
								&& (next == null || executed.tick().isBefore(next)))) {
				Act.count(this.acts, Act.OTHER_SCHEDULE);
			}
			before = schedule;
		}
	}

	/**
	 * Another schedule.
	 *
	 * @param schedule the schedule, {@code null} if that is not known
	 * @param answered when its order was answered
	 */
	private record Change(OperatedJob.@Nullable Schedule schedule, long answered) {

	}

}
