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

package io.github.advisorylock.doctor;

/**
 * The SQL of the doctor.
 *
 * @see <a href=
 * "https://www.postgresql.org/docs/current/view-pg-settings.html">PostgreSQL manual,
 * section "pg_settings"</a>
 */
final class DoctorQueries {

	static final String DESCRIBE_SERVER = "SELECT pg_catalog.version(), pg_catalog.pg_is_in_recovery(), "
			+ "pg_catalog.pg_backend_pid()";

	static final String BACKEND_PID = "SELECT pg_catalog.pg_backend_pid()";

	/**
	 * Lock a key for the rest of the transaction, and tell where. Binds the key.
	 */
	static final String TRY_LOCK = """
			SELECT pg_catalog.pg_try_advisory_xact_lock(?), 'database "' || pg_catalog.current_database()::text || '" at '
			|| coalesce(pg_catalog.host(pg_catalog.inet_server_addr()) || ':' || pg_catalog.inet_server_port()::text,
			'a socket of its computer')""";

	/**
	 * Leave something in the server process, or nothing. Binds what.
	 */
	static final String LEAVE = "SELECT pg_catalog.set_config('advisory_lock.left', ?, false)";

	static final String LEFT = "SELECT pg_catalog.current_setting('advisory_lock.left', true)";

	/**
	 * Settings as the session has them, in their base units, and the limits of
	 * connections, besides what it is. A setting that a version has not got counts as
	 * zero.
	 */
	static final String DESCRIBE_SERVER_AND_SETTINGS = DESCRIBE_SERVER + """
			, pg_catalog.current_setting('server_version'),
			pg_catalog.inet_client_addr() IS NOT NULL,
			pg_catalog.current_setting('default_transaction_isolation'),
			pg_catalog.max(CASE name WHEN 'idle_in_transaction_session_timeout' THEN setting::bigint ELSE 0 END),
			pg_catalog.max(CASE name WHEN 'transaction_timeout' THEN setting::bigint ELSE 0 END),
			pg_catalog.max(CASE name WHEN 'tcp_user_timeout' THEN setting::bigint ELSE 0 END),
			pg_catalog.max(CASE name WHEN 'tcp_keepalives_idle' THEN setting::bigint ELSE 0 END),
			pg_catalog.max(CASE name WHEN 'max_locks_per_transaction' THEN setting::bigint ELSE 0 END),
			pg_catalog.max(CASE name WHEN 'max_connections' THEN setting::bigint ELSE 0 END)
			+ pg_catalog.max(CASE name WHEN 'max_prepared_transactions' THEN setting::bigint ELSE 0 END),
			pg_catalog.quote_ident(session_user),
			(SELECT CASE WHEN r.rolsuper THEN -1 ELSE r.rolconnlimit END FROM pg_catalog.pg_roles r
			WHERE r.rolname = session_user),
			pg_catalog.quote_ident(pg_catalog.current_database()),
			(SELECT CASE WHEN r.rolsuper THEN -1 ELSE d.datconnlimit END FROM pg_catalog.pg_roles r,
			pg_catalog.pg_database d WHERE r.rolname = session_user AND d.datname = pg_catalog.current_database()),
			pg_catalog.max(CASE name WHEN 'max_connections' THEN setting::bigint ELSE 0 END),
			(SELECT CASE WHEN r.rolsuper THEN 0
			ELSE pg_catalog.sum(CASE WHEN name LIKE '%reserved_connections' THEN setting::bigint ELSE 0 END) END
			FROM pg_catalog.pg_roles r WHERE r.rolname = session_user)
			FROM pg_catalog.pg_settings WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout',
			'tcp_user_timeout', 'tcp_keepalives_idle', 'max_locks_per_transaction', 'max_connections',
			'max_prepared_transactions', 'superuser_reserved_connections', 'reserved_connections')
			""";

	/**
	 * The server's name for this very statement; a pooler that keeps prepared statements
	 * has given it a name of its own.
	 */
	static final String NAME_OF_THIS_STATEMENT = """
			SELECT name FROM pg_catalog.pg_prepared_statements WHERE statement LIKE '%FROM pg_catalog.pg_prepared_statements%'
			AND prepare_time >= pg_catalog.now()
			""";

	private DoctorQueries() {
	}

	/**
	 * Forget a statement that the driver has prepared.
	 */
	static String deallocate(String name) {
		return "DEALLOCATE \"" + name.replace("\"", "\"\"") + "\"";
	}

}
