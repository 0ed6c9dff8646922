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
import java.util.Arrays;
import java.util.List;

/**
 * What a method runs on a plan of its own, and an operator acts on meanwhile.
 */
final class OperatedJob {

	/**
	 * Gets another schedule again and again.
	 */
	static final String RESCHEDULED = "rescheduled:tick";

	/**
	 * Has ticks of times that are over run, oldest first, and its own meanwhile.
	 */
	static final String BACKFILLED = "backfilled:tick";

	/**
	 * Is planned less often, and by another method, in the next version of the
	 * application.
	 */
	static final String VERSIONED = "versioned:tick";

	/**
	 * Is a method's that only the next version of the application has.
	 */
	static final String ADDED = "added:tick";

	/**
	 * How many members an instance knows of.
	 */
	static final String MEMBERS = "members";

	/**
	 * The time between two ticks of {@link #BACKFILLED}, in seconds.
	 */
	static final int BACKFILL_PERIOD = 20;

	/**
	 * How many ticks one backfill has.
	 */
	static final int BACKFILL = 8;

	/**
	 * Ticks that are older are backfilled, in seconds.
	 */
	private static final int OVER = 600;

	/**
	 * In how many shards a role is led.
	 */
	static final int SHARDS = 6;

	private static final String SHARD = "shard#";

	private OperatedJob() {
	}

	/**
	 * Return the key of the work for a shard.
	 */
	static String shard(int shard) {
		return SHARD + shard;
	}

	static boolean isShard(String key) {
		return key.startsWith(SHARD);
	}

	/**
	 * Return whether a key is one of an annotated method whose ticks the ledger records,
	 * in a transaction that has the effect, too.
	 */
	static boolean isRecorded(String key) {
		return List.of(RESCHEDULED, BACKFILLED, VERSIONED, ADDED).contains(key);
	}

	/**
	 * Return whether an event is one of a tick that only a backfill runs.
	 */
	static boolean isOver(Event event) {
		Instant tick = event.tick();
		return tick != null && tick.isBefore(Instant.ofEpochMilli(event.wall()).minusSeconds(OVER));
	}

	/**
	 * A schedule of {@link #RESCHEDULED}, or of one of the others.
	 */
	enum Schedule {

		/**
		 * That of the annotation.
		 */
		ANNOTATED("*/3 * * * * *", 3, 0),

		/**
		 * That of the operator.
		 */
		OTHER("1/5 * * * * *", 5, 1),

		/**
		 * That of {@link #VERSIONED}: the ticks of both versions.
		 */
		VERSION("*/4 * * * * *", 4, 0),

		/**
		 * That of {@link #VERSIONED} in the next version.
		 */
		NEXT_VERSION("*/12 * * * * *", 12, 0),

		/**
		 * That of {@link #ADDED}.
		 */
		ADDED_TICKS("2/6 * * * * *", 6, 2),

		/**
		 * That of {@link #BACKFILLED}.
		 */
		BACKFILLED("*/20 * * * * *", BACKFILL_PERIOD, 0);

		static final String ANNOTATION = "*/3 * * * * *";

		private final String cron;

		private final int seconds;

		private final int offset;

		Schedule(String cron, int seconds, int offset) {
			this.cron = cron;
			this.seconds = seconds;
			this.offset = offset;
		}

		static Schedule of(long number) {
			return Arrays.asList(values()).get((int) number);
		}

		String cron() {
			return this.cron;
		}

		/**
		 * Return whether a time is one of its ticks.
		 */
		boolean has(Instant tick) {
			return tick.getNano() == 0 && tick.getEpochSecond() % this.seconds == this.offset;
		}

		long periodMillis() {
			return this.seconds * 1000L;
		}

	}

}
