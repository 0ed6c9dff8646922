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

import java.sql.SQLException;
import java.util.List;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * Thrown when the ledger is needed and its tables are not as they should be.
 *
 * @since 0.1.0
 */
class LedgerSchemaException extends AdvisoryLockConfigurationException {

	private static final String UNDEFINED_TABLE = "42P01";

	private static final String UNDEFINED_COLUMN = "42703";

	private static final String UNDEFINED_SCHEMA = "3F000";

	/**
	 * Also of a row that no policy lets through.
	 */
	static final String INSUFFICIENT_PRIVILEGE = "42501";

	private static final String START = "The ledger of advisory locks can't be used: ";

	/**
	 * Where the DDL is on the class path; Flyway finds it in its folder, Liquibase by the
	 * change log beside it.
	 */
	public static final String LOCATION = "io/github/advisorylock/ledger/R__advisory_lock_ledger.sql";

	/**
	 * Create an exception for tables that are not as they should be.
	 * @param problem what is missing
	 * @param cause what the database said, if anything
	 */
	LedgerSchemaException(String problem, @Nullable Throwable cause) {
		super(START + problem + reason(cause) + "; its DDL is 'classpath:" + LOCATION + "'",
				"Let Flyway or Liquibase run 'classpath:" + LOCATION
						+ "', set 'advisory-lock.ledger.initialize-schema' to 'always' to have the tables created, or "
						+ "look at 'advisory-lock.ledger.table-prefix'.",
				cause);
	}

	/**
	 * Create an exception for tables that could not be created, or something else in
	 * their place.
	 * @param problem what could not be done
	 * @param cause what the database said, if anything
	 * @param action what to do about it
	 */
	LedgerSchemaException(String problem, @Nullable Throwable cause, String action) {
		super(START + problem + reason(cause) + "; its DDL is 'classpath:" + LOCATION + "'", action, cause);
	}

	/**
	 * Create an exception for tables that are there and can't be used.
	 * @param problem what is in the way
	 * @param purpose what the SQL is for
	 * @param statements the SQL that changes that
	 */
	LedgerSchemaException(String problem, String purpose, List<String> statements) {
		super(START + problem + ". To " + purpose + ": " + String.join(" ", statements),
				"Run the SQL as the owner of the tables.");
	}

	/**
	 * Create an exception for tables that were usable when the application started.
	 */
	private LedgerSchemaException(DataAccessException cause) {
		super(START + "its tables can't be used" + reason(cause)
				+ "; when the application is started again it says which SQL changes that",
				"Start the application again, it says which SQL changes that.", cause);
	}

	/**
	 * Explain why a statement of the ledger failed, if its tables are to blame.
	 * @param failure what happened
	 * @return what to throw
	 */
	static RuntimeException explain(RuntimeException failure) {
		if (!(failure instanceof DataAccessException ex)
				|| !(ex.getMostSpecificCause() instanceof SQLException cause)) {
			return failure;
		}
		return switch (String.valueOf(cause.getSQLState())) {
			case UNDEFINED_TABLE, UNDEFINED_COLUMN, UNDEFINED_SCHEMA ->
				new LedgerSchemaException("a table or a column is missing", ex);
			case INSUFFICIENT_PRIVILEGE -> new LedgerSchemaException(ex);
			default -> failure;
		};
	}

	@Override
	public String getProblem() {
		String message = String.valueOf(getMessage());
		return message.endsWith(";") ? message : super.getProblem();
	}

	/**
	 * What the database said, which is the innermost reason.
	 */
	private static String reason(@Nullable Throwable cause) {
		Throwable reason = cause;
		while (reason != null && reason.getCause() != null) {
			reason = reason.getCause();
		}
		return (reason != null) ? ": " + reason.getMessage() : "";
	}

}
