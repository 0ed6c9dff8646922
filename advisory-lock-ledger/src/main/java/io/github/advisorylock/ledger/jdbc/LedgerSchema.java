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

package io.github.advisorylock.ledger.jdbc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * The tables of the ledger. Creates them where it may, and never drops anything.
 */
record LedgerSchema(LedgerConnections connections, LedgerSettings settings) {

	private static final Log logger = LogFactory.getLog(LedgerSchema.class);

	private static final String LOCK_NOT_AVAILABLE = "55P03";

	private static final int ATTEMPTS = 5;

	/**
	 * A large fleet that starts at once is in line for longer than a second, and keeps
	 * nobody from a table meanwhile.
	 */
	private static final String WAIT_FOR_INSTANCES = "SET LOCAL lock_timeout = '5s'";

	/**
	 * The tables of a prefix, in its schema or on the search path, and what the current
	 * role may do with them: a row for each table, found or not, with the columns and
	 * privileges that are missing, {@code DELETE} apart. Reads catalogs only, so that it
	 * neither fails nor stands in anybody's way. A schema of the search path that the
	 * role may not use is none for PostgreSQL, and is found here nevertheless.
	 */
	private static final String INSPECT = """
			SELECT w.kind, c.name, c.schema, c.usable, c.missing, c.deletable, c.hidden, c.other_kind, c.outdated, w.columns AS primary_key,
			  c.has_key, c.localized, c.lacking,
			  pg_catalog.quote_ident(current_user) AS role, pg_catalog.current_setting('search_path') AS path, s.own_path,
			  pg_catalog.quote_ident(pg_catalog.current_database()) AS database,
			  pg_catalog.current_setting('server_encoding') AS encoding, s.read_only,
			  CAST(:schema AS text) IS NULL OR EXISTS (
			    SELECT FROM pg_catalog.pg_namespace n WHERE n.nspname = CAST(:schema AS text)) AS has_schema,
			  pg_catalog.quote_ident(coalesce(CAST(:schema AS text), pg_catalog.current_schema())) AS target,
			  'read committed' <> ANY (ARRAY[pg_catalog.current_setting('default_transaction_isolation'), s.own_isolation]) AS strict
			FROM (VALUES ('job', 'namespace, key', 'first_seen_at, last_tick, last_started_at, last_finished_at, last_outcome, '
			      || 'fencing_token, template, resumed_at, open_tick, attempts, failed_attempts, given_up, cancelled_at, failures, retry_at, '
			      || 'next_at, remember_until, held_until, held_since, method, scope, schedules, once, min_interval, catch_up, period, recorded, lock'),
			    ('run', 'namespace, key, fencing_token', 'id, tick, scope, instance, started_at, finished_at, outcome, failed, bad_end, error, '
			      || 'error_class, attempt, template, lock, keep_until, trace_id, stack_trace, hang_stack'),
			    ('completion', 'namespace, key', 'completed_at, remember_until, result'),
			    ('instance', 'namespace, instance, born_at', 'started_at, seen_at, stopped_at, version, library, clock_skew_ms, '
			      || 'roles, terms, led_since, schedules, backend, drained_at, drained_by'),
			    ('pause', 'namespace, key', 'paused_at, paused_by, reason'),
			    ('question', 'id', 'lock, asked_at, instances, threads, thread_states, stacks, processes'),
			    ('schedule', 'namespace, key, effective_at', 'expression, zone, changed_at, changed_by, reason, '
			      || 'schedules'),
			    ('backfill', 'namespace, key', 'from_at, to_at, ticks, done, skipped, current_tick, instance, started_by, started_at, '
			      || 'seen_at, outcome, error_class, error'),
			    ('fencing_token', NULL, NULL),
			    ('job_state', NULL, NULL)) w (kind, columns, others)
			CROSS JOIN (
			  SELECT pg_catalog.max(g.reset_val) FILTER (WHERE g.name = 'search_path') AS own_path,
			    pg_catalog.max(g.reset_val) FILTER (WHERE g.name = 'default_transaction_isolation') AS own_isolation,
			    pg_catalog.max(g.source) FILTER (WHERE g.name = 'default_transaction_read_only' AND g.setting = 'on') AS read_only
			  FROM pg_catalog.pg_settings g
			) s
			LEFT JOIN LATERAL (
			  SELECT pg_catalog.quote_ident(n.nspname) AS schema, pg_catalog.quote_ident(o.relname) AS name,
			    pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS usable,
			    CASE WHEN o.relkind = 'S' THEN
			      CASE WHEN pg_catalog.has_sequence_privilege(o.oid, 'USAGE') THEN '' ELSE 'USAGE' END
			    ELSE pg_catalog.array_to_string(ARRAY(
			      SELECT p.name FROM pg_catalog.unnest(CASE w.kind WHEN 'job_state' THEN ARRAY['SELECT'] ELSE
			        ARRAY['SELECT', 'INSERT', 'UPDATE', CASE WHEN w.kind IN ('pause', 'question', 'schedule', 'backfill') THEN 'DELETE' END] END) p (name)
			      WHERE NOT pg_catalog.has_table_privilege(o.oid, p.name)), ', ') END AS missing,
			    o.relkind = 'S' OR w.kind = 'job_state' OR pg_catalog.has_table_privilege(o.oid, 'DELETE') AS deletable,
			    CASE WHEN o.relkind = 'f' THEN 'a foreign table' WHEN o.relkind = 'v' AND w.kind <> 'job_state' THEN 'a view' END
			      AS other_kind,
			    CASE WHEN w.kind = 'job_state' THEN pg_catalog.pg_get_viewdef(o.oid) NOT LIKE '%CANCELLED%'
			      WHEN w.kind IN ('instance', 'run') AND 2 > (SELECT count(*) FROM pg_catalog.pg_attribute a
			        WHERE a.attrelid = o.oid AND a.attname IN ('schedules', 'drained_at', 'outcome', 'bad_end')) THEN true
			      ELSE EXISTS (SELECT FROM pg_catalog.pg_constraint k CROSS JOIN LATERAL pg_catalog.pg_get_constraintdef(k.oid) d (text)
			        WHERE k.conrelid = o.oid AND k.contype = 'c' AND d.text LIKE '%ABANDONED%' AND d.text NOT LIKE '%CANCELLED%')
			      END AS outdated,
			    o.relkind IN ('S', 'v', 'f') OR EXISTS (
			      SELECT FROM pg_catalog.pg_index x CROSS JOIN LATERAL (
			        SELECT pg_catalog.array_agg(CAST(a.attname AS text)) FROM pg_catalog.pg_attribute a
			        JOIN pg_catalog.unnest(x.indkey) WITH ORDINALITY i (number, position)
			          ON i.number = a.attnum AND i.position <= x.indnkeyatts
			        WHERE a.attrelid = o.oid) k (columns)
			      WHERE x.indrelid = o.oid AND x.indisunique AND x.indimmediate
			        AND x.indisvalid AND x.indpred IS NULL AND x.indexprs IS NULL
			        AND pg_catalog.string_to_array(w.columns, ', ') @> k.columns
			        AND k.columns @> pg_catalog.string_to_array(w.columns, ', ')
			    ) AS has_key,
			    (SELECT pg_catalog.string_agg(x.name, ', ') FROM pg_catalog.unnest(
			        pg_catalog.string_to_array(w.columns || ', ' || w.others, ', ')) x (name)
			      WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = o.oid AND a.attname = x.name
			        AND NOT a.attisdropped)) AS lacking,
			    (SELECT pg_catalog.string_agg('ALTER COLUMN ' || a.attname || ' TYPE text COLLATE "C"', ', ')
			      FROM pg_catalog.pg_attribute a
			      JOIN pg_catalog.pg_collation n ON n.oid = a.attcollation
			      WHERE a.attrelid = o.oid AND a.attname IN ('namespace', 'key', 'instance', 'template')
			        AND n.collname NOT IN ('C', 'POSIX')) AS localized,
			    CASE WHEN o.relkind = 'S' OR NOT pg_catalog.row_security_active(o.oid) THEN NULL ELSE (
			      SELECT CASE WHEN pg_catalog.bool_or(NOT p.polpermissive) THEN 'by a restrictive policy'
			        WHEN pg_catalog.bool_or(p.polcmd = '*' AND pg_catalog.pg_get_expr(p.polqual, o.oid) = 'true'
			          AND coalesce(pg_catalog.pg_get_expr(p.polwithcheck, o.oid), 'true') = 'true') THEN NULL
			        ELSE 'without a policy' END
			      FROM pg_catalog.pg_policy p WHERE p.polrelid = o.oid AND EXISTS (
			        SELECT FROM pg_catalog.unnest(p.polroles) r (role)
			        WHERE CASE WHEN r.role = 0 THEN true ELSE pg_catalog.pg_has_role(r.role, 'USAGE') END)
			    ) END AS hidden
			  FROM pg_catalog.pg_class o JOIN pg_catalog.pg_namespace n ON n.oid = o.relnamespace
			  WHERE o.relname = CAST(:prefix || w.kind AS name) AND o.relkind IN ('r', 'p', 'v', 'f', 'S')
			    AND CASE WHEN CAST(:schema AS text) IS NOT NULL THEN n.nspname = CAST(:schema AS text)
			      ELSE n.nspname = ANY (pg_catalog.current_schemas(true)) OR n.nspname = ANY (
			        pg_catalog.string_to_array(pg_catalog.translate(pg_catalog.replace(
			          pg_catalog.current_setting('search_path'), '$user', current_user), '" ', ''), ',')) END
			  ORDER BY pg_catalog.array_position(pg_catalog.current_schemas(true), n.nspname) LIMIT 1
			) c ON true
			""";

