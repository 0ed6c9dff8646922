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

package io.github.advisorylock.interceptor;

import java.time.Duration;
import java.util.function.Supplier;

import io.github.advisorylock.LockRequest;
import io.github.advisorylock.support.RequestDetail;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of the ledger for the calls of one method.
 *
 * @param recorded whether runs are recorded
 * @param oncePerTick whether there is one run for each tick
 * @param schedule the ticks that the method is planned for
 * @param oncePerKey whether there is one run for each key
 * @param minInterval the time from the start of a run to that of the next, {@code null}
 * if any will do
 * @param catchUp for how long a tick is made up for that nobody has completed,
 * {@code null} if none is
 * @param maxRetries how often a tick that failed is tried again within that time
 * @param results how results are kept, {@code null} if none is
 * @since 0.1.0
 */
public record LedgerOperation(boolean recorded, boolean oncePerTick, ScheduledTicks schedule, boolean oncePerKey,
		@Nullable Duration minInterval, @Nullable Duration catchUp, int maxRetries, @Nullable ResultFormat results) {

	/**
	 * The longest time, a thousand years: what is longer means for ever, and has no room
	 * in a database or in Java's time.
	 */
	public static final Duration FOR_EVER = Duration.ofDays(365_250);

	/**
	 * Asks nothing.
	 */
	public static final LedgerOperation NONE = new LedgerOperation(false, false, ScheduledTicks.NONE, false, null, null,
			0, null);

	/**
	 * Asks for runs to be recorded.
	 */
	public static final LedgerOperation RECORDED = new LedgerOperation(true, false, ScheduledTicks.NONE, false, null,
			null, 0, null);

	/**
	 * Create what is asked, with no time longer than {@link #FOR_EVER}.
	 */
	public LedgerOperation {
		minInterval = (minInterval != null) ? bounded(minInterval) : null;
		catchUp = (catchUp != null) ? bounded(catchUp) : null;
	}

	/**
	 * Create what is asked, for a schedule that a refresh may change.
	 * @param recorded whether runs are recorded
	 * @param oncePerTick whether there is one run for each tick
	 * @param ticks parses the ticks, {@code null} if there are none; asked whenever a
	 * scheduler is given the method
	 * @param oncePerKey whether there is one run for each key
	 * @param minInterval the time from the start of a run to that of the next
	 * @param catchUp for how long a tick is made up for
	 * @param maxRetries how often a tick that failed is tried again
	 * @param results how results are kept, {@code null} to keep none
	 */
	public LedgerOperation(boolean recorded, boolean oncePerTick, Supplier<? extends @Nullable CronTicks> ticks,
			boolean oncePerKey, @Nullable Duration minInterval, @Nullable Duration catchUp, int maxRetries,
			@Nullable ResultFormat results) {
		this(recorded, oncePerTick, new ScheduledTicks(ticks), oncePerKey, minInterval, catchUp, maxRetries, results);
	}

	/**
	 * Return a duration that databases and instants have room for.
	 * @param duration the duration
	 * @return the duration, or {@link #FOR_EVER} if it is longer
	 */
	public static Duration bounded(Duration duration) {
		return (duration.compareTo(FOR_EVER) < 0) ? duration : FOR_EVER;
	}

	/**
	 * Return the ticks that the method is planned for now.
	 * @return the ticks, {@code null} while the method has no schedule
	 */
	public @Nullable CronTicks ticks() {
		return this.schedule.current();
	}

	/**
	 * Return whether the ledger has a say in whether a call runs, but for a pause.
	 * @return {@code true} if any attribute needs the ledger
	 */
	public boolean decides() {
		return this.oncePerTick || this.oncePerKey || this.minInterval != null;
	}

	/**
	 * Ask the ledger for what can be asked before a call.
	 * @param template what keys are made from
	 * @param now whether an operator asks for the run: the time does not matter then
	 */
	LockRequest apply(LockRequest request, String template, boolean now) {
		LockRequest applied = this.recorded ? request.with(new RequestDetail.Recorded(template)) : request;
		applied = (this.minInterval != null && !now) ? applied.minInterval(this.minInterval) : applied;
		applied = (this.catchUp != null) ? applied.with(new RequestDetail.Retries(false, this.maxRetries)) : applied;
		return this.oncePerKey ? applied.oncePerKey() : applied;
	}

	/**
	 * The text as which the results of one method are kept.
	 */
	public interface ResultFormat {

		/**
		 * Return what is kept of a result.
		 * @param result what the method returned, without the {@code Optional} or
		 * {@code LockResult} around it
		 * @return its text
		 * @throws RuntimeException if the result can't be written, or is too large
		 */
		String write(@Nullable Object result);

		/**
		 * Return a result that was kept.
		 * @param text its text
		 * @return the result, in the type of the method
		 * @throws RuntimeException if it can't be read any more
		 */
		@Nullable Object read(String text);

	}

}
