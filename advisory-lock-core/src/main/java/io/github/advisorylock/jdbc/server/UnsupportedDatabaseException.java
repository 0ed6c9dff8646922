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

package io.github.advisorylock.jdbc.server;

import org.springframework.dao.NonTransientDataAccessResourceException;

/**
 * Thrown when the database can't guard anything with advisory locks.
 *
 * @since 0.1.0
 */
public class UnsupportedDatabaseException extends NonTransientDataAccessResourceException {

	private final String reason;

	/**
	 * Create an exception.
	 * @param reason what the database is, and why that does not do
	 */
	public UnsupportedDatabaseException(String reason) {
		super("Failed to use the database for advisory locks: " + reason);
		this.reason = reason;
	}

	/**
	 * Create an exception for a database that is no PostgreSQL.
	 * @param product what its driver takes it for
	 * @return the exception, which says what to do in a test
	 */
	public static UnsupportedDatabaseException otherThanPostgres(String product) {
		return new UnsupportedDatabaseException("it is '" + product
				+ "' and not PostgreSQL; in a test, annotate its class with @AutoConfigureInMemoryLocks of "
				+ "advisory-lock-test, or set 'advisory-lock.enabled' to false to run methods without locks");
	}

	/**
	 * Return what the database is, and why that does not do.
	 * @return the reason
	 */
	public String getReason() {
		return this.reason;
	}

}
