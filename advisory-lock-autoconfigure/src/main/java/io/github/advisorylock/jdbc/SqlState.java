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

import java.sql.SQLException;

/**
 * The answers of the server that mean something for a lock.
 *
 * @see <a href=
 * "https://www.postgresql.org/docs/current/errcodes-appendix.html">PostgreSQL manual,
 * appendix "Error Codes"</a>
 */
final class SqlState {

	static final String CONNECTION_DOES_NOT_EXIST = "08003";

	private SqlState() {
	}

	/**
	 * Return whether the connection is gone: class 08, an administrator's command or a
	 * timeout for idle sessions.
	 */
	static boolean endsConnection(SQLException ex) {
		String state = ex.getSQLState();
		return state == null || state.startsWith("08") || state.startsWith("57P") || state.equals("25P03")
				|| state.equals("25P04");
	}

}
