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
import java.util.List;
import java.util.Optional;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import org.jspecify.annotations.Nullable;

/**
 * What operators see and do: the jobs and runs that are kept in the database, and
 * pausing, resuming and running a job now, whichever instance they ask.
 * <p>
 * A job is named by its key, as it stands in {@code @SingleRunner}; its namespace is that
 * of the method which has this key, else {@code advisory-lock.namespace}. It may also be
 * named by namespace, slash and key, as {@link AdvisoryLockKey#toString()} has it. A name
 * that may mean several jobs, such as a key that methods have in two namespaces, is an
 * {@link IllegalArgumentException} which says how to name each of them.
 *
 * @since 0.1.0
 */
public interface AdvisoryLockLedger {

	/**
	 * Return jobs of a namespace, in the order of their keys. There may be more of them
	 * than an instance has memory for: ask again with the key of the last one.
	 * @param namespace the namespace, empty for that of keys without one
	 * @param after only jobs with a key behind this one are told, empty for the first
	 * @param limit how many jobs at most, 1 to 1000
	 * @return the jobs, fewer than asked for where there are no more
	 */
	List<LedgerJob> jobs(String namespace, String after, int limit);

	/**
	 * Return one job.
	 * @param key the key, also behind its namespace and a slash
	 * @return the job, or empty when the ledger has none of that key
	 */
	Optional<LedgerJob> job(String key);

	/**
	 * Return the last runs of a key.
	 * @param key the key, also behind its namespace and a slash
	 * @param limit how many runs at most
	 * @return the runs, latest first
	 */
	List<LedgerRun> runs(String key, int limit);

	/**
	 * Let no instance run the key from its next tick or call on. What runs goes on. A key
	 * that is paused stays as it is.
	 * @param key the key, also behind its namespace and a slash
	 * @param by who wants this
	 * @throws IllegalArgumentException if the ledger has no job and no run of that key
	 */
	void pause(String key, String by);

	/**
	 * Let instances run the key again. A key that is not paused stays as it is.
	 * @param key the key, also behind its namespace and a slash
	 * @param by who wants this
	 * @throws IllegalArgumentException if the ledger has no job of that key
	 */
	void resume(String key, String by);

	/**
	 * Let no instance run any job of a namespace from its next tick or call on, whether
	 * it is there already or comes later; what runs goes on. It does not hold for keys
	 * that are made from arguments, nor for a job that is {@linkplain #resume resumed}
	 * afterwards. Waits for no run.
	 * @param namespace the namespace, empty for that of keys without one
	 * @param by who wants this
	 * @param reason why, {@code null} if that is not told
	 * @return how many jobs there are
	 */
	int pauseAll(String namespace, String by, @Nullable String reason);

	/**
	 * End the pause of all jobs of a namespace. Jobs that were {@linkplain #pause paused}
	 * themselves stay so.
	 * @param namespace the namespace, empty for that of keys without one
	 * @param by who wants this
	 * @return how many jobs it held for
	 * @throws IllegalArgumentException if they are not paused all
	 */
	int resumeAll(String namespace, String by);

	/**
	 * Give a job another schedule, from about half a minute on, at one time on all
	 * instances. It holds over restarts and releases until it is taken back.
	 * @param key the key, also behind its namespace and a slash
	 * @param schedule a cron expression for a {@code cron} schedule, a time such as
	 * {@code PT10M} for {@code fixedRate} and {@code fixedDelay}, {@code null} for the
	 * schedule of the annotation
	 * @param zone the time zone of a cron expression, {@code null} for that of the
	 * annotation
	 * @param by who wants this
	 * @param reason why, {@code null} if that is not told
	 * @return from when on it holds, by the clock of the database
	 * @throws IllegalArgumentException if this can't be its schedule
	 * @throws IllegalStateException if the ledger has no job of that key, or it has no
	 * schedule, or several, or is not recorded
	 */
	Instant reschedule(String key, @Nullable String schedule, @Nullable String zone, String by,
			@Nullable String reason);

	/**
	 * Try a tick again that was tried and not completed, without waiting for the time of
	 * the next attempt: on this instance and the current thread if it has a method for it
	 * that takes no arguments, whatever its {@code catchUp} and {@code minInterval}; else
	 * it is left to instances that make up for it. It obeys the lock, and no tick is
	 * completed twice.
	 * @param key the key, also behind its namespace and a slash
	 * @param by who wants this
	 * @return how that ended, empty if it is left to others
	 * @throws IllegalArgumentException if the ledger has no job of that key with such a
	 * tick, or it runs or is paused
	 */
	Optional<LockOutcome> retry(String key, String by);

	/**
	 * Run ticks of a job on this instance, on the current thread, one after the other,
	 * oldest first, each under the lock of the job and recorded as any run. Stops at the
	 * first that fails. Ticks that are yet to come are left out, and none of those before
	 * the last tick of the job becomes that. Others have the lock between two runs: of
	 * the ticks that come meanwhile, the latest is run then.
	 * @param key the key, also behind its namespace and a slash
	 * @param from the first time whose ticks are run
	 * @param to the first time whose ticks are not run any more
	 * @param again whether also ticks are run that were executed, as far as the history
	 * tells
	 * @param by who wants this
	 * @return {@link LockOutcome#EXECUTED} if all ticks were executed or left out, else
	 * why one was not run; what the method throws is thrown
	 * @throws IllegalArgumentException if there is no tick from the one time to the
	 * other, or there are more than 1,000
	 * @throws IllegalStateException if this instance has no method of that key whose runs
	 * are recorded, with one cron schedule and without arguments; if the job is paused;
	 * if a backfill of it is under way
	 * @throws java.util.concurrent.CancellationException if it was cancelled between two
	 * runs
	 */
	LockOutcome backfill(String key, Instant from, Instant to, boolean again, String by);

	/**
	 * Forget a job that does not exist any more: its ticks, its pause and its runs. What
	 * was completed once per key stays completed. An instance that has a method of this
	 * key begins anew with it, so ask when there is none any more.
	 * @param key the key, also behind its namespace and a slash
	 * @param by who wants this
	 * @throws IllegalArgumentException if the ledger has no job of that key, this
	 * instance has a method for it, or its last run is not over
	 */
	void forget(String key, String by);

	/**
	 * Run the method of a key on this instance, on the current thread, whatever its tick
	 * and its {@code minInterval}. It obeys the lock and a pause. Several methods of one
	 * key run one after the other, each of them.
	 * @param key the key, also behind its namespace and a slash
	 * @param by who wants this
	 * @return how that ended: of several methods, the outcome of the first that did not
	 * run; what a method throws is thrown when all had their turn
	 * @throws IllegalArgumentException if this instance has no method of that key which
	 * could be run without arguments
	 */
	LockOutcome runNow(String key, String by);

}
