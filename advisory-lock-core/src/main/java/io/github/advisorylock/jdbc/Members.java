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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * The instances of an application with an open {@link LockSession}, without a table: each
 * holds a shared lock of its namespace, and a second one whose number tells what it
 * guards; those that share work hold one of that work, too. All are taken with the first
 * statement on a connection, and counted with one that is sent anyway, once in a
 * heartbeat at most. Used by the thread of the session, but for what any thread may ask.
 * A drained instance is none of them.
 */
final class Members {

	private static final Log logger = LogFactory.getLog(Members.class);

	/**
	 * For how long two versions of an application run side by side.
	 */
	private static final long ROLL_OUT = Duration.ofMinutes(10).toNanos();

	static final String NAME = "advisory-lock:members";

	private static final Count NONE = new Count(0, 0);

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

	private final Map<String, AdvisoryLockKey> locks = new ConcurrentHashMap<>();

	/**
	 * The locks of work that is shared, and whether this instance takes part in it.
	 */
	private final Map<AdvisoryLockKey, Boolean> works = new ConcurrentHashMap<>();

	/**
	 * What the server has told last, by the second half of each lock.
	 */
	private volatile @Nullable Map<Integer, Count> counts;

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
			this.alike = lockOf(guarded);
		}
		this.wanted = true;
	}

	/**
	 * Take part in work that some members share, or no more, from the next statement on.
	 * @param work its name
	 * @return whether that changes anything
	 */
	boolean share(String work, boolean takesPart) {
		Boolean before = this.works.put(lockOf(work), takesPart);
		if (Boolean.valueOf(takesPart).equals(before)) {
			return false;
		}
		this.wanted = true;
		changed();
		return true;
	}

	/**
	 * Work is asked for by its name again and again.
	 */
	private AdvisoryLockKey lockOf(String what) {
		return this.locks.computeIfAbsent(what, (name) -> {
			AdvisoryLockKey hash = AdvisoryLockKey.of(this.namespace, NAME + ":" + name);
			return AdvisoryLockKey
				.ofValue(((long) this.lock.classId() << Integer.SIZE) | Integer.toUnsignedLong(hash.objectId()));
		});
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
		List<SessionCommand> due = new ArrayList<>();
		due.add(new Counting());
		boolean takesPart = !this.instance.isDrained();
		AdvisoryLockKey alike = this.alike;
		Stream.of(this.lock, (alike != null) ? alike : this.lock)
			.distinct()
			.forEach((key) -> add(due, key, takesPart, connection));
		this.works.forEach((key, shared) -> add(due, key, shared, connection));
		return due;
	}

	private static void add(List<SessionCommand> due, AdvisoryLockKey key, boolean takesPart,
			SessionConnection connection) {
		if (connection.isMember(key) != takesPart) {
			due.add(new Membership(key, takesPart));
		}
	}

	/**
	 * Have the next statement tell whether this instance is one of them, and count them.
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
		return (this.counts != null) ? OptionalInt.of(of(this.lock).others + 1) : OptionalInt.empty();
	}

	/**
	 * Return how many come before this one, as far as is known. Any thread may ask.
	 */
	int place() {
		return of(this.lock).before;
	}

	/**
	 * Return how many {@linkplain #share take part} in some work, with this one if it
	 * does, as far as is known. Any thread may ask.
	 */
	OptionalInt count(String work) {
		AdvisoryLockKey key = lockOf(work);
		int self = this.works.getOrDefault(key, false) ? 1 : 0;
		return (this.counts != null) ? OptionalInt.of(of(key).others + self) : OptionalInt.empty();
	}

	/**
	 * Return how many of those that take part in some work come before this one.
	 */
	int place(String work) {
		return of(lockOf(work)).before;
	}

	private Count of(AdvisoryLockKey key) {
		Map<Integer, Count> known = this.counts;
		return (known != null) ? known.getOrDefault(key.objectId(), NONE) : NONE;
	}

	/**
	 * Count the others on a connection that is none of them.
	 */
	OptionalInt others(Connection connection) throws SQLException {
		if (!this.wanted) {
			return OptionalInt.empty();
		}
		Counting question = new Counting();
		try (PreparedStatement statement = connection.prepareStatement(question.sql())) {
			question.bind(statement, 1);
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				return OptionalInt.of(Count.parse(row.getString(1)).getOrDefault(this.lock.objectId(), NONE).others);
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

	private void counted(Map<Integer, Count> told) {
		this.counts = told;
		long now = this.ticker.nanoTime();
		AdvisoryLockKey own = this.alike;
		int others = of(this.lock).others;
		int alike = (own != null) ? of(own).others : others;
		if (alike >= others) {
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

	private static final class Membership extends Unawaited {

		private final AdvisoryLockKey key;

		private final boolean begins;

		private Membership(AdvisoryLockKey key, boolean begins) {
			super(begins ? PostgresAdvisoryLockFunctions.trySessionLock(key, LockMode.SHARED)
					: PostgresAdvisoryLockFunctions.sessionUnlock(key, LockMode.SHARED));
			this.key = key;
			this.begins = begins;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			connection.member(this.key, this.begins && row.getBoolean(1));
		}

	}

	private final class Counting extends Unawaited {

		private Counting() {
			super(PostgresAdvisoryLockFunctions.countOthers(Members.this.lock));
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			counted(Count.parse(row.getString(1)));
		}

	}

	/**
	 * How many other sessions have a shared lock, and how many of them come before this
	 * one.
	 */
	private record Count(int others, int before) {

		private static Map<Integer, Count> parse(@Nullable String told) {
			Map<Integer, Count> counts = new HashMap<>();
			for (String lock : StringUtils.commaDelimitedListToStringArray(told)) {
				String[] words = StringUtils.delimitedListToStringArray(lock, ":");
				counts.put(Integer.parseUnsignedInt(words[0]),
						new Count(Integer.parseInt(words[1]), Integer.parseInt(words[2])));
			}
			return counts;
		}

	}

}
