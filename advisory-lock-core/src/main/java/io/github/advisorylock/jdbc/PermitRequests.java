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

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.log.LockLog;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;

/**
 * Chooses which permits of a key a hold asks for: those that no other hold of this
 * application has, from a random one on, so that instances seldom meet at the same.
 */
final class PermitRequests {

	private static final Log logger = LogFactory.getLog(PermitRequests.class);

	private static final int TURNS = 64;

	private final HoldRegistry holds;

	private final @Nullable Comparison comparison;

	/**
	 * By the hash of the key, so that there is nothing to be cleaned up. Keys that share
	 * one wait for each other's statement, and for nothing else.
	 */
	private final List<Lock> turns = Stream.<Lock>generate(ReentrantLock::new).limit(TURNS).toList();

	/**
	 * Create what chooses permits.
	 * @param session shows what other instances have, {@code null} to not look at that
	 */
	PermitRequests(HoldRegistry holds, @Nullable LockSession session) {
		this.holds = holds;
		this.comparison = (session != null) ? new Comparison(session) : null;
	}

	/**
	 * Return what a hold asks for.
	 * @return the permits in the order to ask in; none where other holds of this
	 * application have all
	 */
	private List<AdvisoryLockKey> permits(Hold hold) {
		Set<AdvisoryLockKey> taken = this.holds.takenByOthers(hold);
		int first = ThreadLocalRandom.current().nextInt(hold.permits);
		List<AdvisoryLockKey> permits = new ArrayList<>(hold.permits);
		for (int i = 0; i < hold.permits; i++) {
			AdvisoryLockKey permit = hold.key().permit((first + i) % hold.permits + 1);
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

	/**
	 * Tells once of a key that more may hold on another instance than here: when a
	 * request was refused, it looks whether a permit is held that this instance does not
	 * know. Those who let more hold it than others can't see that.
	 */
	private static final class Comparison {

		private static final Duration PAUSE = Duration.ofMinutes(1);

		private static final int REMEMBERED = 1000;

		private final LockSession session;

		/**
		 * When a key was looked for last; one that was told of is not looked for again.
		 * Of very many keys those that came first are forgotten.
		 */
		private final Map<AdvisoryLockKey, Look> looks = new LinkedHashMap<>();

		private Comparison(LockSession session) {
			this.session = session;
		}

		/**
		 * Note that the server has granted no permit. Never waits.
		 */
		void refused(Hold hold) {
			if (hold.permits < AdvisoryLockKey.MAX_PERMITS && beginLook(hold)) {
				AdvisoryLockKey key = hold.key();
				int permits = hold.permits;
				this.session.later("Failed to compare the permits of '" + key + "'", () -> compare(key, permits));
			}
		}

		private synchronized boolean beginLook(Hold hold) {
			long now = this.session.ticker().nanoTime();
			Look last = this.looks.get(hold.key());
			boolean due = last == null || (!last.told() && now - last.nanos() >= PAUSE.toNanos());
			if (due) {
				note(hold.key(), new Look(now, false));
			}
			return due;
		}

		private synchronized void note(AdvisoryLockKey key, Look look) {
			this.looks.put(key, look);
			if (this.looks.size() > REMEMBERED) {
				this.looks.remove(this.looks.keySet().iterator().next());
			}
		}

		private void compare(AdvisoryLockKey key, int permits) {
			List<String> unknown = IntStream.rangeClosed(permits + 1, AdvisoryLockKey.MAX_PERMITS)
				.mapToObj(key::permit)
				.map(PostgresAdvisoryLockFunctions::entry)
				.toList();
			try {
				String last = this.session.find(PostgresAdvisoryLockFunctions.findLastHeld(unknown));
				if (last != null && !last.equals("0")) {
					tell(key, permits, permits + Integer.parseInt(last));
				}
			}
			catch (SQLException | RuntimeException ex) {
				logger.debug("Failed to find out whether more may hold advisory lock '" + key + "' on other instances",
						ex);
			}
		}

		private void tell(AdvisoryLockKey key, int permits, int held) {
			note(key, new Look(this.session.ticker().nanoTime(), true));
			LockLog.permitsDiffer(key, permits, held);
		}

		/**
		 * The last time that somebody has looked.
		 *
		 * @param nanos when that was, by the clock of the session
		 * @param told whether something was found, and told
		 */
		private record Look(long nanos, boolean told) {

		}

	}

}
