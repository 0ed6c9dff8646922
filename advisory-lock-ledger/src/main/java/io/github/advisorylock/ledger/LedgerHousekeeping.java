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
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.jdbc.GuardedTask;
import io.github.advisorylock.jdbc.LockScheduler;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;

/**
 * Keeps the ledger from growing. Every ten minutes one instance, of all that have the
 * same tables, has a round in which it forgets what is old; the others find in the ledger
 * that somebody has had it. Long histories of keys are cut by those who run the key: each
 * run there may have it cut, so that as many rows are read for that as are written,
 * however many instances there are.
 */
final class LedgerHousekeeping {

	private static final Log logger = LogFactory.getLog(LedgerHousekeeping.class);

	private static final Duration PERIOD = Duration.ofMinutes(10);

	/**
	 * How long nobody else has a round: who looks each ten minutes must not find that a
	 * moment of that is left.
	 */
	private static final Duration ROUND = PERIOD.minusMinutes(1);

	private static final Duration LONGEST_BATCH = Duration.ofMillis(100);

	private static final int SMALLEST_BATCH = 10;

	private static final int MOST_TRIES = 20;

	/**
	 * By which part a history is longer than wanted, on average, before it is cut.
	 */
	private static final int PART = 16;

	private final LedgerPurge purge;

	private final RecentKeys recentKeys;

	private final int keptRunsOfKey;

	private final LockScheduler.Ticker ticker;

	private final LockScheduler scheduler;

	private int batch = Integer.MAX_VALUE;

	LedgerHousekeeping(LedgerPurge purge, RecentKeys recentKeys, int keptRunsOfKey, LockScheduler.Threads threads) {
		this.purge = purge;
		this.recentKeys = recentKeys;
		this.keptRunsOfKey = keptRunsOfKey;
		this.ticker = threads.ticker();
		this.scheduler = LockScheduler.inTurn(threads);
	}

	/**
	 * Begin, unless that was done already.
	 */
	void start() {
		this.scheduler.every(Duration.ofSeconds(ThreadLocalRandom.current().nextLong(PERIOD.toSeconds())), PERIOD,
				new GuardedTask("The ledger of advisory locks could not be purged", this::purge));
	}

	void stop() {
		this.scheduler.stop();
		this.purge.cancel();
	}

	/**
	 * Forget what need not be remembered, as far as that is left to this instance.
	 */
	void purge() {
		this.recentKeys.take().forEach((name, runs) -> {
			if (ThreadLocalRandom.current().nextInt(this.keptRunsOfKey) < (long) runs * PART) {
				execute(this.purge.runsOf(name, this.keptRunsOfKey));
			}
		});
		if (!isStopped() && this.purge.claimRound(ROUND)) {
			long lost = execute(this.purge.lostRuns());
			if (lost > 0) {
				logger.info("Runs that were abandoned because nobody has their lock any more: " + lost);
			}
			this.purge.outdated().forEach(this::execute);
		}
	}

	/**
	 * Work in batches until nothing is left, or others always have the turn.
	 * @return how many rows that were
	 */
	private long execute(LedgerPurge.Work work) {
		Object after = work.first();
		long rows = 0;
		int tries = MOST_TRIES;
		while (tries > 0 && !isStopped()) {
			int size = Math.min(work.most(), this.batch);
			LedgerPurge.Batch batch = execute(work, after, size);
			if (batch == null || !batch.mine()) {
				tries--;
				continue;
			}
			rows += batch.rows();
			if (batch.rows() < size) {
				return rows;
			}
			after = batch.last();
			tries = MOST_TRIES;
		}
		return rows;
	}

	/**
	 * Do one batch, and rest for as long as it took: others have work to do as well.
	 * @return {@code null} if the server thinks that this takes too long, and fewer rows
	 * may not
	 */
	private LedgerPurge.@Nullable Batch execute(LedgerPurge.Work work, Object after, int size) {
		long start = this.ticker.nanoTime();
		LedgerPurge.Batch batch = null;
		try {
			batch = this.purge.execute(work, after, size);
		}
		catch (QueryTimeoutException ex) {
			if (isStopped() || size <= SMALLEST_BATCH) {
				throw ex;
			}
		}
		Duration took = Duration.ofNanos(this.ticker.nanoTime() - start);
		boolean shorter = batch == null || took.compareTo(LONGEST_BATCH) > 0;
		this.batch = shorter ? Math.max(SMALLEST_BATCH, size / 4) : Math.min(this.batch, work.most()) * 2;
		rest((batch != null && batch.mine()) ? took : Duration.ofMillis(ThreadLocalRandom.current().nextLong(100)));
		return batch;
	}

	private static void rest(Duration time) {
		LockSupport.parkNanos(Math.min(time.toNanos(), LONGEST_BATCH.toNanos()));
	}

	private static boolean isStopped() {
		return Thread.currentThread().isInterrupted();
	}

}