	/**
	 * The process that keeps others longest from making tables: one that makes them
	 * itself, or has changed a table and not committed that.
	 */
	private static final String FIND_MAKER = """
			SELECT a.pid, a.application_name, a.usename, pg_catalog.age(pg_catalog.clock_timestamp(), a.xact_start) AS age
			FROM pg_catalog.pg_stat_activity a WHERE a.pid <> pg_catalog.pg_backend_pid() AND a.pid IN (
			  SELECT l.pid FROM pg_catalog.pg_locks l
			  JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = pg_catalog.current_database()
			  WHERE l.granted AND ((l.locktype = 'relation' AND l.mode = 'AccessExclusiveLock')
			    OR (l.locktype = 'advisory' AND l.objsubid = 1
			      AND CAST(l.classid AS bigint) << 32 | CAST(l.objid AS bigint) = :lock)))
			ORDER BY a.xact_start LIMIT 1
			""";

	/**
	 * Create what is missing if that is wanted, and look where the tables are: a job that
	 * changes its search path later has the same ledger.
	 * @return what the ledger goes by as long as the application runs
	 * @throws LedgerSchemaException if tables, columns or privileges are missing in the
	 * end
	 */
	Opened open() {
		List<FoundTable> tables = find();
		FoundTable.checkWritable(tables.get(0));
		if (this.settings.initializeSchema() && !FoundTable.isComplete(tables)) {
			create(tables.get(0));
			tables = find();
		}
		FoundTable.check(tables);
		boolean deletable = tables.stream().allMatch(FoundTable::deletable);
		if (!deletable) {
			FoundTable.warnOfDelete(tables);
		}
		return new Opened(new LedgerTables(tables.stream()
			.collect(Collectors.toMap((table) -> "fencing_token".equals(table.kind()) ? "token" : table.kind(),
					(table) -> table.schema() + "." + table.name()))),
				deletable);
	}

