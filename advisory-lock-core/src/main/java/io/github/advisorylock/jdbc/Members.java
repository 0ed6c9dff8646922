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
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockMode;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The instances of an application with an open {@link LockSession}, without a table: each
 * holds a shared lock of its namespace, and a second one whose number tells what it
 * guards. Both are taken with the first statement on a connection, and counted with one
 * that is sent anyway, once in a heartbeat at most. Used by the thread of the session,
 * but for what any thread may ask. A drained instance is none of them.
 */
final class Members {

	private static final Log logger = LogFactory.getLog(Members.class);

	/**
	 * For how long two versions of an application run side by side.
	 */
	private static final long ROLL_OUT = Duration.ofMinutes(10).toNanos();

	static final String NAME = "advisory-lock:members";

	private static final int UNKNOWN = -1;

	/**
	 * How the server puts counts together.
	 */
	private static final int BITS = 21;

	private static final int MOST = (1 << BITS) - 1;

	private final String namespace;

	private final AdvisoryLockKey lock;

	private final LockInstance instance;

	private final long heartbeatNanos;

	private final LockScheduler.Ticker ticker;

	private volatile boolean wanted;

	private volatile @Nullable AdvisoryLockKey alike;

	private @Nullable SessionConnection asked;

	private long askedNanos;

	private @Nullable Long unlikeSince;

	private volatile int place;

	private volatile int others = UNKNOWN;

	private volatile boolean unlike;

	/**
	 * Create members that nobody wants to know yet: there is no lock.
	 * @param instance is one of them
	 * @param heartbeat how often they are counted at most
	 */
	Members(String namespace, LockInstance instance, Duration heartbeat, LockScheduler.Ticker ticker) {
		this.namespace = namespace;
		this.lock = AdvisoryLockKey.of(namespace, NAME);
		this.instance = instance;
		this.heartbeatNanos = heartbeat.toNanos();
		this.ticker = ticker;
	}

	/**
	 * Be one of them from the next statement on. Any thread may say so.
	 * @param guarded what this instance guards, {@code null} if that does not matter. Its
	 * lock shares a half with the lock of all members, so that others know it as one of
	 * these
	 */
	void join(@Nullable String guarded) {
		if (guarded != null && this.alike == null) {
			AdvisoryLockKey hash = AdvisoryLockKey.of(this.namespace, NAME + ":" + guarded);
			this.alike = AdvisoryLockKey
				.ofValue(((long) this.lock.classId() << Integer.SIZE) | Integer.toUnsignedLong(hash.objectId()));
		}
		this.wanted = true;
	}

	/**
	 * Return what is to be sent along on a connection, nothing where that was done a
	 * moment ago.
	 */
	List<SessionCommand> due(SessionConnection connection) {
		long now = this.ticker.nanoTime();
		if (!this.wanted || (connection == this.asked && now - this.askedNanos < this.heartbeatNanos)) {
			return List.of();
		}
		this.asked = connection;
		this.askedNanos = now;
		AdvisoryLockKey alike = this.alike;
		AdvisoryLockKey second = (alike != null) ? alike : this.lock;
		boolean drained = this.instance.isDrained();
		List<SessionCommand> due = new ArrayList<>();
		due.add(new Count(second));
		Stream.of(this.lock, second)
			.distinct()
			.filter((key) -> connection.isMember(key) == drained)
			.forEach((key) -> due.add(drained ? new Leave(key) : new Join(key)));
		return due;
	}

	/**
	 * Have the next statement tell whether this instance is one of them.
	 */
	void changed() {
		this.asked = null;
	}

	/**
	 * Return the half that the locks of all members have in common.
	 */
	long family() {
		return Integer.toUnsignedLong(this.lock.classId());
	}

	/**
	 * Return how many there are, with this one, as far as is known. Any thread may ask.
	 */
	OptionalInt count() {
		return (this.others != UNKNOWN) ? OptionalInt.of(this.others + 1) : OptionalInt.empty();
	}

	/**
	 * Return how many come before this one, as far as is known. Any thread may ask.
	 */
	int place() {
		return this.place;
	}

	private static int others(long counts) {
		return (int) ((counts >> BITS) & MOST);
	}

	/**
	 * Count the others on a connection that is none of them.
	 */
	OptionalInt others(Connection connection) throws SQLException {
		if (!this.wanted) {
			return OptionalInt.empty();
		}
		Count count = new Count(this.lock);
		try (PreparedStatement statement = connection.prepareStatement(count.sql())) {
			count.bind(statement, 1);
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				return OptionalInt.of(others(row.getLong(1)));
			}
		}
	}

	/**
	 * Return whether others have guarded something else for longer than a roll-out takes.
	 * Any thread may ask.
	 */
	boolean isUnlike() {
		return this.unlike;
	}

	private void counted(int others, int alike) {
		this.others = others;
		long now = this.ticker.nanoTime();
		if (alike >= others || this.alike == null) {
			this.unlikeSince = null;
			this.unlike = false;
			return;
		}
		this.unlikeSince = (this.unlikeSince != null) ? this.unlikeSince : now;
		if (!this.unlike && now - this.unlikeSince >= ROLL_OUT) {
			this.unlike = true;
			logger.warn("For more than ten minutes now " + (others - alike) + " of the " + (others + 1)
					+ " instances of '" + this.namespace + "' have guarded something else than this one: keys, "
					+ "schedules, scopes, permits or 'once' differ, and what only some of them guard alike may run "
					+ "twice or not at all. Deploy the same version, with the same properties, to all of them");
		}
	}

	/**
	 * What nobody waits for.
	 */
	private abstract static class Unawaited extends SessionCommand {

		private Unawaited(PostgresAdvisoryLockFunctions.Call call) {
			super(call, List.of(), Trait.ONCE);
		}

		@Override
		final void undone(SQLException failure) {
			answer();
		}

	}

	private static final class Join extends Unawaited {

		private final AdvisoryLockKey key;

		private Join(AdvisoryLockKey key) {
			super(PostgresAdvisoryLockFunctions.trySessionLock(key, LockMode.SHARED));
			this.key = key;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			if (row.getBoolean(1)) {
				connection.join(this.key);
			}
		}

	}

	private static final class Leave extends Unawaited {

		private final AdvisoryLockKey key;

		private Leave(AdvisoryLockKey key) {
			super(PostgresAdvisoryLockFunctions.sessionUnlock(key, LockMode.SHARED));
			this.key = key;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) {
			connection.leave(this.key);
		}

	}

	private final class Count extends Unawaited {

		private Count(AdvisoryLockKey second) {
			super(PostgresAdvisoryLockFunctions.countOthers(Members.this.lock, second));
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			long counts = row.getLong(1);
			Members.this.place = (int) (counts >> (2 * BITS));
			counted(others(counts), (int) (counts & MOST));
		}

	}

}
