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

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.jdbc.GuardedTask;
import io.github.advisorylock.jdbc.LockScheduler;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.log.LockLog;
import org.jspecify.annotations.Nullable;

/**
 * Warns of jobs of this application that are overdue, whichever instance should have run
 * them: once for each tick, and no more than once an hour for each job.
 */
final class OverdueJobWatcher {

	private static final Duration PERIOD = Duration.ofMinutes(1);

	private static final Duration PAUSE = Duration.ofHours(1);

	private final PostgresAdvisoryLockLedger ledger;

	private final RecordedMethodRegistry methods;

	private final PostgresAdvisoryLockTemplate locks;

	private final LockScheduler watch = new LockScheduler("advisory-lock-watch-overdue-jobs");

	private final Map<AdvisoryLockKey, Warning> warnings = new HashMap<>();

	OverdueJobWatcher(PostgresAdvisoryLockLedger ledger, RecordedMethodRegistry methods,
			PostgresAdvisoryLockTemplate locks) {
		this.ledger = ledger;
		this.methods = methods;
		this.locks = locks;
	}

	void start() {
		this.watch.every(PERIOD, PERIOD,
				new GuardedTask("Failed to look for overdue-jobs, will try again", () -> look(Instant.now())));
	}

	void stop() {
		this.watch.stop();
	}

	/**
	 * Look at all jobs, with one query as long as none seems overdue.
	 */
	synchronized void look(Instant now) {
		if (!this.ledger.isOpen()) {
			return;
		}
		List<JobName> names = this.methods.scheduled()
			.stream()
			.map(SingleRunnerMethod::fixedKey)
			.filter(Objects::nonNull)
			.map(JobName::of)
			.distinct()
			.toList();
		Map<JobName, LedgerJob> jobs = this.ledger.jobs(names)
			.stream()
			.collect(Collectors.toMap(JobName::of, Function.identity()));
		for (SingleRunnerMethod method : this.methods.scheduled()) {
			AdvisoryLockKey key = method.fixedKey();
			LedgerJob job = (key != null) ? jobs.get(JobName.of(key)) : null;
			if (key != null && job != null) {
				look(method, key, job, now);
			}
		}
	}

	private void look(SingleRunnerMethod method, AdvisoryLockKey key, LedgerJob job, Instant now) {
		Instant tick = overdueTick(method, key, job, now);
		Warning last = this.warnings.get(key);
		if (tick == null) {
			this.warnings.remove(key);
		}
		else if (last == null || last.isOutdated(tick, now)) {
			this.warnings.put(key, new Warning(tick, now));
			LockLog.overdue(key, tick, job.lastTick());
		}
	}

	/**
	 * A job that nobody runs may just have ended, so the ledger is asked again then.
	 */
	private @Nullable Instant overdueTick(SingleRunnerMethod method, AdvisoryLockKey key, LedgerJob job, Instant now) {
		if (job.overdueTick(method.operation().ledger(), now) == null || this.locks.isHeldAnywhere(key)) {
			return null;
		}
		Optional<LedgerJob> again = this.ledger.job(JobName.of(key));
		return again.map((current) -> current.overdueTick(method.operation().ledger(), now)).orElse(null);
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
