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
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.support.RequestDetail.Interval;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether work that has its lock may run: by the answer that the test has given,
 * else by pauses and by the keys and ticks that were completed in the test.
 */
final class InMemoryAnswers {

	/**
	 * As long as a call waits for the end of an interval on PostgreSQL.
	 */
	private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

	private static final Log logger = LogFactory.getLog(InMemoryLocks.class);

	private final Set<AdvisoryLockKey> told = ConcurrentHashMap.newKeySet();

	private final Map<AdvisoryLockKey, LockOutcome> given = new ConcurrentHashMap<>();

	private final Set<AdvisoryLockKey> paused = ConcurrentHashMap.newKeySet();

	/**
	 * What is kept of the results of completed keys, and until when.
	 */
	private final Map<AdvisoryLockKey, Completed> completedKeys = new ConcurrentHashMap<>();

	private final Map<AdvisoryLockKey, InMemoryJob> jobs = new ConcurrentHashMap<>();

	/**
	 * What a lock remembers: ticks, and intervals by the names of their schedules.
	 */
	private final Map<AdvisoryLockKey, Map<Object, Remembered>> remembered = new ConcurrentHashMap<>();

	private final AtomicLong tokens = new AtomicLong();

	private final @Nullable VirtualTime time;

	/**
	 * Create answers.
	 * @param time the time to go by, {@code null} for that of the machine
	 */
	InMemoryAnswers(@Nullable VirtualTime time) {
		this.time = time;
	}

