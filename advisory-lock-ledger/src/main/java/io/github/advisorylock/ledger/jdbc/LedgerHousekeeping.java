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
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

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

	private static final Duration PAUSE = Duration.ofMillis(50);

	/**
	 * By which part a history is longer than wanted, on average, before it is cut.
	 */
	private static final int PART = 16;

	private final LedgerPurge purge;

	private final Supplier<Map<JobName, Integer>> recentKeys;

	private final int keptRunsOfKey;

	private final LockScheduler scheduler;

	/**
	 * Create it.
	 * @param recentKeys takes the keys that this instance has written runs of since it
	 * was asked last, and the numbers of those
	 */
	LedgerHousekeeping(LedgerPurge purge, Supplier<Map<JobName, Integer>> recentKeys, int keptRunsOfKey,
			LockScheduler.Threads threads) {
		this.purge = purge;
		this.recentKeys = recentKeys;
		this.keptRunsOfKey = keptRunsOfKey;
		this.scheduler = LockScheduler.inTurn(threads);
	}

	/**
	 * Begin, unless that was done already.
	 */
	void start() {
		this.scheduler.every(Duration.ofSeconds(ThreadLocalRandom.current().nextLong(PERIOD.toSeconds())), PERIOD,
				new SafeTask("The ledger of advisory locks could not be purged", this::purge));
	}

	void stop() {
		this.scheduler.stop();
	}

	/**
	 * Forget what need not be remembered, as far as that is left to this instance.
	 */
	void purge() {
		this.recentKeys.get().forEach((name, runs) -> {
			if (ThreadLocalRandom.current().nextInt(this.keptRunsOfKey) < (long) runs * PART) {
				execute(this.purge.runsOf(name, this.keptRunsOfKey));
			}
		});
		if (!isStopped() && this.purge.claimRound(ROUND)) {
			long lost = execute(this.purge.lostRuns());
			if (lost > 0) {
				logger.info("Runs that were abandoned because their lock is not held any more: " + lost);
			}
			this.purge.outdated().forEach(this::execute);
		}
	}

	/**
	 * Work in batches until nothing is left, with a pause after each: others have work to
	 * do as well.
	 * @return how many rows that were
	 */
	private long execute(LedgerPurge.Work work) {
		LedgerPurge.Batch batch = new LedgerPurge.Batch(LedgerPurge.BATCH, work.first());
		long rows = 0;
		while (batch.rows() == LedgerPurge.BATCH && !isStopped()) {
			batch = this.purge.execute(work, batch.last());
			rows += batch.rows();
			LockSupport.parkNanos(PAUSE.toNanos());
		}
		return rows;
	}

	private static boolean isStopped() {
		return Thread.currentThread().isInterrupted();
	}

}
