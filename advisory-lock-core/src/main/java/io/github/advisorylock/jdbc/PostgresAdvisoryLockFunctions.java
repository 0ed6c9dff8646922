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

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.jdbc.server.ApplicationName;
import io.github.advisorylock.jdbc.server.ApplicationRole;

/**
 * The SQL of PostgreSQL's advisory lock functions, with everything else that travels with
 * it. Keys are always bound: one {@code bigint}, or two {@code integer} for a pair.
 *
 * @see <a href=
 * "https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADVISORY-LOCKS">PostgreSQL
 * manual, section "Advisory Lock Functions"</a>
 */
final class PostgresAdvisoryLockFunctions {

	/**
	 * What a person may say to end a process of the server, for messages.
	 */
	static final String END_PROCESS = "SELECT pg_terminate_backend(%s)";

	/**
	 * What a person may say to stay connected for a while, for messages.
	 */
	static final String STAY = "SELECT pg_sleep(5)";

	/**
	 * The clock of the server, in milliseconds since the epoch, or zero where a server
	 * process is not one of a role that may do all that this one may. Binds the process.
	 */
	static final String CLOCK_IF_SAID_BY_OUR_ROLE = """
			SELECT coalesce((SELECT CAST(EXTRACT(EPOCH FROM pg_catalog.clock_timestamp()) * 1000 AS bigint)
			FROM pg_catalog.pg_stat_get_activity(?) a,
			pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) me
			WHERE %s), 0)
			""".formatted(ApplicationRole.IS_OURS);

	/**
	 * The database that a connection has reached, whatever names have led there.
	 */
	private static final String PLACE = """
			'database "' || pg_catalog.current_database()::text || '" at ' || coalesce(
			pg_catalog.host(pg_catalog.inet_server_addr()) || ':' || pg_catalog.inet_server_port()::text,
			'a socket of its computer')""";

	/**
	 * Locks a key that nobody else has, and tells where. Binds the key.
	 */
	static final String MARK = "SELECT CASE WHEN pg_catalog.pg_try_advisory_lock(?) THEN 1 ELSE 0 END, " + PLACE;

	/**
	 * Lets go of what {@link #MARK} has locked. Binds the key.
	 */
	static final String UNMARK = "SELECT CASE WHEN pg_catalog.pg_advisory_unlock(?) THEN 1 ELSE 0 END";

	/**
	 * Tells whether nobody in this database has a key, which database that is, and which
	 * process has answered. Binds the key, which it locks for no longer than its own
	 * transaction.
	 */
	static final String IS_FREE = "SELECT pg_catalog.pg_try_advisory_xact_lock(?), " + PLACE
			+ ", pg_catalog.pg_backend_pid()";

	private static final String IS_STANDBY = "pg_catalog.pg_is_in_recovery()";

	static final String IS_THIS_STANDBY = "SELECT " + IS_STANDBY;

	/**
	 * Is refused in a transaction that can only be rolled back.
	 */
	static final String IS_COMMITTABLE = "SELECT 1";

	static final String HEARTBEAT = "SELECT true";

	/**
	 * Ends each statement of the session, which has a row, and does what it is to do,
	 * only in the process that {@link #PREPARE_SESSION} has prepared: a pooler or proxy
	 * may hand a client to another one at any time, which knows nothing of its locks, and
	 * grants those of others. What stands before has no FROM of its own. Binds the mark
	 * of the session.
	 */
	static final String HERE = " WHERE " + isHere();

	/**
	 * Frees what another client has left in the server process, behind a pooler that does
	 * not: its locks, and its prepared statements, which have the names that the driver
	 * gives to its own. Answers the process. Binds the mark of the session, name,
	 * statement timeout, idle time before the first probe, interval of probes, number of
	 * probes, and how long sent data may stay unacknowledged.
	 */
	static final String PREPARE_SESSION = """
			SELECT pg_catalog.pg_backend_pid(),
			pg_catalog.set_config('advisory_lock.session', pg_catalog.pg_backend_pid()::text || ?, false),
			pg_catalog.set_config('application_name', ?, false),
			pg_catalog.set_config('statement_timeout', ?, false),
			pg_catalog.set_config('tcp_keepalives_idle', ?, false),
			pg_catalog.set_config('tcp_keepalives_interval', ?, false),
			pg_catalog.set_config('tcp_keepalives_count', ?, false),
			pg_catalog.set_config('tcp_user_timeout', ?, false),
			pg_catalog.set_config('idle_session_timeout', '0', false),
			pg_catalog.pg_advisory_unlock_all();
			DEALLOCATE ALL
			""";

