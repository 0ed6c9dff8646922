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

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockBusyException;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.ledger.LedgerRun;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Runs ticks of a job that an operator wants to be run, one after the other, each under
 * the lock of the job. Between two it lets others have the lock, and makes the call for a
 * tick that has come meanwhile, which was skipped while a run held it.
 */
final class Backfill implements Supplier<LockOutcome> {

	private static final Log logger = LogFactory.getLog(Backfill.class);

	private static final int MOST_TICKS = 1000;

	private static final int MOST_COUNTED = 100_000;

	/**
	 * For how long others can have the lock between two runs.
	 */
	private static final long PAUSE_MILLIS = 100;

	private final BackfillRepository repository;

	private final JobName job;

	private final Work work;

	private final CronTicks schedule;

	private final boolean again;

	private final BooleanSupplier stopping;

	private final LockScheduler.Ticker ticker;

	private final List<Instant> ticks;

	private final Instant startedAt;

	private Instant latest;

	private int done;

	private int skipped;

	/**
	 * Begin a backfill.
	 * @param work runs the job, {@code null} if this instance can't
	 * @param again whether also ticks are run that were executed
	 * @param stopping knows whether the application is being shut down
	 * @param ticker the clock
	 * @throws IllegalArgumentException if there is no tick from the one time to the
	 * other, or too many
	 * @throws IllegalStateException if this instance can't run ticks of the job, or it is
	 * paused, or another backfill of it is under way
	 */
	Backfill(BackfillRepository repository, JobName job, @Nullable Work work, Instant from, Instant to, boolean again,
			String by, BooleanSupplier stopping, LockScheduler.Ticker ticker) {
		CronTicks schedule = (work != null) ? work.ticks(ticker.now()) : null;
		Assert.state(work != null && schedule != null,
				() -> failed(job) + "this instance has no method of that key that the ledger records, with one cron "
						+ "schedule, without arguments, and with 'once' as PER_TICK or AUTO");
		Assert.state(!stopping.getAsBoolean(), () -> failed(job) + "this instance is being shut down");
		this.repository = repository;
		this.job = job;
		this.work = work;
		this.schedule = schedule;
		this.again = again;
		this.stopping = stopping;
		this.ticker = ticker;
		this.latest = ticker.now();
		this.ticks = ticks(from, to);
		this.startedAt = repository.begin(job, from, to, this.ticks.size(), by)
			.orElseThrow(
					() -> new IllegalStateException(failed(job) + "it is paused, or a backfill of it is under way"));
	}

	private static String failed(JobName job) {
		return "Failed to backfill '" + AdvisoryLockKey.display(job.toString()) + "': ";
	}

	private List<Instant> ticks(Instant from, Instant to) {
		List<Instant> ticks = new ArrayList<>();
		Instant end = to.isAfter(this.latest) ? this.latest.plusNanos(1) : to;
		Instant tick = this.schedule.nextAfter(from.minusNanos(1));
		while (tick != null && tick.isBefore(end) && ticks.size() <= MOST_COUNTED) {
			ticks.add(tick);
			tick = this.schedule.nextAfter(tick);
		}
		Assert.isTrue(!ticks.isEmpty(), () -> failed(this.job) + "its schedule " + this.schedule
				+ " has had no tick from " + from + " to " + to);
		Assert.isTrue(ticks.size() <= MOST_TICKS,
				() -> failed(this.job) + "its schedule " + this.schedule + " has "
						+ ((ticks.size() > MOST_COUNTED) ? "more than " + MOST_COUNTED : ticks.size()) + " ticks from "
						+ from + " to " + to + ", and " + MOST_TICKS + " are the most: choose a shorter time");
		return ticks;
	}

