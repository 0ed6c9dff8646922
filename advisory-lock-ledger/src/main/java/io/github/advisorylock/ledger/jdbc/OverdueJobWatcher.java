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

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import io.github.advisorylock.log.LockLog;
import org.jspecify.annotations.Nullable;

/**
 * Warns of jobs of this application that are overdue, whichever instance should have run
 * them: once for each tick, and no more than once an hour for each job. Warns, too, of
 * those whose last tick is yet to come.
 */
final class OverdueJobWatcher {

	private static final Duration PERIOD = Duration.ofMinutes(1);

	private static final Duration PAUSE = Duration.ofHours(1);

	private final PostgresAdvisoryLockLedger ledger;

	private final RecordedMethodRegistry methods;

	private final LockScheduler.Ticker ticker;

	private final LockScheduler watch;

	private final Map<JobName, Warning> warnings = new HashMap<>();

	private final Map<JobName, Instant> future = new HashMap<>();

	OverdueJobWatcher(PostgresAdvisoryLockLedger ledger, RecordedMethodRegistry methods,
			LockScheduler.Threads threads) {
		this.ledger = ledger;
		this.methods = methods;
		this.ticker = threads.ticker();
		this.watch = LockScheduler.inTurn(threads);
	}

	void start() {
		this.watch.every(PERIOD, PERIOD,
				new SafeTask("Failed to look for overdue-jobs, will try again", () -> look(this.ticker.now())));
	}

	void stop() {
		this.watch.stop();
	}

	/**
	 * Look at the jobs of this application.
	 */
	synchronized void look(Instant now) {
		Map<JobName, AdvisoryLockKey> keys = this.methods.scheduled()
			.stream()
			.map(SingleRunnerMethod::fixedKey)
			.filter(Objects::nonNull)
			.collect(Collectors.toMap(JobName::of, (key) -> key, (one, same) -> one));
		if (keys.isEmpty() || !this.ledger.isOpen()) {
			return;
		}
		Map<JobName, JobRepository.LateJob> late = late(keys.keySet());
		if (late.values().stream().anyMatch((job) -> job.overdueTick() != null)) {
			// what is overdue may just have been completed by its holder
			late = late(keys.keySet());
		}
		for (Map.Entry<JobName, AdvisoryLockKey> key : keys.entrySet()) {
			look(key.getKey(), key.getValue(), late.get(key.getKey()), now);
		}
	}

	private void look(JobName name, AdvisoryLockKey key, JobRepository.@Nullable LateJob job, Instant now) {
		Instant tick = (job != null) ? job.overdueTick() : null;
		Warning last = this.warnings.get(name);
		if (job == null || tick == null) {
			this.warnings.remove(name);
		}
		else if (last == null || last.isOutdated(tick, now)) {
			this.warnings.put(name, new Warning(tick, now));
			LockLog.overdue(key, tick, job.lastTick());
		}
		lookAhead(name, key, job);
	}

	/**
	 * A tick of the future that is completed decides nothing.
	 */
	private void lookAhead(JobName name, AdvisoryLockKey key, JobRepository.@Nullable LateJob job) {
		Instant tick = (job != null && job.ahead()) ? job.lastTick() : null;
		if (job == null || tick == null) {
			this.future.remove(name);
		}
		else if (!tick.equals(this.future.put(name, tick))) {
			LockLog.futureTick(key, tick, job.clock());
		}
	}

	private Map<JobName, JobRepository.LateJob> late(Set<JobName> names) {
		return this.ledger.late()
			.stream()
			.filter((job) -> names.contains(job.name()))
			.collect(Collectors.toMap(JobRepository.LateJob::name, (job) -> job));
	}

	/**
	 * What was said last about a job.
	 */
	private record Warning(Instant tick, Instant at) {

		private boolean isOutdated(Instant tick, Instant now) {
			return !this.tick.equals(tick) && Duration.between(this.at, now).compareTo(PAUSE) >= 0;
		}

	}

}
