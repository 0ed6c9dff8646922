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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.jdbc.LockScheduler;
import io.github.advisorylock.jdbc.SafeTask;
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

	private final Map<AdvisoryLockKey, Warning> warnings = new HashMap<>();

	private final Map<AdvisoryLockKey, Instant> future = new HashMap<>();

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
	 * Look at the jobs of this application, with one statement as long as none seems
	 * overdue.
	 */
	synchronized void look(Instant now) {
		List<SingleRunnerMethod> methods = this.methods.scheduled()
			.stream()
			.filter((method) -> method.fixedKey() != null)
			.toList();
		if (!methods.isEmpty() && this.ledger.isOpen()) {
			// what seems overdue may just have been completed by its holder
			look(look(methods, now, false), now, true);
		}
	}

	/**
	 * Look at the jobs of some methods.
	 * @param certain whether they were looked at just before
	 * @return those that are to be looked at again
	 */
	private List<SingleRunnerMethod> look(List<SingleRunnerMethod> methods, Instant now, boolean certain) {
		if (methods.isEmpty()) {
			return methods;
		}
		List<ObservedJob> jobs = this.ledger.observe(methods.stream().map(OverdueJobWatcher::key).toList());
		List<SingleRunnerMethod> uncertain = new ArrayList<>();
		for (int i = 0; i < jobs.size(); i++) {
			SingleRunnerMethod method = methods.get(i);
			LedgerJob job = jobs.get(i).job();
			if (job == null) {
				continue;
			}
			lookAhead(key(method), job, jobs.get(i).clock());
			Instant tick = jobs.get(i).isHeld() ? null : job.overdueTick(method.operation().ledger(), now);
			if (tick != null && !certain) {
				uncertain.add(method);
			}
			else {
				look(key(method), job, tick, now);
			}
		}
		return uncertain;
	}

	private void look(AdvisoryLockKey key, LedgerJob job, @Nullable Instant tick, Instant now) {
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
	 * A tick of the future that is completed keeps all others from being run until then.
	 */
	private void lookAhead(AdvisoryLockKey key, LedgerJob job, Instant clock) {
		Instant tick = job.lastTick();
		if (tick == null || !tick.isAfter(clock.plus(LedgerJob.MOST_AHEAD))) {
			this.future.remove(key);
		}
		else if (!tick.equals(this.future.put(key, tick))) {
			LockLog.futureTick(key, tick, clock);
		}
	}

	private static AdvisoryLockKey key(SingleRunnerMethod method) {
		return Objects.requireNonNull(method.fixedKey(), "'fixedKey' must not be null");
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