	private Instant now() {
		return (this.time != null) ? this.time.now() : Instant.now();
	}

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
		this.jobs.clear();
		this.remembered.clear();
	}

	/**
	 * Make sure that the answer to a request can be known here. A call that a scheduler
	 * makes each interval does without: it is no call of the test.
	 * @return whether the call may be made
	 * @throws UnsupportedOperationException if only PostgreSQL knows it
	 */
	boolean checkKnown(AdvisoryLockKey key, LockRequest request) {
		String unknown = (this.time != null) ? null
				: (request.minInterval() != null) ? "'minInterval'" : (request.maxRun() != null) ? "'maxRun'"
						: RequestDetail.Retries.of(request).backOff() ? "'catchUp'" : null;
		if (unknown == null || this.given.containsKey(key)) {
			return true;
		}
		UnsupportedOperationException refusal = refusal(key, unknown,
				"; or decide in the test whether it runs, by answer(\"" + key.name()
						+ "\", LockOutcome.EXECUTED) of InMemoryLocks");
		if (Interval.of(request) == null) {
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
		return new UnsupportedOperationException("Failed to use advisory lock '" + key
				+ "': locks in memory do not support " + unsupported
				+ "; let the test be a @FleetTest, or have it run on PostgreSQL, by @AdvisoryLockTest(postgres = true) or "
				+ "@SpringBootTest without @AutoConfigureInMemoryLocks" + otherwise);
	}

	LockOutcome decide(AdvisoryLockKey key, LockRequest request) {
		LockOutcome answer = this.given.get(key);
		if (answer != null) {
			return answer;
		}
		LockOutcome outcome = remembered(key, request);
		RequestDetail.Planned planned = request.detail(RequestDetail.Planned.class);
		boolean other = planned != null && planned.changedAt().get() != null
				&& !planned.allowed().test(request.tick(), now());
		return other ? LockOutcome.TOO_SOON : outcome;
	}

	private LockOutcome remembered(AdvisoryLockKey key, LockRequest request) {
		if (RequestDetail.isRecorded(request) && this.paused.contains(key)) {
			return LockOutcome.PAUSED;
		}
		Remembered run = run(key, request);
		if (run != null && run.until.isAfter(now())) {
			return (Interval.of(request) != null) ? LockOutcome.TOO_SOON : LockOutcome.ALREADY_RAN;
		}
		if (request.isOncePerKey() && isCompleted(key)) {
			return LockOutcome.ALREADY_RAN;
		}
		return RequestDetail.isRecorded(request) ? job(key).decide(key.toString(), request, now())
				: LockOutcome.EXECUTED;
	}

	/**
	 * Return whether the lock of the very instance that asks remembers a run: it asks
	 * nobody then.
	 */
	boolean remembers(AdvisoryLockKey key, LockRequest request, InMemoryLockOperations instance) {
		Remembered run = run(key, request);
		return run != null && run.instance == instance && run.until.isAfter(now());
	}

	/**
	 * Return for how long a call for an interval waits that its own instance has run: one
	 * that began late makes the next come too soon.
	 */
	Duration untilEndOfInterval(AdvisoryLockKey key, LockRequest request, InMemoryLockOperations instance) {
		Remembered run = run(key, request);
		Interval interval = Interval.of(request);
		if (run == null || run.instance != instance || interval == null) {
			return Duration.ZERO;
		}
		Duration left = Duration.between(now(), run.until);
		Duration half = interval.length().dividedBy(2);
		boolean soon = left.compareTo(half) <= 0 && left.compareTo(LONGEST_WAIT) <= 0;
		return (soon && !left.isNegative()) ? left : Duration.ZERO;
	}

	private @Nullable Remembered run(AdvisoryLockKey key, LockRequest request) {
		Object remembered = remembered(request);
		return (remembered != null) ? memory(key).get(remembered) : null;
	}

	private boolean isCompleted(AdvisoryLockKey key) {
		Completed completed = this.completedKeys.get(key);
		return completed != null && completed.until.isAfter(now());
	}

	InMemoryJob job(AdvisoryLockKey key) {
		return this.jobs.computeIfAbsent(key, (none) -> new InMemoryJob());
	}

	boolean hasJob(AdvisoryLockKey key) {
		return this.jobs.containsKey(key);
	}

	boolean isPaused(AdvisoryLockKey key) {
		return this.paused.contains(key);
	}

	/**
	 * Begin a run that may run.
	 * @param written whether the ledger has it from its begin on
	 */
	InMemoryJob.Attempt begin(AdvisoryLockKey key, LockRequest request, boolean written) {
		return job(key).begin(request, this.tokens.incrementAndGet(), now(), written && keepsJob(request));
	}

	private static boolean keepsJob(LockRequest request) {
		return RequestDetail.isRecorded(request) && (!request.isOncePerKey() || request.minInterval() != null);
	}

	/**
	 * Forget what the locks of an instance remember.
	 */
	void forget(FleetInstance instance) {
		this.remembered.values()
			.forEach((runs) -> runs.values().removeIf((run) -> run.instance.instance() == instance));
	}

	@Nullable String keptResult(AdvisoryLockKey key) {
		Completed completed = this.completedKeys.get(key);
		return (completed != null) ? completed.kept.orElse(null) : null;
	}

	/**
	 * Remember what was done.
	 * @param kept what is kept of the result
	 * @param attempt what has begun
	 * @param instance whose locks remember it
	 * @return what undoes that, for a transaction that is rolled back; {@code null} if
	 * another run has come between
	 */
	@Nullable Runnable complete(AdvisoryLockKey key, LockRequest request, Optional<String> kept, InMemoryJob.Attempt attempt,
			InMemoryLockOperations instance) {
		Runnable undo = job(key).undo();
		boolean done = keepsJob(request) && !job(key).complete(request, attempt, now());
		if ((done || (request.isOncePerKey() && isCompleted(key))) && !this.given.containsKey(key)) {
			return null;
		}
		if (request.isOncePerKey()) {
			this.completedKeys.put(key, new Completed(kept, now().plus(instance.rememberKeys())));
		}
		Object remembered = remembered(request);
		if (remembered != null) {
			memory(key).values().removeIf((run) -> !run.until.isAfter(now()));
			memory(key).put(remembered, new Remembered(instance, until(request, attempt.startedAt())));
		}
		return () -> {
			undo.run();
			if (request.isOncePerKey()) {
				this.completedKeys.remove(key);
			}
			if (remembered != null) {
				memory(key).remove(remembered);
			}
		};
	}

	void fail(AdvisoryLockKey key, LockRequest request, InMemoryJob.Attempt attempt, InMemoryJob.BadEnd end) {
		if (keepsJob(request)) {
			double chance = (this.time != null) ? this.time.upTo(Duration.ofSeconds(1)).toMillis() / 1000.0 : 0;
			job(key).fail(request, attempt, end, now(), chance);
		}
	}

	private static @Nullable Object remembered(LockRequest request) {
		Interval interval = Interval.of(request);
		return (interval != null) ? interval.schedule() : (request.memory() != null) ? request.tick() : null;
	}

	private Instant until(LockRequest request, Instant begin) {
		Interval interval = Interval.of(request);
		if (interval != null) {
			return ((interval.counted() == Interval.Counted.FROM_BEGIN) ? begin : now()).plus(interval.memory());
		}
		return (request.memory() != null) ? now().plus(request.memory()) : now();
	}

	private Map<Object, Remembered> memory(AdvisoryLockKey key) {
		return this.remembered.computeIfAbsent(key, (none) -> new ConcurrentHashMap<>());
	}

	/**
	 * What is kept of a completed key.
	 *
	 * @param kept the result
	 * @param until when it is forgotten
	 */
	private record Completed(Optional<String> kept, Instant until) {

	}

	/**
	 * A run that a lock remembers.
	 *
	 * @param instance whose lock
	 * @param until for how long
	 */
	private record Remembered(InMemoryLockOperations instance, Instant until) {

	}

}
