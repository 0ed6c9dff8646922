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

package io.github.advisorylock.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.RequestDetail;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * Where runs are recorded; asked before each one whether it may take place. A feature
 * implements it; the template works without.
 *
 * @since 0.1.0
 */
public interface RunLedger {

	/**
	 * Return the record of one run, of which nothing is asked or written yet. Called
	 * before the lock is taken and before a transaction is begun for the run, and only
	 * for requests that are {@linkplain RequestDetail#isRecorded recorded}.
	 * @param key the key of the run
	 * @param scope how long its lock lives
	 * @param request what is asked of the ledger
	 * @return the record of the run
	 * @throws IllegalArgumentException if there is no room for such a key
	 */
	RunRecord record(AdvisoryLockKey key, LockScope scope, LockRequest request);

	/**
	 * Keep a key from others for a time that begins now, by the clock of the database.
	 * The caller has its lock. The promise holds when that is free again, and after the
	 * death of whoever made it.
	 * @param key the key
	 * @param time how long, zero to promise nothing
	 * @param own what the caller was answered before for the same lock, to replace it;
	 * {@code null} for the first time
	 * @return until when the key is kept, which is now for nothing; {@code null} if
	 * somebody else has kept it
	 * @throws IllegalArgumentException if there is no room for such a key
	 * @throws IllegalStateException if this ledger can't do that
	 */
	default @Nullable Instant keep(AdvisoryLockKey key, Duration time, @Nullable Instant own) {
		throw new IllegalStateException("Failed to keep advisory lock '" + key + "': this ledger keeps no locks");
	}

	/**
	 * Answer those who ask, on whatever instance, what runs of this one are doing. Called
	 * while there are any, and this ledger is open.
	 * @param stacks finds what is done under a lock here, by its entry in the lock table;
	 * empty where this instance does not hold it
	 * @param side reaches the server without a connection of the pool, which hanging runs
	 * may have the last ones of
	 */
	default void answer(Function<String, List<Run.Stack>> stacks, Hold.SideConnection side) {
	}

	/**
	 * Look up the schedules that operators have chosen: somebody says that there are
	 * others.
	 */
	default void rescheduled() {
	}

	/**
	 * Look what operators want of this instance.
	 */
	default void look() {
	}

	/**
	 * Return whether this ledger is in use: it is opened when the first run is recorded,
	 * or before.
	 * @return whether it was opened
	 */
	default boolean isOpen() {
		return true;
	}

	/**
	 * Check that this ledger can be read and written.
	 * @throws DataAccessException if it can't
	 */
	default void check() {
	}

	/**
	 * Work that may be recorded, for whoever knows its trace: what a run of it is told of
	 * its lock is one of these.
	 */
	interface Traced {

		/**
		 * Note which trace tells more of the work that is under way.
		 * @param traceId the id of the trace
		 */
		void traced(String traceId);

	}

	/**
	 * One run in the ledger, from the question whether it may take place to how it ended.
	 */
	interface RunRecord extends Run.Entry {

		/**
		 * Return what would be decided now, before lock and transaction, without a
		 * promise.
		 * @return {@link LockOutcome#EXECUTED} also where there is nothing to ask, else
		 * the reason for which the run would be skipped
		 */
		LockOutcome precheck();

		/**
		 * Decide about the run with its lock held, and begin it.
		 * @param boundary what the run is part of
		 * @param hold the lock
		 * @return {@link LockOutcome#EXECUTED} to go on, else why not
		 * @throws LockLostException if the lock is not held any more
		 */
		LockOutcome begin(Boundary boundary, Hold hold);

		/**
		 * Return what is kept of the result of a run that was before, of one that is
		 * {@link LockOutcome#ALREADY_RAN}.
		 * @return its text, {@code null} if there is none
		 */
		default @Nullable String keptResult() {
			return null;
		}

		/**
		 * Record, inside the boundary, that the work is done.
		 * @param result what it returned
		 * @throws LockLostException if somebody else has taken over
		 */
		void complete(@Nullable Object result);

		/**
		 * Record, inside the boundary, that the work is done though it has failed: its
		 * transaction is about to be committed nevertheless.
		 * @param failure what the work threw
		 */
		default void completeFailed(Throwable failure) {
			complete(null);
		}

		/**
		 * Record that the run failed, of one in a transaction that goes on and has the
		 * lock, if others must know before they get that. In a transaction of its own,
		 * what the work did is undone, and the record committed. Whoever began the
		 * transaction ends it nevertheless, and {@link #fail} is called whatever became
		 * of this. Never throws.
		 * @param failure why
		 */
		default void failWhileHeld(Throwable failure) {
		}

		/**
		 * Record that the run failed; of one in a transaction, after that has been rolled
		 * back. Does nothing for a run that did not begin. Never throws.
		 * @param failure why; what goes wrong here is added to it as suppressed
		 */
		void fail(Throwable failure);

		/**
		 * Return the fencing token of the run, once it can't be given again, whatever
		 * happens to the server: the first call of a run may wait for its disk. What is
		 * asked after the end of the run is for the record only.
		 * @return the token, empty for a run that did not begin
		 */
		OptionalLong fencingToken();

		/**
		 * Note which trace tells more of the run.
		 * @param traceId the id of the trace
		 */
		default void traced(String traceId) {
		}

		/**
		 * Return how often the work was tried for its tick, this time included.
		 * @return 1 for the first attempt, and for a run that did not begin
		 */
		int attempt();

		/**
		 * The transaction that a run is part of.
		 */
		enum Boundary {

			/**
			 * One that was begun for the run.
			 */
			OWN_TRANSACTION,

			/**
			 * One that goes on after the run, and tells itself how it ends.
			 */
			CALLERS_TRANSACTION,

			/**
			 * None: what is recorded is committed at once.
			 */
			NONE

		}

	}

}