	/**
	 * Make sure that the tables are as they should be, and can be written.
	 * @throws LedgerSchemaException if not
	 */
	void check() {
		List<FoundTable> tables = this.connections.readingBriefly(this::inspect);
		FoundTable.checkWritable(tables.get(0));
		FoundTable.check(tables);
	}

	/**
	 * The search path of a transaction may be that of a tenant, and which ledger it is
	 * must not depend on who asks first. What a connection begins with can be told from
	 * what was set later, unless the pool sets that: then another connection shows it.
	 */
	private List<FoundTable> find() {
		List<FoundTable> tables = this.connections.reading(this::inspect);
		FoundTable any = tables.get(0);
		if (this.settings.tablePrefix().indexOf('.') >= 0 || any.path().equals(any.ownPath())
				|| !this.connections.areInTransaction()) {
			return tables;
		}
		try {
			return this.connections.apart(this::inspect);
		}
		catch (DataAccessResourceFailureException ex) {
			throw new LedgerSchemaException(
					"its tables can't be looked for along the search path of the current transaction (" + any.path()
							+ "), which is not the one that the role has (" + any.ownPath()
							+ "), and there is no other connection: let 'advisory-lock.ledger.table-prefix' name the "
							+ "schema, or the pool have another one",
					ex);
		}
	}

