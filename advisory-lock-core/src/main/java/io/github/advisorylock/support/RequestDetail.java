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

package io.github.advisorylock.support;

import java.time.Duration;
import java.time.Instant;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * What the reader of an annotation asks for besides, and what nobody else has to know:
 * part of a {@linkplain LockRequest#with(Object) request}.
 *
 * @since 0.1.0
 */
public sealed interface RequestDetail {

	/**
	 * Return whether the ledger has to do with a request.
	 * @param request the request
	 * @return {@code true} if the run is to be recorded
	 */
	static boolean isRecorded(LockRequest request) {
		return request.isRecorded() || request.detail(Recorded.class) != null;
	}

	/**
	 * Make sure that a request asks for a lock alone, which can be held without any work.
	 * @param key what it asks for
	 * @param request the request
	 */
	static void checkHoldable(AdvisoryLockKey key, LockRequest request) {
		Assert.isTrue(request.scope() != LockScope.TRANSACTION,
				() -> "'request' must not ask for scope TRANSACTION, which ends with a transaction: advisory lock '"
						+ key + "' can't be held beyond it");
		Assert.isTrue(!isRecorded(request) && request.tick() == null && Interval.of(request) == null,
				() -> "'request' must not ask for the ledger, which records work that is executed: advisory lock '"
						+ key + "' can only be held");
	}

	/**
	 * Record the run in the ledger, and let it be paused there, even if nothing else is
	 * asked of the ledger.
	 *
	 * @param template the text that keys of this kind are made from, not empty: operators
	 * see them under it, rather than each on its own; the name of the key where that is
	 * the only one
	 */
	record Recorded(String template) implements RequestDetail {

		public Recorded {
			Assert.hasText(template, "'template' must not be empty");
		}

	}

	/**
	 * Tell a failed attempt of a tick from one that has vanished, as any instance makes
	 * up for that. A run that ends with its lock or its application has not failed. Means
	 * nothing without {@link LockRequest#oncePerTick}.
	 *
	 * @param backOff whether to wait after a failed attempt, whichever instance makes the
	 * next one: {@link LockOutcome#TOO_SOON} until then, first 30 s, at most 10 min, by
	 * the clock of the database; after the last one, and after a run that was told to
	 * end, until an operator has the tick tried again
	 * @param most how many attempts may follow the first one that fails, 0 or more,
	 * {@code null} if any number may
	 */
	record Retries(boolean backOff, @Nullable Integer most) implements RequestDetail {

		private static final Retries ANY = new Retries(false, null);

		public Retries {
			Assert.isTrue(most == null || most >= 0, "'most' must not be negative");
		}

		/**
		 * Return what a request says of failed attempts.
		 * @param request the request
		 * @return its retries
		 */
		public static Retries of(LockRequest request) {
			Retries retries = request.detail(Retries.class);
			return (retries != null) ? retries : ANY;
		}

	}

	/**
	 * Refuse a call that the schedule which holds has not planned: operators may have
	 * changed it. It is {@link LockOutcome#TOO_SOON}.
	 *
	 * @param changedAt tells when the schedule was changed last, as this instance knows
	 * now, {@code null} if it never was
	 * @param allowed tells whether the schedule that holds has planned the call, as far
	 * as is known now, given the tick of the request and the time of the database
	 */
	record Planned(Supplier<@Nullable Instant> changedAt,
			BiPredicate<@Nullable Instant, Instant> allowed) implements RequestDetail {

	}

	/**
	 * Do the work for a tick, be it that of a later one was done: an operator says so.
	 * The last tick is never moved back.
	 *
	 * @param again whether also if a run for this very tick has ended well, which is
	 * {@link LockOutcome#ALREADY_RAN} else
	 */
	record Backfill(boolean again) implements RequestDetail {

	}

	/**
	 * Keep what the work returns, in its transaction and as long as the key is
	 * remembered. Means nothing without {@link LockRequest#oncePerKey()}.
	 *
	 * @param format makes a text of it; what that throws fails the run
	 */
	record KeptResult(Function<@Nullable Object, String> format) implements RequestDetail {

	}

	/**
	 * Do the work once for an interval as long as the application lives that did it: the
	 * interval is remembered by a lock of its own until nine tenths of it are over. It is
	 * {@link LockOutcome#TOO_SOON} before that, unless the run failed.
	 *
	 * @param length the time, more than zero
	 * @param counted from when on it is counted
	 * @param schedule which of the schedules that call the work has it, in a few words
	 * that are the same on all instances: they need not agree on the length
	 */
	record Interval(Duration length, Counted counted, String schedule) implements RequestDetail {

		private static final Duration LONGEST = Duration.ofDays(36_500);

		public Interval {
			Assert.isTrue(length.compareTo(Duration.ZERO) > 0, "'length' must be more than zero");
		}

		/**
		 * Create the interval of the first schedule of some work.
		 * @param length the time, more than zero
		 * @param counted from when on it is counted
		 */
		public Interval(Duration length, Counted counted) {
			this(length, counted, "0");
		}

		/**
		 * Return the interval that a request is for.
		 * @param request the request
		 * @return the interval, {@code null} if there is none
		 */
		public static @Nullable Interval of(LockRequest request) {
			Interval interval = request.detail(Interval.class);
			Assert.isTrue(interval == null || request.tick() == null,
					"an interval and 'oncePerTick' must not be set both");
			return interval;
		}

		/**
		 * Return for how long a run keeps others from running: nine tenths, so that the
		 * next call of the same timer is not too soon if that is a little early, or the
		 * run began a little late. No longer than a century.
		 * @return the time
		 */
		public Duration memory() {
			Duration memory = this.length.minus(this.length.dividedBy(10));
			return (memory.compareTo(LONGEST) < 0) ? memory : LONGEST;
		}

		@Override
		public String toString() {
			return this.counted.attribute + "=" + this.length;
		}

		/**
		 * From when on an interval is counted.
		 */
		public enum Counted {

			/**
			 * From the begin of a run to that of the next.
			 */
			FROM_BEGIN("fixedRate"),

			/**
			 * From the end of a run to the begin of the next.
			 */
			FROM_END("fixedDelay");

			private final String attribute;

			Counted(String attribute) {
				this.attribute = attribute;
			}

		}

	}

}