	/**
	 * Leaves the server process as it was, locks, settings and all, for a pooler that
	 * hands it on as it is. Fails in any other process, whose locks are not ours: what
	 * {@code DISCARD ALL} does, but that can't be sent together with a condition. Binds
	 * the mark of the session.
	 */
	static final String LEAVE_NOTHING = "SELECT CASE WHEN " + isHere()
			+ " THEN 0 ELSE pg_catalog.concat('not asked here, but in process ', pg_catalog.pg_backend_pid())::integer END; "
			+ "SELECT pg_catalog.pg_advisory_unlock_all(); UNLISTEN *; RESET ALL; DEALLOCATE ALL";

	static final String CHECK_CLIENT_WHILE_EXECUTING = "SELECT pg_catalog.set_config("
			+ "'client_connection_check_interval', ?, false)";

	/**
	 * The driver leaves the portal of the last query open, and with it a snapshot that
	 * holds back VACUUM and CREATE INDEX CONCURRENTLY for as long as the lock is held. A
	 * utility command in the same flight replaces that portal by one without a snapshot;
	 * this one has no effect on anybody.
	 */
	private static final String RELEASE_SNAPSHOT = "; SET LOCAL advisory_lock.snapshot = 'released'";

	private static final String NAMED = " THEN CASE WHEN pg_catalog.set_config('application_name', ?, true) IS NOT NULL"
			+ " THEN pg_catalog.pg_backend_pid() END ELSE 0 END" + RELEASE_SNAPSHOT;

	private static final String TRY_IN_TRANSACTION = "SELECT CASE WHEN " + IS_STANDBY
			+ " THEN NULL WHEN pg_catalog.pg_try_advisory_xact_lock%s";

	private static final String IS_NO_PLACE_TO_WAIT = IS_STANDBY
			+ " OR pg_catalog.current_setting('transaction_isolation') IN ('repeatable read', 'serializable')";

	private static final String TRY_IN_TRANSACTION_BEFORE_WAIT = "SELECT CASE WHEN " + IS_NO_PLACE_TO_WAIT
			+ " THEN NULL WHEN pg_catalog.pg_try_advisory_xact_lock%s";

	private static final String[] TRY_TRANSACTION_LOCK = variants(TRY_IN_TRANSACTION + NAMED);

	private static final String[] TRY_TRANSACTION_LOCK_BEFORE_WAIT = variants(TRY_IN_TRANSACTION_BEFORE_WAIT + NAMED);

	/**
	 * Names the holder of the permit that was granted, if one was. The planner must not
	 * merge the inner query into the outer one, which would ask for the locks twice.
	 */
	private static final String GRANTED_TO_NAMED = "SELECT t.granted, CASE WHEN t.granted > 0 THEN CASE WHEN"
			+ " pg_catalog.set_config('application_name', ?, true) IS NOT NULL"
			+ " THEN pg_catalog.pg_backend_pid() END END FROM (SELECT %s AS granted OFFSET 0) AS t" + RELEASE_SNAPSHOT;

	private static final String[] TRY_SESSION_LOCK = variants("SELECT pg_catalog.pg_try_advisory_lock%s");

	/**
	 * Answers 1 where the lock was taken exclusively, 2 where another session holds it
	 * shared, 0 where another holds it exclusively. A shared holder may be another
	 * instance that only asks: each asks exclusively once more after it has released its
	 * shared lock, so the last one takes it. A CASE is evaluated in the order in which it
	 * stands.
	 */
	private static final String TRY_TICK = """
			SELECT CASE WHEN pg_catalog.pg_try_advisory_lock(?) THEN 1
			WHEN NOT pg_catalog.pg_try_advisory_lock_shared(?) THEN 0
			WHEN pg_catalog.pg_advisory_unlock_shared(?) AND pg_catalog.pg_try_advisory_lock(?) THEN 1
			ELSE 2 END
			""";

	/**
	 * Other sessions find the lock held at any time in between.
	 */
	private static final String SHARE_TICK = "SELECT CASE WHEN pg_catalog.pg_try_advisory_lock_shared(?)"
			+ " THEN pg_catalog.pg_advisory_unlock(?) ELSE false END";

