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

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * A table or sequence, as it was found. What a role, a search path or the database is
 * called, and what makes it read-only, is the same in all of them.
 */
record FoundTable(String wanted, String kind, @Nullable String schema, @Nullable String name, boolean usable,
		@Nullable String missing, boolean deletable, String role, String path, String ownPath, boolean hasSchema,
		@Nullable String target, String database, @Nullable String readOnly, @Nullable String hidden,
		@Nullable String otherKind, @Nullable String primaryKey, boolean hasKey, boolean outdated,
		@Nullable String localized, @Nullable String lacking) {

	private static final Log logger = LogFactory.getLog(FoundTable.class);

	/**
	 * Make sure that tables are as they should be.
	 * @throws LedgerSchemaException if not
	 */
	static void check(List<FoundTable> tables) {
		checkTables(tables);
		checkKinds(tables);
		checkCollations(tables);
		checkPrivileges(tables);
		checkRowSecurity(tables);
	}

	/**
	 * Whoever may not use a schema does not see what is in it.
	 */
	static boolean isComplete(List<FoundTable> tables) {
		return tables.stream().allMatch(FoundTable::isCurrent)
				|| tables.stream().anyMatch((table) -> table.name() != null && !table.usable());
	}

	/**
	 * Return whether it is there, and knows all that this version writes.
	 */
	boolean isCurrent() {
		return this.name != null && !this.outdated;
	}

	private static void checkTables(List<FoundTable> tables) {
		tables.stream().filter((table) -> table.name() == null).findFirst().ifPresent((table) -> {
			throw new LedgerSchemaException("a table or a column is missing: " + (table.hasSchema()
					? "relation '" + table.wanted() + "' does not exist in database '" + table.database()
							+ "' for role " + table.role() + " (search_path: " + table.path() + ")"
					: "schema does not exist of '" + table.wanted() + "' in database '" + table.database() + "'"),
					(Throwable) null);
		});
		tables.stream().filter((table) -> table.lacking() != null).findFirst().ifPresent((table) -> {
			throw new LedgerSchemaException(
					"a table or a column is missing: " + table.qualifiedName() + " lacks " + table.lacking(),
					(Throwable) null);
		});
		tables.stream().filter((table) -> !table.isCurrent()).findFirst().ifPresent((table) -> {
			throw new LedgerSchemaException(
					table.qualifiedName() + " is of an earlier version, which does not know the outcome CANCELLED",
					(Throwable) null);
		});
	}

	/**
	 * What takes rows in another way than a table does, or lets two of them have one key,
	 * keeps no promise: a failure would not be recorded, or a key be run twice.
	 */
	private static void checkKinds(List<FoundTable> tables) {
		for (FoundTable table : tables) {
			if (table.otherKind() != null) {
				throw new LedgerSchemaException(table.qualifiedName() + " is " + table.otherKind() + ", not a table",
						null, "Let 'advisory-lock.ledger.table-prefix' name the tables themselves, with their schema.");
			}
			if (!table.hasKey()) {
				throw new LedgerSchemaException(
						table.qualifiedName() + " has no unique index on (" + table.primaryKey() + ") alone",
						"have one, on a table that is partitioned, if at all, by such a column", List.of("ALTER TABLE "
								+ table.qualifiedName() + " ADD PRIMARY KEY (" + table.primaryKey() + ");"));
			}
		}
	}

	/**
	 * The order of a locale changes with the operating system, and what an index has in
	 * the old order is not found any more. PostgreSQL changes no column that a view has.
	 */
	private static void checkCollations(List<FoundTable> tables) {
		List<FoundTable> localized = tables.stream().filter((table) -> table.localized() != null).toList();
		if (!localized.isEmpty()) {
			throw new LedgerSchemaException(
					"text of " + names(localized) + " is ordered by a locale, which may change under an index",
					"order it by its bytes",
					localized.stream()
						.sorted(Comparator.comparing((table) -> !table.isView()))
						.map((table) -> table.isView() ? "DROP VIEW " + table.qualifiedName() + ";"
								: "ALTER TABLE " + table.qualifiedName() + " " + table.localized() + ";")
						.toList());
		}
	}

	private static void checkPrivileges(List<FoundTable> tables) {
		String role = tables.get(0).role();
		List<String> missing = new ArrayList<>();
		List<String> grants = new ArrayList<>();
		tables.stream().filter((table) -> !table.usable()).map(FoundTable::schema).distinct().forEach((schema) -> {
			missing.add("USAGE on schema " + schema);
			grants.add("GRANT USAGE ON SCHEMA " + schema + " TO " + role + ";");
		});
		tables.stream()
			.filter((table) -> StringUtils.hasText(table.missing()))
			.collect(Collectors.groupingBy(FoundTable::missing, LinkedHashMap::new, Collectors.toList()))
			.forEach((privileges, of) -> {
				missing.add(privileges + " on " + names(of));
				grants.add(grant(privileges, of));
			});
		if (!missing.isEmpty()) {
			throw new LedgerSchemaException("permission denied, role " + role + " lacks " + String.join("; ", missing),
					"grant that", grants);
		}
	}

	/**
	 * What the ledger does not see is no promise that it could keep.
	 */
	private static void checkRowSecurity(List<FoundTable> tables) {
		List<FoundTable> hidden = tables.stream().filter((table) -> table.hidden() != null).toList();
		if (!hidden.isEmpty()) {
			String role = hidden.get(0).role();
			throw new LedgerSchemaException("row level security hides rows of " + names(hidden) + " from role " + role,
					"let it see them",
					hidden.stream()
						.map((table) -> "without a policy".equals(table.hidden())
								? "CREATE POLICY advisory_lock ON " + table.qualifiedName() + " TO " + role
										+ " USING (true) WITH CHECK (true);"
								: "ALTER TABLE " + table.qualifiedName() + " DISABLE ROW LEVEL SECURITY;")
						.toList());
		}
	}

	/**
	 * Locks need no writable database, so that it is for the ledger to say.
	 */
	static void checkWritable(FoundTable any) {
		String source = any.readOnly();
		if (source != null) {
			String statement = switch (source) {
				case "database" -> reset("DATABASE " + any.database());
				case "user" -> reset("ROLE " + any.role());
				case "database user" -> reset("ROLE " + any.role() + " IN DATABASE " + any.database());
				case "session", "client" ->
					"let connections of the pool write, as by 'spring.datasource.hikari.read-only' "
							+ "or 'options' of the URL;";
				default -> "ALTER ROLE " + any.role() + " SET default_transaction_read_only = off;";
			};
			throw new LedgerSchemaException(
					"database " + any.database() + " is read-only for role " + any.role()
							+ ", by 'default_transaction_read_only' (source: " + source + ")",
					"change that", List.of(statement));
		}
	}

	private static String reset(String target) {
		return "ALTER " + target + " RESET default_transaction_read_only;";
	}

	static void warnOfDelete(List<FoundTable> tables) {
		List<FoundTable> kept = tables.stream().filter((table) -> !table.deletable()).toList();
		logger.warn("The ledger of advisory locks is not purged by this instance: role " + kept.get(0).role()
				+ " lacks DELETE on " + names(kept) + ". To grant that: " + grant("DELETE", kept));
	}

	private static String names(List<FoundTable> tables) {
		return tables.stream().map(FoundTable::qualifiedName).collect(Collectors.joining(", "));
	}

	/**
	 * What grants privileges. Only the sequence lacks those of a sequence.
	 */
	private static String grant(String privileges, List<FoundTable> tables) {
		return "GRANT " + privileges + " ON " + (privileges.equals("USAGE") ? "SEQUENCE " : "") + names(tables) + " TO "
				+ tables.get(0).role() + ";";
	}

	private boolean isView() {
		return this.kind.equals("job_state");
	}

	String grantCreate() {
		return "GRANT CREATE ON SCHEMA " + ((this.target != null) ? this.target : "<schema>") + " TO " + this.role
				+ ";";
	}

	String qualifiedName() {
		return this.schema + "." + this.name;
	}

}
