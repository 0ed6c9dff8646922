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

package io.github.advisorylock.ledger.jdbc;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which keys this instance has written runs of since they were last asked for, and how
 * many of each, so that nobody has to look for long histories in the whole table. Knows
 * some thousands of keys; those that come later than these are noted after the next
 * question.
 */
final class RecentKeys {

	private static final int MOST = 10_000;

	private final Map<JobName, Integer> runs = new ConcurrentHashMap<>();

	/**
	 * The jobs whose last tick that came here was run here.
	 */
	private final Set<JobName> ticks = ConcurrentHashMap.newKeySet();

	/**
	 * Note that a run was written. A key that was completed once and for all has no
	 * longer history to come, and need not be noted.
	 */
	void note(JobName name) {
		if (this.runs.size() < MOST || this.runs.containsKey(name)) {
			this.runs.merge(name, 1, Integer::sum);
		}
	}

	/**
	 * Return whether a tick is looked up before the lock is asked for: unless the last
	 * one was run here, it may be that of others. Whoever took the lock only to learn
	 * that would keep it from an instance whose clock is ahead, which asks for a later
	 * tick at that moment, and does not come again.
	 */
	boolean looksFirst(JobName name) {
		return !this.ticks.remove(name);
	}

	/**
	 * Note that a tick is run here.
	 */
	void noteTick(JobName name) {
		if (this.ticks.size() < MOST) {
			this.ticks.add(name);
		}
	}

	/**
	 * Return the keys and the numbers of their runs, and begin anew.
	 */
	Map<JobName, Integer> take() {
		Map<JobName, Integer> taken = new ConcurrentHashMap<>();
		this.runs.keySet().forEach((name) -> this.runs.computeIfPresent(name, (key, count) -> {
			taken.put(key, count);
			return null;
		}));
		return taken;
	}

}