	/**
	 * Asks whether any session of this database holds the lock of a tick shared, in a
	 * transaction that goes on, and leaving no snapshot open in it. Binds the two halves
	 * of the key as {@code bigint}.
	 */
	static final String IS_TICK_KEPT = """
			SELECT EXISTS (SELECT FROM pg_catalog.pg_locks l
			WHERE l.locktype = 'advisory' AND l.granted AND l.mode = 'ShareLock'
			AND l.database = (SELECT a.datid FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) a)
			AND l.classid::bigint = ? AND l.objid::bigint = ? AND l.objsubid = 1)
			""" + RELEASE_SNAPSHOT;

	/**
	 * Releases locks of one mode each: the letter in front of a key is {@code s} for
	 * shared.
	 */
	private static final String UNLOCK_SOME = """
			SELECT (SELECT pg_catalog.bool_and(CASE WHEN pg_catalog.left(k, 1) = 's'
			THEN pg_catalog.pg_advisory_unlock_shared(pg_catalog.substr(k, 2)::bigint)
			ELSE pg_catalog.pg_advisory_unlock(pg_catalog.substr(k, 2)::bigint) END)
			FROM pg_catalog.unnest(pg_catalog.string_to_array(?, ',')) AS k)
			""";

	/**
	 * Releases what this session holds, but for some entries of the lock table with their
	 * modes. What it holds several times is released once. Answers how many were. A
	 * session has locks of its own database only, and asking which that is would need
	 * room in the lock table, which may be full.
	 */
	static final String UNLOCK_ALL_BUT = """
			SELECT (SELECT count(*) FILTER (WHERE CASE
			WHEN pg_catalog.concat_ws(':', l.classid, l.objid, l.objsubid, l.mode)
			= ANY (pg_catalog.string_to_array(?, ',')) THEN false
			WHEN l.objsubid = 2 AND l.mode = 'ShareLock'
			THEN pg_catalog.pg_advisory_unlock_shared(l.classid::integer, l.objid::integer)
			WHEN l.objsubid = 2 THEN pg_catalog.pg_advisory_unlock(l.classid::integer, l.objid::integer)
			WHEN l.mode = 'ShareLock'
			THEN pg_catalog.pg_advisory_unlock_shared(l.classid::bigint << 32 | l.objid::bigint)
			ELSE pg_catalog.pg_advisory_unlock(l.classid::bigint << 32 | l.objid::bigint) END)
			FROM pg_catalog.pg_locks l
			WHERE l.locktype = 'advisory' AND l.granted AND l.pid = pg_catalog.pg_backend_pid())
			""";

	/**
	 * Answers how many other sessions of this database have each shared lock whose key
	 * begins with the same half, and how many of them come before this session: second
	 * half and both numbers with colons between them, {@code null} for none. Binds the
	 * first half, as {@code bigint}.
	 */
	private static final String COUNT_OTHERS = """
			SELECT (SELECT pg_catalog.string_agg(counted, ',') FROM (
			SELECT pg_catalog.concat_ws(':', l.objid, count(*), count(*) FILTER (WHERE l.pid < pg_catalog.pg_backend_pid())) AS counted
			FROM pg_catalog.pg_locks l
			WHERE l.locktype = 'advisory' AND l.granted AND l.mode = 'ShareLock' AND l.pid <> pg_catalog.pg_backend_pid()
			AND l.database = (SELECT a.datid FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) a)
			AND l.classid::bigint = ? AND l.objsubid = 1 GROUP BY l.objid) AS counts)
			""";

	private static final String[] SESSION_UNLOCK = variants("SELECT pg_catalog.pg_advisory_unlock%s");

	private static final String FIND_MISSING = """
			SELECT (SELECT pg_catalog.string_agg(w, ',')
			FROM pg_catalog.unnest(pg_catalog.string_to_array(?, ',')) AS w
			WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_locks l WHERE l.locktype = 'advisory' AND l.granted
			AND pg_catalog.concat_ws(':', l.pid, l.classid, l.objid, l.objsubid) = w))
			""";

	/**
	 * Answers the place of the last of some entries that any session of this database
	 * has, from 1 on, 0 for none. Which database this is need not be looked up in a
	 * table.
	 */
	private static final String FIND_LAST_HELD = """
			SELECT (SELECT coalesce(pg_catalog.max(w.place), 0)
			FROM pg_catalog.unnest(pg_catalog.string_to_array(?, ',')) WITH ORDINALITY AS w(entry, place)
			WHERE EXISTS (SELECT FROM pg_catalog.pg_locks l WHERE l.locktype = 'advisory' AND l.granted
			AND l.database = (SELECT a.datid FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) a)
			AND pg_catalog.concat_ws(':', l.classid, l.objid, l.objsubid) = w.entry))
			""";

