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

package io.github.advisorylock.test;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.support.RequestDetail.Interval;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Decides whether work that has its lock may run: by the answer that the test has given,
 * else by pauses and by the keys and ticks that were completed in the test.
 */
final class InMemoryAnswers {

	private static final Duration MOST_AHEAD = Duration.ofMinutes(1);

	private static final Log logger = LogFactory.getLog(InMemoryLocks.class);

	private final Set<AdvisoryLockKey> told = ConcurrentHashMap.newKeySet();

	private final Map<AdvisoryLockKey, LockOutcome> given = new ConcurrentHashMap<>();

	private final Set<AdvisoryLockKey> paused = ConcurrentHashMap.newKeySet();

	/**
	 * What is kept of the results of completed keys.
	 */
	private final Map<AdvisoryLockKey, Optional<String>> completedKeys = new ConcurrentHashMap<>();

	private final Map<AdvisoryLockKey, NavigableSet<Instant>> completedTicks = new ConcurrentHashMap<>();

	/**
	 * Until when intervals are remembered, by the clock of {@link System#nanoTime()}.
	 */
	private final Map<AdvisoryLockKey, Map<Interval, Long>> intervals = new ConcurrentHashMap<>();

	void give(AdvisoryLockKey key, LockOutcome outcome) {
		this.given.put(key, outcome);
	}

	void setPaused(AdvisoryLockKey key, boolean paused) {
		if (paused) {
			this.paused.add(key);
		}
		else {
			this.paused.remove(key);
		}
	}

	void forget() {
		this.given.clear();
		this.paused.clear();
		this.completedKeys.clear();
		this.completedTicks.clear();
		this.intervals.clear();
	}

	/**
	 * Make sure that the answer to a request can be known here. A call that a scheduler
	 * makes each interval does without: it is no call of the test.
	 * @return whether the call may be made
	 * @throws UnsupportedOperationException if only PostgreSQL knows it
	 */
	boolean checkKnown(AdvisoryLockKey key, LockRequest request) {
		String unknown = (request.minInterval() != null) ? "'minInterval'" : (request.maxRun() != null) ? "'maxRun'"
				: RequestDetail.Retries.of(request).backOff() ? "'catchUp'" : null;
		if (unknown == null || this.given.containsKey(key)) {
			return true;
		}
		UnsupportedOperationException refusal = refusal(key, unknown,
				"; or decide in the test whether it runs, by answer(\"" + key.name()
						+ "\", LockOutcome.EXECUTED) of InMemoryLocks");
		if (RequestDetail.Interval.of(request) == null) {
			throw refusal;
		}
		if (this.told.add(key)) {
			logger.warn("Skipped a call by the scheduler. " + refusal.getMessage());
		}
		return false;
	}

	/**
	 * Return the refusal of what only PostgreSQL does.
	 * @param unsupported what is asked for
	 * @param otherwise what can be done but for a test on PostgreSQL, possibly nothing
	 */
	static UnsupportedOperationException refusal(AdvisoryLockKey key, String unsupported, String otherwise) {
		return new UnsupportedOperationException(
				"Failed to use advisory lock '" + key + "': locks in memory do not support " + unsupported
						+ "; have the test class run on PostgreSQL, by @AdvisoryLockTest(postgres = true), or by "
						+ "@SpringBootTest without @AutoConfigureInMemoryLocks" + otherwise);
	}

	LockOutcome decide(AdvisoryLockKey key, LockRequest request) {
		LockOutcome answer = this.given.get(key);
		if (answer != null) {
			return answer;
		}
		if (RequestDetail.isRecorded(request) && this.paused.contains(key)) {
			return LockOutcome.PAUSED;
		}
		Interval interval = RequestDetail.Interval.of(request);
		Long until = (interval != null) ? intervals(key).get(interval) : null;
		if (until != null && until - System.nanoTime() > 0) {
			return LockOutcome.TOO_SOON;
		}
		return isCompleted(key, request) ? LockOutcome.ALREADY_RAN : LockOutcome.EXECUTED;
	}

	/**
	 * A tick that is remembered without the ledger is completed by itself only, one of
	 * the ledger also by each later one.
	 */
	private boolean isCompleted(AdvisoryLockKey key, LockRequest request) {
		Instant tick = request.tick();
		if (tick == null) {
			return request.isOncePerKey() && this.completedKeys.containsKey(key);
		}
		if (!RequestDetail.isRecorded(request)) {
			return ticks(key).contains(tick);
		}
		Instant now = Instant.now();
		Assert.state(!tick.isAfter(now.plus(MOST_AHEAD)), () -> "Failed to run advisory lock '" + key + "' for tick "
				+ tick + ": it is ahead of the clock of this machine, which says " + now);
		return ticks(key).ceiling(tick) != null;
	}

	@Nullable String keptResult(AdvisoryLockKey key) {
		return this.completedKeys.getOrDefault(key, Optional.empty()).orElse(null);
	}

	/**
	 * Remember what was done.
	 * @param kept what is kept of the result
	 * @param begin when it began, by the clock of {@link System#nanoTime()}
	 */
	void complete(AdvisoryLockKey key, LockRequest request, Optional<String> kept, long begin) {
		Interval interval = RequestDetail.Interval.of(request);
		if (interval != null) {
			long since = (interval.counted() == Interval.Counted.FROM_BEGIN) ? begin : System.nanoTime();
			intervals(key).put(interval, since + interval.memory().toNanos());
		}
		Instant tick = request.tick();
		if (tick != null) {
			ticks(key).add(tick);
		}
		else if (request.isOncePerKey()) {
			this.completedKeys.put(key, kept);
		}
	}

	/**
	 * Forget what was completed in a transaction that was rolled back.
	 */
	void undo(AdvisoryLockKey key, LockRequest request) {
		if (RequestDetail.Interval.of(request) != null) {
			intervals(key).remove(RequestDetail.Interval.of(request));
		}
		Instant tick = request.tick();
		if (tick != null) {
			ticks(key).remove(tick);
		}
		else if (request.isOncePerKey()) {
			this.completedKeys.remove(key);
		}
	}

	private Map<Interval, Long> intervals(AdvisoryLockKey key) {
		return this.intervals.computeIfAbsent(key, (none) -> new ConcurrentHashMap<>());
	}

	private NavigableSet<Instant> ticks(AdvisoryLockKey key) {
		return this.completedTicks.computeIfAbsent(key, (none) -> new ConcurrentSkipListSet<>());
	}

}