	/**
	 * Unquoted names mean their lower case.
	 */
	private List<FoundTable> inspect(NamedParameterJdbcOperations jdbc) {
		String prefix = this.settings.tablePrefix().toLowerCase(Locale.ROOT);
		int dot = prefix.indexOf('.');
		MapSqlParameterSource parameters = new MapSqlParameterSource()
			.addValue("schema", (dot >= 0) ? prefix.substring(0, dot) : null, Types.VARCHAR)
			.addValue("prefix", prefix.substring(dot + 1));
		return jdbc.query(INSPECT, parameters, (row, number) -> table(row));
	}

	private FoundTable table(ResultSet row) throws SQLException {
		this.connections.useReadCommitted(row.getBoolean("strict"));
		this.connections.useText(StorableText.in(row.getString("encoding")));
		String kind = row.getString("kind");
		return new FoundTable(this.settings.tablePrefix() + kind, kind, row.getString("schema"), row.getString("name"),
				row.getBoolean("usable"), row.getString("missing"), row.getBoolean("deletable"), row.getString("role"),
				row.getString("path"), row.getString("own_path"), row.getBoolean("has_schema"), row.getString("target"),
				row.getString("database"), row.getString("read_only"), row.getString("hidden"),
				row.getString("other_kind"), row.getString("primary_key"), row.getBoolean("has_key"),
				row.getBoolean("outdated"), row.getString("localized"), row.getString("lacking"));
	}

	/**
	 * One instance at a time, and only what is still missing then: a table that is used
	 * already is not touched. Whoever waits for a lock keeps all that come later from the
	 * table, so that each try waits for a moment only.
	 */
	private void create(FoundTable table) {
		for (int attempt = 1; !createInTime(table, attempt == ATTEMPTS); attempt++) {
			logger.debug("The ledger of advisory locks waits for another transaction to commit");
		}
	}

