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

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.server.JdbcUrl;
import io.github.advisorylock.jdbc.server.PgDriver;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * Notices that a transaction with a lock has ended behind the back of its run: its thread
 * may be at work elsewhere, and hears nothing on its own connection. The lock session
 * sees in one statement which processes of the server still have their locks, for all
 * transactions together that have had theirs for a heartbeat; while there are none,
 * nobody is asked.
 */
final class TransactionWatch {

	private static final Log logger = LogFactory.getLog(TransactionWatch.class);

	private final HoldRegistry holds;

	private final LockSession session;

	private final Executor later;

	private final SafeTask look = new SafeTask("A look at the locks of transactions failed", this::look);

	/**
	 * Which of those that are held the server has shown in its lock table. Used by the
	 * looks only, which come one after the other.
	 */
	private Set<Hold> seen = Set.of();

	/**
	 * Whether any was shown since the server has not answered.
	 */
	private boolean shown;

	private boolean blind;

	TransactionWatch(HoldRegistry holds, LockSession session) {
		this.holds = holds;
		this.session = session;
		LockScheduler scheduler = session.scheduler();
		Duration heartbeat = session.settings.heartbeat();
		this.later = (task) -> scheduler.next(heartbeat, task);
		session.whenClosed(() -> session.losses.lost(holds.heldLonger(LockScope.TRANSACTION, Duration.ZERO)));
	}

	/**
	 * Make sure, by an answer of the server on this connection, that it has the lock of a
	 * hold. Any failure means that it does not, as an error in a transaction ends its
	 * locks.
	 * @throws LockLostException if it does not
	 */
	static void confirm(Hold hold, Connection connection) throws LockLostException {
		AdvisoryLockKey lock = hold.lock();
		boolean held;
		try (PreparedStatement statement = connection
			.prepareStatement(PostgresAdvisoryLockFunctions.confirmHold(lock))) {
			statement.setFetchSize(PgDriver.ALL_ROWS);
			statement.setLong(1, Integer.toUnsignedLong(lock.classId()));
			statement.setLong(2, Integer.toUnsignedLong(lock.objectId()));
			statement.execute();
			try (ResultSet answer = statement.getResultSet()) {
				held = answer.next() && answer.getBoolean(1);
			}
		}
		catch (SQLException ex) {
			LockLostException lost = new LockLostException(hold.key());
			lost.initCause(ex);
			throw lost;
		}
		if (!held) {
			throw new LockLostException(hold.key());
		}
	}

	/**
	 * Look in a heartbeat's time, if it is not decided already that somebody will.
	 */
	void expect() {
		this.look.handTo(this.later);
	}

	private void look() {
		try {
			List<Hold> old = this.holds.heldLonger(LockScope.TRANSACTION, this.session.settings.heartbeat());
			if (!old.isEmpty()) {
				check(old);
			}
		}
		finally {
			if (this.holds.has(LockScope.TRANSACTION)) {
				expect();
			}
		}
	}

	/**
	 * Only what was seen once can be missing. That the server can't be asked, or has
	 * shown nothing of any transaction, says more of the route of the session than of
	 * that transaction. Where the route is known to be right, the transaction has ended.
	 */
	private void check(List<Hold> old) {
		try {
			List<Hold> missing = findMissing(old);
			List<Hold> lost = missing.stream().filter(this.seen::contains).toList();
			// whose transaction has ended meanwhile is missing in order
			List<Hold> unseen = missing.stream()
				.filter((hold) -> hold.isActive() && !this.seen.contains(hold))
				.toList();
			this.seen = old.stream().filter((hold) -> !missing.contains(hold)).collect(Collectors.toSet());
			this.session.losses.lost(lost);
			this.session.notifications().pollCancellations();
			this.shown |= !this.seen.isEmpty();
			boolean routed = this.shown || (this.session.comparison() instanceof PoolComparison pool && pool.isSame());
			report((unseen.isEmpty() || routed) ? null : "the server of the lock session does not show the lock on '"
					+ unseen.get(0).key() + "' in its lock table", null);
		}
		catch (SQLException ex) {
			this.shown = false;
			report("the lock session has no answer (" + JdbcUrl.redact(String.valueOf(ex.getMessage())) + ")", ex);
		}
	}

	/**
	 * Return those whose locks are held no more by the processes that took them.
	 */
	private List<Hold> findMissing(List<Hold> holds) throws SQLException {
		Map<String, Hold> entries = holds.stream()
			.filter((hold) -> hold.backend() != 0)
			.collect(Collectors.toMap((hold) -> PostgresAdvisoryLockFunctions.entry(hold.backend(), hold.lock()),
					(hold) -> hold, (one, other) -> other));
		String missing = this.session.find(PostgresAdvisoryLockFunctions.findMissing(entries.keySet()));
		return Arrays.stream(StringUtils.commaDelimitedListToStringArray(missing))
			.map((entry) -> Objects.requireNonNull(entries.get(entry)))
			.toList();
	}

	/**
	 * Say once that nothing is seen, until something is again.
	 */
	private void report(@Nullable String problem, @Nullable Exception failure) {
		if (problem != null && !this.blind && !this.session.isClosed()) {
			logger.warn("Transactions with advisory locks are not watched: " + problem
					+ "; a run whose transaction is lost learns that from its next statement");
			logger.debug("The locks of transactions could not be looked at", failure);
		}
		this.blind = problem != null;
	}

}