	/**
	 * Answers which processes have locks outside a transaction and are no session of
	 * locks, or one of this namespace that has said nothing for longer than it may.
	 */
	private static final String FIND_LEFT = """
			SELECT (SELECT pg_catalog.string_agg(DISTINCT a.pid::text, ', ')
			FROM pg_catalog.pg_locks l, pg_catalog.pg_stat_get_activity(l.pid) a,
			pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) me
			WHERE l.locktype = 'advisory' AND l.granted AND a.datid = me.datid AND a.pid <> me.pid AND a.state = 'idle'
			AND l.classid::bigint <> ? AND CASE WHEN a.application_name NOT LIKE 'al:%' THEN a.usesysid = me.usesysid
			ELSE pg_catalog.split_part(a.application_name, '@', 1) = pg_catalog.split_part(me.application_name, '@', 1)
			AND a.state_change < pg_catalog.clock_timestamp() - ? * interval '1 millisecond' END)
			""";

	/**
	 * The right to cancel is that of the login, where a role is set.
	 */
	private static final String CANCEL_STATEMENT = """
			SELECT (SELECT count(*) FILTER (WHERE CASE WHEN pg_catalog.set_config('role', 'none', true) IS NOT NULL
			THEN pg_catalog.pg_cancel_backend(l.pid) END) FROM pg_catalog.pg_locks l
			WHERE l.locktype = 'advisory' AND l.granted
			AND pg_catalog.concat_ws(':', l.pid, l.classid, l.objid, l.objsubid) = ?)
			""";

	private PostgresAdvisoryLockFunctions() {
	}

	/**
	 * Take a lock for the rest of the transaction, and name its holder in
	 * {@code pg_stat_activity}, for the rest of the transaction too. Binds the key, then
	 * the name; answers the process that has taken the lock, 0 where somebody else has
	 * it, and {@code null}, taking no lock, on a standby, where the primary grants the
	 * same one. Asking costs no round trip and no access to anything shared.
	 */
	static String tryTransactionLock(AdvisoryLockKey key, LockMode mode) {
		return choose(TRY_TRANSACTION_LOCK, key, mode);
	}

	/**
	 * As {@link #tryTransactionLock}, but answers {@code null}, and takes no lock, also
	 * where the isolation level does not allow to wait for one.
	 */
	static String tryTransactionLockBeforeWait(AdvisoryLockKey key, LockMode mode) {
		return choose(TRY_TRANSACTION_LOCK_BEFORE_WAIT, key, mode);
	}

	static Call trySessionLock(AdvisoryLockKey key, LockMode mode) {
		return call(TRY_SESSION_LOCK, key, mode);
	}

	/**
	 * Take the first of some permits that is free. Answers its place among them, from 1
	 * on, 0 where all are held.
	 * @param permits keys of one format, at least one
	 */
	static Call trySessionPermits(List<AdvisoryLockKey> permits) {
		List<Object> numbers = permits.stream().flatMap((permit) -> numbers(permit).stream()).toList();
		return new Call("SELECT " + firstGranted("", "pg_try_advisory_lock", permits), numbers);
	}

	/**
	 * Take the first of some permits that is free for the rest of the transaction, and
	 * name its holder, as {@link #tryTransactionLock} does. Answers two columns: the
	 * place of the permit among them, from 1 on, 0 where all are held, {@code null} where
	 * that method answers {@code null}; and the process that has taken it.
	 * @param permits keys of one format, at least one
	 * @param mayWait as in {@link #tryTransactionLockBeforeWait}
	 */
	static String tryTransactionPermits(List<AdvisoryLockKey> permits, boolean mayWait) {
		return GRANTED_TO_NAMED
			.formatted(firstGranted(" WHEN " + (mayWait ? IS_NO_PLACE_TO_WAIT : IS_STANDBY) + " THEN NULL",
					"pg_try_advisory_xact_lock", permits));
	}

