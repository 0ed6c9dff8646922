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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;

/**
 * Chooses which permits of a key a hold asks for: those that no other hold of this
 * application has, from a random one on, so that instances seldom meet at the same.
 */
final class PermitRequests {

	private static final int TURNS = 64;

	private final HoldRegistry holds;

	private final @Nullable PermitComparison comparison;

	/**
	 * By the hash of the key, so that there is nothing to be cleaned up. Keys that share
	 * one wait for each other's statement, and for nothing else.
	 */
	private final List<Lock> turns = Stream.<Lock>generate(ReentrantLock::new).limit(TURNS).toList();

	/**
	 * Create what chooses permits.
	 * @param comparison is told of refusals, or {@code null}
	 */
	PermitRequests(HoldRegistry holds, @Nullable PermitComparison comparison) {
		this.holds = holds;
		this.comparison = comparison;
	}

	/**
	 * Return what a hold asks for.
	 * @return the permits in the order to ask in; none where other holds of this
	 * application have all
	 */
	private List<AdvisoryLockKey> permits(Hold hold) {
		Set<AdvisoryLockKey> taken = this.holds.takenByOthers(hold);
		int first = ThreadLocalRandom.current().nextInt(hold.permits());
		List<AdvisoryLockKey> permits = new ArrayList<>(hold.permits());
		for (int i = 0; i < hold.permits(); i++) {
			AdvisoryLockKey permit = hold.key().permit((first + i) % hold.permits() + 1);
			if (!taken.contains(permit)) {
				permits.add(permit);
			}
		}
		return permits;
	}

	/**
	 * Ask on a connection that several holds use. The server grants a session what it has
	 * already, so the next hold of the key asks when it is known which permit this one
	 * has got.
	 * @param limit how long to wait for the answers to other holds
	 * @param question asks for the first of some permits that is free
	 * @return whether one was granted; after an interrupt, whose flag stays set, this
	 * hold does not wait for its turn
	 * @throws DataAccessResourceFailureException if its turn has not come
	 */
	boolean askInTurn(Hold hold, Duration limit, Predicate<List<AdvisoryLockKey>> question) {
		Lock turn = this.turns.get(Math.floorMod(hold.key().hashCode(), TURNS));
		if (!turn.tryLock() && !await(turn, hold, limit)) {
			return false;
		}
		try {
			return ask(hold, question);
		}
		finally {
			turn.unlock();
		}
	}

	private static boolean await(Lock turn, Hold hold, Duration limit) {
		try {
			if (turn.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS)) {
				return true;
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
		throw new DataAccessResourceFailureException("Failed to acquire advisory lock '" + hold.key()
				+ "': other threads have been asking the server for its permits for " + limit);
	}

	/**
	 * Ask for the permits of a hold on a connection of its own.
	 * @param question asks for the first of some permits that is free
	 * @return whether one was granted
	 */
	boolean ask(Hold hold, Predicate<List<AdvisoryLockKey>> question) {
		List<AdvisoryLockKey> permits = permits(hold);
		boolean granted = !permits.isEmpty() && question.test(permits);
		if (!granted && this.comparison != null) {
			this.comparison.refused(hold);
		}
		return granted;
	}

}
