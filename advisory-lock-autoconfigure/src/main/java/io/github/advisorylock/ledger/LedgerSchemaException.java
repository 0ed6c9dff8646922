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

package io.github.advisorylock.ledger;

import java.util.List;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when the ledger is needed and its tables are not as they should be.
 *
 * @since 0.1.0
 */
class LedgerSchemaException extends AdvisoryLockConfigurationException {

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
	 * Create an exception for tables that may not be used.
	 * @param problem which privileges are missing
	 * @param grants the SQL that grants them
	 */
	LedgerSchemaException(String problem, List<String> grants) {
		super(START + problem + ". To grant that: " + String.join(" ", grants),
				"Run what grants the privileges as the owner of the tables.");
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