	/**
	 * Run the ticks on this thread.
	 * @return {@link LockOutcome#EXECUTED} if all were, else why one was not
	 */
	@Override
	public LockOutcome get() {
		try {
			LockOutcome outcome = LockOutcome.EXECUTED;
			for (int i = 0; i < this.ticks.size() && outcome == LockOutcome.EXECUTED; i++) {
				outcome = run(this.ticks.get(i));
			}
			if (!tell(null, outcome.name(), null)) {
				throw cancelled();
			}
			return outcome;
		}
		catch (CancellationException ex) {
			throw ex;
		}
		catch (RuntimeException | Error ex) {
			boolean cancelled = LockLostException.isCancelled(ex, this.work.key());
			String outcome = cancelled ? "CANCELLED" : this.stopping.getAsBoolean() ? "ABANDONED" : "FAILED";
			fail(outcome, ex);
			throw ex;
		}
	}

	private void fail(String outcome, Throwable failure) {
		try {
			tell(null, outcome, LedgerRun.Failure.of(failure));
		}
		catch (RuntimeException ex) {
			failure.addSuppressed(ex);
		}
	}

	private LockOutcome run(Instant tick) {
		LockOutcome outcome;
		do {
			checkGoesOn(tick);
			outcome = runOnce(tick);
			this.done += (outcome == LockOutcome.EXECUTED) ? 1 : 0;
			this.skipped += (outcome == LockOutcome.ALREADY_RAN) ? 1 : 0;
			if (outcome != LockOutcome.ALREADY_RAN) {
				pause();
				callScheduled();
			}
		}
		while (outcome == LockOutcome.BUSY);
		return (outcome != LockOutcome.ALREADY_RAN) ? outcome : LockOutcome.EXECUTED;
	}

	private LockOutcome runOnce(Instant tick) {
		try {
			return this.work.run(tick, this.again);
		}
		catch (LockBusyException ex) {
			return LockOutcome.BUSY;
		}
	}

	/**
	 * The latest tick only, as its call is one by the scheduler.
	 */
	private void callScheduled() {
		Instant now = this.ticker.now();
		Instant before = this.latest;
		for (Instant tick = before; tick != null && !tick.isAfter(now); tick = this.work.nextAfter(tick)) {
			this.latest = tick;
		}
		if (this.latest.isAfter(before)) {
			try {
				this.work.call(this.latest);
			}
			catch (RuntimeException | Error ex) {
				logger.warn("The tick of " + this.latest + " of '" + AdvisoryLockKey.display(this.job.toString())
						+ "' failed, which came during a backfill", ex);
			}
		}
	}

	private void checkGoesOn(Instant tick) {
		if (this.stopping.getAsBoolean()) {
			tell(null, "ABANDONED", null);
			throw new CancellationException(failed(this.job) + "this instance is being shut down");
		}
		if (!tell(tick, null, null)) {
			throw cancelled();
		}
	}

	private CancellationException cancelled() {
		return new CancellationException(failed(this.job) + "it was cancelled");
	}

	private boolean tell(@Nullable Instant tick, @Nullable String outcome, LedgerRun.@Nullable Failure failure) {
		return this.repository.tell(this.job, this.startedAt, this.done, this.skipped, tick, outcome, failure);
	}

	private void pause() {
		this.ticker.park(this, TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS));
		if (Thread.currentThread().isInterrupted()) {
			tell(null, "ABANDONED", null);
			throw new CancellationException(failed(this.job) + "its thread was interrupted");
		}
	}

	/**
	 * What runs the ticks of a job.
	 */
	interface Work {

		/**
		 * Return the key of the job.
		 */
		AdvisoryLockKey key();

		/**
		 * Return the ticks of the schedule that holds at a time, {@code null} if it has
		 * none.
		 */
		@Nullable CronTicks ticks(Instant time);

		/**
		 * Return the next tick that is planned, by the schedule that holds then.
		 */
		@Nullable Instant nextAfter(Instant time);

		/**
		 * Run it for a tick.
		 */
		LockOutcome run(Instant tick, boolean again);

		/**
		 * Call it for a tick as its scheduler does.
		 */
		void call(Instant tick);

	}

}
