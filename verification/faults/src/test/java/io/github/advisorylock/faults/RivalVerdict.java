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

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * What the histories of the instances of one contestant say. Knows nothing of the
 * contestant.
 *
 * @param planned how many ticks there were
 * @param doubles runs that began while another had not ended, or for a tick that had been
 * completed
 * @param lost ticks that no run completed, and that did not fall into the time of another
 * run that showed signs of life
 * @param repeats runs for a tick that was completed, where the contestant itself says
 * which tick a run is for
 */
record RivalVerdict(int planned, int doubles, int lost, int repeats) {

	/**
	 * A run that goes on says so this often at least, in milliseconds.
	 */
	private static final long ALIVE = 1000;

	/**
	 * How much before its tick a timer may fire, in milliseconds.
	 */
	private static final long EARLY = 50;

	/**
	 * Judge.
	 * @param histories the events of each process, in the order in which they happened
	 * @param period the time between two ticks
	 * @param from the first time that counts, in milliseconds of the wall
	 * @param to the end of the last tick that counts
	 */
	static RivalVerdict of(List<List<Event>> histories, Duration period, long from, long to) {
		List<Run> runs = new ArrayList<>();
		for (List<Event> history : histories) {
			runs.addAll(runs(history, period.toMillis()));
		}
		runs.sort(Comparator.comparingLong((run) -> run.signs.get(0)));
		int planned = 0;
		int lost = 0;
		for (long tick = ceil(from, period.toMillis()); tick + period.toMillis() <= to; tick += period.toMillis()) {
			planned++;
			if (isLost(runs, tick)) {
				lost++;
			}
		}
		return new RivalVerdict(planned, doubles(runs), lost, repeats(runs));
	}

	private static List<Run> runs(List<Event> history, long period) {
		Map<String, Run> runs = new HashMap<>();
		List<Run> all = new ArrayList<>();
		for (Event event : history) {
			if (event.kind() == Event.Kind.START) {
				Run run = new Run(tick(event.tick(), event.wall(), period), event.tick() != null);
				all.add(run);
				runs.put(event.run(), run);
			}
			Run run = runs.get(event.run());
			run.signs.add(event.wall());
			run.completed |= event.kind() == Event.Kind.END;
		}
		return all;
	}

	private static long tick(@Nullable Instant tick, long start, long period) {
		return (tick != null) ? tick.toEpochMilli() : (start + EARLY) / period * period;
	}

	private static long ceil(long time, long period) {
		return (time + period - 1) / period * period;
	}

	private static int doubles(List<Run> runs) {
		int doubles = 0;
		for (int i = 0; i < runs.size(); i++) {
			Run run = runs.get(i);
			if (runs.subList(0, i)
				.stream()
				.anyMatch((earlier) -> run.signs.get(0) < earlier.end()
						|| (earlier.completed && earlier.tick == run.tick))) {
				doubles++;
			}
		}
		return doubles;
	}

	private static int repeats(List<Run> runs) {
		Set<Long> completed = new HashSet<>();
		int repeats = 0;
		for (Run run : runs.stream().filter((run) -> run.named).toList()) {
			if (completed.contains(run.tick)) {
				repeats++;
			}
			if (run.completed) {
				completed.add(run.tick);
			}
		}
		return repeats;
	}

	private static boolean isLost(List<Run> runs, long tick) {
		return runs.stream().noneMatch((run) -> (run.tick == tick) ? run.completed : run.isAliveAt(tick));
	}

	private static final class Run {

		private final long tick;

		private final boolean named;

		private final List<Long> signs = new ArrayList<>();

		private boolean completed;

		private Run(long tick, boolean named) {
			this.tick = tick;
			this.named = named;
		}

		private long end() {
			return this.signs.get(this.signs.size() - 1);
		}

		private boolean isAliveAt(long time) {
			for (int i = 1; i < this.signs.size(); i++) {
				long before = this.signs.get(i - 1);
				long after = this.signs.get(i);
				if (before <= time && time <= after && after - before <= ALIVE) {
					return true;
				}
			}
			return false;
		}

	}

}