	/**
	 * A CASE is evaluated in the order in which it stands, as far as to the first that is
	 * true: nothing behind the permit that is granted is asked for.
	 */
	private static String firstGranted(String before, String function, List<AdvisoryLockKey> permits) {
		String arguments = permits.get(0).isPair() ? "(?, ?)" : "(?)";
		StringBuilder sql = new StringBuilder("CASE").append(before);
		for (int i = 1; i <= permits.size(); i++) {
			sql.append(" WHEN pg_catalog.").append(function).append(arguments).append(" THEN ").append(i);
		}
		return sql.append(" ELSE 0 END").toString();
	}

	static Call sessionUnlock(AdvisoryLockKey key, LockMode mode) {
		return call(SESSION_UNLOCK, key, mode);
	}

	/**
	 * Take the lock of a tick exclusively, unless another session has it.
	 */
	static Call tryTick(AdvisoryLockKey tick) {
		return new Call(TRY_TICK, List.of(tick.value(), tick.value(), tick.value(), tick.value()));
	}

	/**
	 * Turn the exclusive lock of a tick into a shared one.
	 */
	static Call shareTick(AdvisoryLockKey tick) {
		return new Call(SHARE_TICK, List.of(tick.value(), tick.value()));
	}

	/**
	 * Release 64-bit keys, each in its mode, in one statement.
	 */
	static Call sessionUnlock(List<String> locks) {
		return new Call(UNLOCK_SOME, List.of(String.join(",", locks)));
	}

	/**
	 * Write a 64-bit key and its mode as {@link #sessionUnlock(List)} expects it.
	 */
	static String lock(AdvisoryLockKey key, LockMode mode) {
		return ((mode == LockMode.SHARED) ? "s" : "x") + key.value();
	}

	private static Call call(String[] variants, AdvisoryLockKey key, LockMode mode) {
		return new Call(choose(variants, key, mode), numbers(key));
	}

	/**
	 * Return what the functions take for a key.
	 */
	private static List<Object> numbers(AdvisoryLockKey key) {
		return key.isPair() ? List.of(key.classId(), key.objectId()) : List.of(key.value());
	}

	/**
	 * Find out which of some {@linkplain #entry entries} the lock table does not have.
	 * Answers them with commas between them, {@code null} for none.
	 */
	static Call findMissing(Collection<String> entries) {
		return new Call(FIND_MISSING, List.of(String.join(",", entries)));
	}

	/**
	 * Find the last of some {@linkplain #entry entries} that any session has. Answers its
	 * place among them, from 1 on, 0 where none is held.
	 */
	static Call findLastHeld(List<String> entries) {
		return new Call(FIND_LAST_HELD, List.of(String.join(",", entries)));
	}

	/**
	 * Count those who have shared locks whose keys begin with the same half.
	 */
	static Call countOthers(AdvisoryLockKey one) {
		return new Call(COUNT_OTHERS, List.of(Integer.toUnsignedLong(one.classId())));
	}

	/**
	 * Find out which processes have kept locks that their clients know nothing of.
	 * Answers them with commas between them, {@code null} for none.
	 * @param silentMillis for how long no session of locks says nothing
	 * @param members the first half of the locks of members, which a silent session has
	 */
	static Call findLeft(long silentMillis, long members) {
		return new Call(FIND_LEFT, List.of(members, silentMillis));
	}

	/**
	 * Cancel the statement that a process executes, if any, provided that it has a lock.
	 * Answers how many were told.
	 */
	static Call cancelStatement(int backend, AdvisoryLockKey key) {
		return new Call(CANCEL_STATEMENT, List.of(entry(backend, key)));
	}

	/**
	 * Write a process and its key as {@link #findMissing} expects it.
	 */
	static String entry(int backend, AdvisoryLockKey key) {
		return backend + ":" + entry(key);
	}

	/**
	 * Write a key as the lock table has it: class, object and kind.
	 */
	static String entry(AdvisoryLockKey key) {
		return Integer.toUnsignedString(key.classId()) + ":" + Integer.toUnsignedString(key.objectId()) + ":"
				+ (key.isPair() ? 2 : 1);
	}

	/**
	 * Ask whether this session has an entry in the lock table for a key, in a transaction
	 * that goes on, and leaving no snapshot open in it. Binds the two halves of the key
	 * as {@code bigint}. A session has locks of its own database only.
	 */
	static String confirmHold(AdvisoryLockKey key) {
		return """
				SELECT EXISTS (SELECT FROM pg_catalog.pg_locks l
				WHERE l.locktype = 'advisory' AND l.granted AND l.pid = pg_catalog.pg_backend_pid()
				AND l.classid::bigint = ? AND l.objid::bigint = ? AND l.objsubid = %d)
				""".formatted(key.isPair() ? 2 : 1) + RELEASE_SNAPSHOT;
	}

