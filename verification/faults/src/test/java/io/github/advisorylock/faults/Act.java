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

import java.util.Map;

/**
 * What operators do, and what comes of it: a trial without it shows nothing of its rules.
 */
enum Act {

	/**
	 * An instance was drained, and its calls were answered meanwhile.
	 */
	DRAIN,

	/**
	 * A tick that was over was executed by a backfill.
	 */
	BACKFILLED_TICK,

	/**
	 * A backfill was cancelled.
	 */
	CANCELLED_BACKFILL,

	/**
	 * A tick of another schedule than before was executed, the first one.
	 */
	OTHER_SCHEDULE,

	/**
	 * A shard had another leader than before.
	 */
	HANDOVER,

	/**
	 * An instance counted the members when nothing had happened for a while.
	 */
	COUNT,

	/**
	 * A leader of shards was compared with its share when nothing had happened for a
	 * while.
	 */
	SHARE,

	/**
	 * Two ticks that followed one another were begun in turn when nothing had happened
	 * for a while.
	 */
	TURN;

	static void count(Map<Act, Integer> acts, Act act) {
		acts.merge(act, 1, Integer::sum);
	}

	/**
	 * Return whether it takes a time without faults, which a short trial does not have.
	 */
	boolean needsCalm() {
		return this == COUNT || this == SHARE || this == TURN;
	}

}
