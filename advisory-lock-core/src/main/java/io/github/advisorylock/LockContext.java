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

package io.github.advisorylock;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What running work can know about the lock that guards it.
 *
 * @since 0.1.0
 */
public interface LockContext {

	/**
	 * Return the key that is locked.
	 * @return the key
	 */
	AdvisoryLockKey key();

	/**
	 * Return how long the lock lives.
	 * @return the scope
	 */
	LockScope scope();

	/**
	 * Return whether the lock is held as far as this application knows. Asks no server,
	 * except in scope {@link LockScope#TRANSACTION} on the thread of the run where the
	 * driver can't be asked: a container's own copy of it, or a wrapper that hides it.
	 * @return {@code false} once the lock was released or found to be lost, and in scope
	 * {@link LockScope#TRANSACTION} while its transaction is aborted
	 */
	boolean isHeld();

	/**
	 * Make sure that the lock is held, by an answer of the server on the connection that
	 * has it.
	 * @throws LockLostException if it is not, or that can't be known
	 */
	void checkHeld() throws LockLostException;

	/**
	 * Return a number that is higher than that of every earlier run of the key, for
	 * guarding writes to other systems.
	 * @return the token, or empty when this run is not recorded in a ledger, which is
	 * where the number comes from
	 */
	OptionalLong fencingToken();

	/**
	 * Return the planned time that the run is for.
	 * @return the tick, or empty when the run is for none
	 */
	Optional<Instant> tick();

	/**
	 * Return how often the work has been tried for its {@linkplain #tick() tick}, this
	 * time included. A tick that failed, or whose runner vanished, has several attempts;
	 * the ledger counts them.
	 * @return 1 for the first attempt, and where nobody counts
	 */
	int attempt();

	/**
	 * Return the context of the innermost run that the current thread is in.
	 * @return the context, or empty outside a run
	 */
	static Optional<LockContext> current() {
		return Optional.ofNullable((LockContext) TransactionSynchronizationManager.getResource(LockContext.class));
	}

	/**
	 * Return the shard that the current call of a {@code @LeaderOnly} method is for,
	 * where its role is led in shards.
	 * @return the number of the shard, from 0
	 * @throws IllegalStateException if the thread is in no such call
	 */
	static int currentShard() {
		if (TransactionSynchronizationManager.getResource(LeaderElection.class) instanceof String shard) {
			return Integer.parseInt(shard.substring(shard.indexOf('#') + 1));
		}
		throw new IllegalStateException("Failed to find the shard of the current call: thread '"
				+ Thread.currentThread().getName() + "' is in no call of a method whose role is led in shards; set "
				+ "'shards' of its @LeaderOnly, and call this from the thread on which the method was called");
	}

	/**
	 * Return the planned time that the innermost run of the current thread is for. What
	 * is worked out from it, rather than from the clock, is right for a run that comes
	 * late, too.
	 * @return the {@linkplain #tick() tick}
	 * @throws IllegalStateException if the thread is in no run, or in one that is for no
	 * tick
	 */
	static Instant currentTick() {
		LockContext run = current().orElseThrow(() -> new IllegalStateException(
				"Failed to find the tick of the current run: thread '" + Thread.currentThread().getName()
						+ "' runs under no lock; call this from the thread on which the guarded method was called"));
		return run.tick()
			.orElseThrow(() -> new IllegalStateException("Failed to find the tick of the current run: this call of '"
					+ run.key() + "' is for none; have a scheduler call the method by a cron expression, or use "
					+ "'once = PER_TICK', which finds one for calls by hand, too"));
	}

}