	/**
	 * Write a key that is held in a mode as {@link #UNLOCK_ALL_BUT} expects it.
	 */
	static String entry(AdvisoryLockKey key, LockMode mode) {
		return entry(key) + ((mode == LockMode.SHARED) ? ":ShareLock" : ":ExclusiveLock");
	}

	/**
	 * Ask whether any session of this database holds a key. Binds the two halves of the
	 * key as {@code bigint}.
	 */
	static String isHeld(AdvisoryLockKey key) {
		return """
				SELECT EXISTS (SELECT FROM pg_catalog.pg_locks l
				JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = pg_catalog.current_database()
				WHERE l.locktype = 'advisory' AND l.granted
				AND l.classid::bigint = ? AND l.objid::bigint = ? AND l.objsubid = %d)
				""".formatted(key.isPair() ? 2 : 1);
	}

	/**
	 * Names the session. Binds the name, and answers a number.
	 */
	static final String NAME_SESSION = "SELECT pg_catalog.length(pg_catalog.set_config('application_name', ?, false))";

	/**
	 * Bind a key, then the name of the holder.
	 */
	static void bindHolder(PreparedStatement statement, AdvisoryLockKey key, LockInstance holder) throws SQLException {
		int next = 1;
		for (Object number : numbers(key)) {
			statement.setObject(next++, number);
		}
		statement.setString(next, ApplicationName.of(key.name(), holder));
	}

	/**
	 * Bind the name of the holder, then permits of its key.
	 */
	static void bindHolder(PreparedStatement statement, AdvisoryLockKey key, LockInstance holder,
			List<AdvisoryLockKey> permits) throws SQLException {
		int next = 1;
		statement.setString(next++, ApplicationName.of(key.name(), holder));
		for (AdvisoryLockKey permit : permits) {
			for (Object number : numbers(permit)) {
				statement.setObject(next++, number);
			}
		}
	}

	private static String isHere() {
		return "pg_catalog.current_setting('advisory_lock.session', true) = pg_catalog.pg_backend_pid()::text || ?";
	}

	private static String[] variants(String sql) {
		return new String[] { sql.formatted("(?)"), sql.formatted("(?, ?)"), sql.formatted("_shared(?)"),
				sql.formatted("_shared(?, ?)") };
	}

	private static String choose(String[] variants, AdvisoryLockKey key, LockMode mode) {
		return variants[((mode == LockMode.SHARED) ? 2 : 0) + (key.isPair() ? 1 : 0)];
	}

	/**
	 * Sets these for the rest of the session. A statement of its own kind rather than
	 * start-up options, which poolers refuse. The server can check for the client while
	 * it executes on Linux in all versions, and would refuse the value elsewhere.
	 * <p>
	 * Through a pooler nothing is set, as it would stay for other clients: the date style
	 * that PostgreSQL's driver asks for when it connects comes from the client only where
	 * it has connected to the server itself.
	 */
	static String detectDeadClient(long idle, long interval, int probes, long userTimeoutMillis,
			long checkIntervalMillis) {
		return """
				SELECT pg_catalog.set_config('tcp_keepalives_idle', '%d', false), \
				pg_catalog.set_config('tcp_keepalives_interval', '%d', false), \
				pg_catalog.set_config('tcp_keepalives_count', '%d', false), \
				pg_catalog.set_config('tcp_user_timeout', '%d', false), \
				CASE WHEN pg_catalog.version() LIKE '%%linux%%' \
				THEN pg_catalog.set_config('client_connection_check_interval', '%d', false) END \
				FROM pg_catalog.pg_settings WHERE name = 'DateStyle' AND source = 'client'""".formatted(idle, interval,
				probes, userTimeoutMillis, checkIntervalMillis);
	}

	/**
	 * A function call with what it binds.
	 *
	 * @param sql the text, with a question mark for each parameter
	 * @param parameters what to bind
	 */
	record Call(String sql, List<Object> parameters) {

		/**
		 * Return a call that does something else in the same statement.
		 */
		Call and(String column, List<Object> more) {
			List<Object> all = new ArrayList<>(this.parameters);
			all.addAll(more);
			return new Call(this.sql + ", " + column, all);
		}

	}

}
