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

import java.sql.Connection;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

/**
 * Judges what a connection of session locks leads to, each time one is opened.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface ServerJudge {

	/**
	 * Trusts every server.
	 */
	ServerJudge NONE = (connection, another, comparison) -> {
	};

	/**
	 * Look at a connection before anything is set there.
	 * @param connection the connection, whose statements are transactions of their own
	 * @param another opens one of the same kind
	 * @param comparison compares its database with that of transactions
	 * @throws UnsupportedDatabaseException if session locks guard nothing there
	 * @throws SQLException if that could not be found out
	 */
	void judge(Connection connection, Opening another, Comparison comparison) throws SQLException;

	/**
	 * Compares the database of a connection with the one that the transactions of the
	 * application are in.
	 */
	@FunctionalInterface
	interface Comparison {

		/**
		 * Compares nothing.
		 */
		Comparison NONE = (connection) -> null;

		/**
		 * Find out whether the two are one. What can't be found out is no difference.
		 * @param connection a connection whose statements are transactions of their own
		 * @return where each of them is, {@code null} if no difference was found
		 * @throws SQLException if the connection fails
		 */
		@Nullable String difference(Connection connection) throws SQLException;

	}

	/**
	 * Opens connections.
	 */
	@FunctionalInterface
	interface Opening {

		/**
		 * Open a connection, which the caller closes.
		 * @return the connection
		 * @throws SQLException if there is none to be had
		 */
		Connection open() throws SQLException;

		/**
		 * Return an opening that throws an {@link SQLException} for every failure but an
		 * {@link Error}. A DataSource that routes, the provider of its credentials and
		 * its driver may throw anything else when there is no connection to be had.
		 * @param opening opens connections
		 * @return the opening
		 */
		static Opening checked(Opening opening) {
			return () -> {
				try {
					return opening.open();
				}
				catch (RuntimeException ex) {
					throw PgDriver.connectionFailure(ex);
				}
			};
		}

	}

}
