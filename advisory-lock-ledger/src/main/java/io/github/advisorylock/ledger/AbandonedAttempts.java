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

package io.github.advisorylock.ledger;

import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * What this instance has seen of runners that vanished in their transaction, which leaves
 * nothing behind: whoever runs the tick next writes it into the history.
 */
final class AbandonedAttempts {

	private final Map<JobName, Attempt> attempts = new ConcurrentHashMap<>();

	/**
	 * Note that somebody held the lock of a job, and that the lock is free although the
	 * tick is not completed. What was noted before of the job is forgotten.
	 * @param job the job
	 * @param tick the tick that is open
	 * @param holder who that was, as it is to stand in the history
	 * @param since when its transaction began, by the clock of the database
	 */
	void note(JobName job, Instant tick, String holder, Instant since) {
		this.attempts.put(job, new Attempt(tick, holder, since));
	}

	/**
	 * Return what was noted of a tick.
	 * @return what was seen, {@code null} if nothing was
	 */
	@Nullable Attempt find(JobName job, Instant tick) {
		Attempt attempt = this.attempts.get(job);
		return (attempt != null && attempt.tick.equals(tick)) ? attempt : null;
	}

	/**
	 * Return what was noted of a tick, and forget what was noted of its job.
	 * @return what was seen, {@code null} if nothing was
	 */
	@Nullable Attempt take(JobName job, Instant tick) {
		Attempt attempt = this.attempts.remove(job);
		return (attempt != null && attempt.tick.equals(tick)) ? attempt : null;
	}

	/**
	 * What was seen of a runner that vanished.
	 *
	 * @param tick the tick that it ran for
	 * @param holder who it was
	 * @param since when its transaction began
	 */
	record Attempt(Instant tick, String holder, Instant since) {
	}

}
