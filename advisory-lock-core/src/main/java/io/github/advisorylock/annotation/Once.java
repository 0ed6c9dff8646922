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

package io.github.advisorylock.annotation;

/**
 * How often the work of a {@link SingleRunner} method is done.
 *
 * @since 0.1.0
 */
public enum Once {

	/**
	 * Once for each time that a cron schedule or a trigger has planned, as long as the
	 * instance lives that has done it. That time belongs to the scheduled call: each
	 * method that it calls, directly, through other beans or by {@code @Async}, is called
	 * for it, each key until a run has come to a good end, but for calls inside a run
	 * that has it. A lock remembers a hundred keys of a scheduled call at most. A run
	 * that failed does not count. Needs no table: the tick is remembered by a lock of its
	 * own on the connection of session locks, for half the time to the next one, or
	 * thirty seconds where that is not known, and at most
	 * {@code advisory-lock.remember-ticks}; where the runs of the method are recorded in
	 * the ledger anyway, it is remembered there.
	 * <p>
	 * Once for each interval of a fixed rate or a fixed delay, in the same way: a lock
	 * remembers the run until nine tenths of the interval are over, counted from the
	 * begin of the run, or from its end for a delay.
	 * <p>
	 * Not for a method with several {@link SingleRunner#permits() permits}: a tick or an
	 * interval has one run, and these are for several.
	 * <p>
	 * All other calls and methods are as with {@link #NONE}.
	 */
	AUTO,

	/**
	 * Whenever the method is called and the lock is free.
	 */
	NONE,

	/**
	 * Once for each planned time of the method's cron schedule, whatever the clocks of
	 * the instances say and whoever dies: the ledger remembers it. A run that failed does
	 * not count.
	 */
	PER_TICK,

	/**
	 * Once for each key, for as long as the ledger remembers it,
	 * {@code advisory-lock.ledger.remember-keys}. A run that failed does not count.
	 */
	PER_KEY

}
