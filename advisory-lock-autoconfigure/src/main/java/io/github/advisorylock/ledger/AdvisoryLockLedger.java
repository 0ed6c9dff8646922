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

import java.util.List;
import java.util.Optional;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;

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
	 * Return all jobs of all namespaces.
	 * @return the jobs, in the order of namespace and key
	 */
	List<LedgerJob> jobs();

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
	 * Run the method of a key on this instance, on the current thread, whatever its tick
	 * and its {@code minInterval}. It obeys the lock and a pause.
	 * @param key the key, also behind its namespace and a slash
	 * @param by who wants this
	 * @return how that ended; what the method throws is thrown
	 * @throws IllegalArgumentException if this instance has no method of that key which
	 * could be run without arguments
	 */
	LockOutcome runNow(String key, String by);

}
