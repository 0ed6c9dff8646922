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
import java.util.Comparator;

import org.jspecify.annotations.Nullable;

/**
 * A line of a history.
 *
 * @param kind what happened
 * @param run the run that it happened to
 * @param instance the instance that says so
 * @param key the key of the run
 * @param tick the planned time that it is for
 * @param token its fencing token, the term of its leader, or for how many milliseconds a
 * call has waited
 * @param at milliseconds of the machine's own clock
 * @param wall milliseconds of the clock that the instance believes in
 * @param virtual whether a virtual thread says so
 */
record Event(Kind kind, String run, String instance, String key, @Nullable Instant tick, @Nullable Long token, long at,
		long wall, boolean virtual) {

	private static final String VIRTUAL = "virtual";

	/**
	 * The order of time. The clock moves in steps: at the same moment comes first what an
	 * operator is about to do, as others may do it at once.
	 */
	static final Comparator<Event> IN_TIME = Comparator.comparingLong(Event::at)
		.thenComparing((event) -> !event.kind().isAnnounced());

	/**
	 * Return the line that stands for this event.
	 */
	String toLine() {
		return String.join("\t", this.kind.name(), this.run, this.instance, this.key,
				(this.tick != null) ? this.tick.toString() : "-", (this.token != null) ? this.token.toString() : "-",
				Long.toString(this.at), Long.toString(this.wall), this.virtual ? VIRTUAL : "-");
	}

	/**
	 * Return the event that a line stands for.
	 */
	static Event parse(String line) {
		String[] part = line.split("\t");
		return new Event(Kind.valueOf(part[0]), part[1], part[2], part[3],
				part[4].equals("-") ? null : Instant.parse(part[4]), part[5].equals("-") ? null : Long.valueOf(part[5]),
				Long.parseLong(part[6]), Long.parseLong(part[7]), part[8].equals(VIRTUAL));
	}

	/**
	 * What may happen to a run, or to its instance.
	 */
	enum Kind {

		/**
		 * The work has begun.
		 */
		START,

		/**
		 * The work goes on.
		 */
		BEAT,

		/**
		 * The work was told that it has lost its lock.
		 */
		TOLD,

		/**
		 * The work has ended.
		 */
		END,

		/**
		 * The work was interrupted, or has failed.
		 */
		FAIL,

		/**
		 * The scheduler has said that the run was executed.
		 */
		DONE,

		/**
		 * The work has failed, or its transaction was rolled back, as planned.
		 */
		ROLLED_BACK,

		/**
		 * A call of the instance was answered, whether it ran or not. It is no event of a
		 * run, and none of the following is.
		 */
		TRIED,

		/**
		 * A call has got its lock.
		 */
		WAITED,

		/**
		 * A call has waited for its lock in vain.
		 */
		GAVE_UP,

		/**
		 * An operator has paused the key.
		 */
		PAUSED,

		/**
		 * An operator is about to resume the key.
		 */
		RESUMED,

		/**
		 * An operator is about to give the key another schedule, whose number is told.
		 */
		RESCHEDULING,

		/**
		 * An operator has given the key another schedule, from a time on.
		 */
		RESCHEDULED,

		/**
		 * An operator is about to backfill the key.
		 */
		BACKFILLING,

		/**
		 * The backfill of the key was answered: all its ticks up to a time are executed.
		 */
		BACKFILLED,

		/**
		 * An operator has cancelled the backfill of the key.
		 */
		CANCELLED,

		/**
		 * The last tick of the key, as the ledger has it.
		 */
		LAST_TICK,

		/**
		 * The instance has drained an instance, which is told as the key.
		 */
		DRAINED,

		/**
		 * The instance is about to resume an instance, which is told as the key.
		 */
		DRAIN_ENDED,

		/**
		 * The instance knows of so many members.
		 */
		MEMBERS;

		boolean isOfRun() {
			return compareTo(TRIED) < 0;
		}

		private boolean isAnnounced() {
			return this == RESUMED || this == RESCHEDULING || this == BACKFILLING || this == DRAIN_ENDED;
		}

	}

}