	private boolean createInTime(FoundTable table, boolean last) {
		try {
			return this.connections.inTransaction((jdbc) -> {
				jdbc.getJdbcOperations().execute(WAIT_FOR_INSTANCES);
				jdbc.query("SELECT pg_catalog.pg_advisory_xact_lock(:lock)", Map.of("lock", LedgerPurge.LOCK),
						(row) -> {
						});
				jdbc.getJdbcOperations().execute(LedgerConnections.HURRY);
				List<FoundTable> found = inspect(jdbc);
				return FoundTable.isComplete(found) || populate(jdbc, found);
			});
		}
		catch (DataAccessResourceFailureException ex) {
			throw new LedgerSchemaException(
					"its tables could not be created" + (this.connections.areInTransaction()
							? ", which needs a connection besides that of the current transaction" : ""),
					ex, byMigration("L"));
		}
		catch (DataAccessException ex) {
			if (FoundTable.isComplete(find())) {
				return true;
			}
			String state = (ex.getMostSpecificCause() instanceof SQLException cause) ? cause.getSQLState() : null;
			if (LOCK_NOT_AVAILABLE.equals(state)) {
				if (last) {
					throw new LedgerSchemaException("its tables could not be created" + findMaker(), ex,
							"Have that end its transaction, and start again.");
				}
				return false;
			}
			throw new LedgerSchemaException("its tables could not be created", ex,
					byMigration(LedgerSchemaException.INSUFFICIENT_PRIVILEGE.equals(state)
							? "Run '" + table.grantCreate() + "' as the owner of the schema, or l" : "L"));
		}
	}

	private String findMaker() {
		return this.connections.reading((jdbc) -> jdbc.query(FIND_MAKER, Map.of("lock", LedgerPurge.LOCK),
				(row, number) -> ", server process " + row.getInt("pid") + " ('" + row.getString("application_name")
						+ "', role " + row.getString("usename") + ", in a transaction for " + row.getString("age")
						+ ") is in the way"))
			.stream()
			.findFirst()
			.orElse("");
	}

	/**
	 * Return what to do where this application can't create the tables, though it is to.
	 */
	private static String byMigration(String start) {
		return start + "et Flyway or Liquibase run 'classpath:" + LedgerSchemaException.LOCATION
				+ "' with a role that may create tables, and set 'advisory-lock.ledger.initialize-schema' to 'never'.";
	}

	private boolean populate(NamedParameterJdbcOperations jdbc, List<FoundTable> tables) {
		ResourceDatabasePopulator populator = new ResourceDatabasePopulator(script(tables));
		jdbc.getJdbcOperations().execute((Connection connection) -> {
			populator.populate(connection);
			return true;
		});
		return true;
	}

	/**
	 * The parts of the script, with an empty line between them, for what is missing or of
	 * an earlier version, with the configured names. An index has no schema of its own.
	 */
	private Resource script(List<FoundTable> tables) {
		try {
			String script = new ClassPathResource(LedgerSchemaException.LOCATION, LedgerSchema.class.getClassLoader())
				.getContentAsString(StandardCharsets.UTF_8);
			String ddl = tables.stream()
				.filter((table) -> !table.isCurrent())
				.flatMap((table) -> Arrays.stream(script.split("\\R\\R")).filter((part) -> isFor(table, part)))
				.collect(Collectors.joining("\n"));
			String prefix = this.settings.tablePrefix();
			String named = ddl
				.replaceAll(
						"(INDEX IF NOT EXISTS|CONSTRAINT|CONSTRAINT IF EXISTS) " + LedgerSettings.DEFAULT_TABLE_PREFIX,
						"$1 ?")
				.replace(LedgerSettings.DEFAULT_TABLE_PREFIX, prefix)
				.replace("?", prefix.substring(prefix.indexOf('.') + 1));
			return new ByteArrayResource(named.getBytes(StandardCharsets.UTF_8), LedgerSchemaException.LOCATION);
		}
		catch (IOException ex) {
			throw new LedgerSchemaException("its DDL can't be read", ex);
		}
	}

	private static boolean isFor(FoundTable table, String part) {
		String name = LedgerSettings.DEFAULT_TABLE_PREFIX + table.kind() + " ";
		return part.contains(" OR REPLACE VIEW " + name) || part.contains("ALTER TABLE " + name)
				|| (table.name() == null && part.contains(" IF NOT EXISTS " + name));
	}

	/**
	 * What the ledger goes by once its tables are found.
	 *
	 * @param tables the tables, in their schema
	 * @param deletable whether what is old can be deleted
	 */
	record Opened(LedgerTables tables, boolean deletable) {

	}

}
