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

package io.github.advisorylock.actuate;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
import io.github.advisorylock.monitor.LockHolders.Holder;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Which run or tick an act is about: the one that the operator has looked at. Where
 * nothing is named, the present one is meant.
 *
 * @param run the fencing token of a run
 * @param since since when a run lasts, as the endpoint tells it, or, where that is not
 * known, a time at which it was under way
 * @param tick a tick
 * @param span the ticks of a backfill, {@code null} for another act
 */
record ActSubject(@Nullable Long run, @Nullable Instant since, @Nullable Instant tick, @Nullable Span span) {

	private static final int MOST_DIGITS = 18;

	private static final int LONGEST_TEXT = 1000;

	/**
	 * Read what a request names.
	 * @throws IllegalArgumentException if that is not what its state is about
	 */
	static ActSubject of(String state, @Nullable String run, @Nullable String since, @Nullable String tick,
			@Nullable String from, @Nullable String to, @Nullable String again) {
		Assert.isTrue((run == null && since == null) || OperatorActions.CANCELLED.equals(state),
				"'run' and 'since' are for state '" + OperatorActions.CANCELLED + "' only");
		Assert.isTrue(tick == null || OperatorActions.RETRIED.equals(state),
				"'tick' is for state '" + OperatorActions.RETRIED + "' only");
		Assert.isTrue(run == null || run.matches("\\d{1," + MOST_DIGITS + "}"),
				() -> "'run' must be a fencing token, not '" + AdvisoryLockKey.display(String.valueOf(run)) + "'");
		return new ActSubject((run != null) ? Long.valueOf(run) : null, instant("since", since), instant("tick", tick),
				Span.of(state, instant("from", from), instant("to", to), again));
	}

	/**
	 * Read a time. Its year has four digits, as PostgreSQL does not know all that Java
	 * has.
	 */
	static @Nullable Instant instant(String name, @Nullable String text) {
		if (text == null) {
			return null;
		}
		try {
			OffsetDateTime time = OffsetDateTime.parse(text);
			Assert.isTrue(time.getYear() >= 0 && time.getYear() <= 9999, "its year has not four digits");
			return time.toInstant();
		}
		catch (DateTimeParseException | IllegalArgumentException ex) {
			throw new IllegalArgumentException("'" + name + "' must be a time such as '2026-03-01T02:00:00Z', not '"
					+ AdvisoryLockKey.display(text) + "'", ex);
		}
	}

	/**
	 * Make sure that a text is none that no column has room for.
	 */
	static void checkText(String name, @Nullable String text) {
		Assert.isTrue(text == null || (text.length() <= LONGEST_TEXT && text.indexOf('\0') < 0),
				() -> "'" + name + "' must have no more than " + LONGEST_TEXT + " characters, none of them NUL");
	}

	/**
	 * Make sure that a tick is meant that is open.
	 */
	void checkTick(String key, @Nullable TickDescriptor open) {
		Instant present = (open != null) ? open.tick() : null;
		if (this.tick != null && !this.tick.equals(present)) {
			throw new RefusedException("The tick of " + this.tick + " of '" + AdvisoryLockKey.display(key)
					+ "' was not retried: " + ((present != null) ? "the one that is open is that of " + present
							: "it is completed, or a later one is"));
		}
	}

	/**
	 * Make sure that a run is meant that is under way.
	 * @param holder who holds the lock of its key
	 * @param last the last run of the key that is recorded, {@code null} without one
	 */
	void checkRun(AdvisoryLockKey key, Holder holder, @Nullable RunDescriptor last) {
		RunDescriptor open = open(holder, last);
		Instant begin = since(holder, last);
		boolean otherRun = this.run != null && last != null && last.fencingToken() != null
				&& ((open != null) ? !this.run.equals(last.fencingToken()) : this.run <= last.fencingToken());
		boolean otherBegin = this.since != null && begin != null
				&& !this.since.truncatedTo(ChronoUnit.MILLIS).equals(begin.truncatedTo(ChronoUnit.MILLIS));
		if (otherRun || otherBegin) {
			throw new RefusedException("'" + key + "' was not cancelled: another run is under way, on '"
					+ ((open != null) ? open.instance() : holder.instance()) + "'"
					+ ((begin != null) ? " since " + begin : "")
					+ ((open != null) ? " (run " + open.fencingToken() + ")" : ""));
		}
	}

	/**
	 * Return when the run was under way that is meant. One that has begun later is left
	 * alone by the instance that has it.
	 * @param looked when the holder was looked at
	 */
	Instant lookedAt(Instant looked, Holder holder, @Nullable RunDescriptor last) {
		return (this.since != null && this.since.isBefore(looked) && since(holder, last) == null) ? this.since : looked;
	}

	/**
	 * Return whether nothing but the instance that has the run can compare it.
	 */
	boolean isComparedThereOnly(Holder holder, @Nullable RunDescriptor last) {
		return (this.since != null && since(holder, last) == null) || (this.run != null && open(holder, last) == null);
	}

	/**
	 * Return since when a run lasts: as is recorded, or since the begin of the
	 * transaction that has its lock.
	 */
	static @Nullable Instant since(Holder holder, @Nullable RunDescriptor last) {
		RunDescriptor open = open(holder, last);
		return (open != null) ? open.startedAt() : holder.transactionStart();
	}

	private static @Nullable RunDescriptor open(Holder holder, @Nullable RunDescriptor last) {
		String instance = holder.instance();
		return (last != null && last.finishedAt() == null && instance != null && last.instance().endsWith(instance))
				? last : null;
	}

	/**
	 * The ticks of a backfill.
	 *
	 * @param from the first time
	 * @param to the first time that does not belong to it
	 * @param again whether ticks are meant that were executed, too
	 */
	record Span(Instant from, Instant to, boolean again) {

		private static @Nullable Span of(String state, @Nullable Instant from, @Nullable Instant to,
				@Nullable String again) {
			if (!OperatorActions.BACKFILLED.equals(state)) {
				Assert.isTrue(from == null && to == null && again == null,
						"'from', 'to' and 'again' are for state '" + OperatorActions.BACKFILLED + "' only");
				return null;
			}
			Assert.isTrue(from != null && to != null && from.isBefore(to),
					"'from' and 'to' must be times, the first one before the second");
			Assert.isTrue(again == null || List.of("true", "false").contains(again), "'again' must be true or false");
			return new Span(from, to, Boolean.parseBoolean(again));
		}

	}

	/**
	 * Thrown when the holder of a lock can't be dealt with as it is, or what is meant is
	 * over.
	 */
	static final class RefusedException extends IllegalStateException {

		RefusedException(String reason) {
			super(reason);
		}

	}

}
