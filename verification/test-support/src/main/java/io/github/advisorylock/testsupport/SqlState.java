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

package io.github.advisorylock.testsupport;

import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

/**
 * What a failure is, whichever language the server and the driver speak, and whichever
 * release they are of.
 */
public final class SqlState {

	private SqlState() {
	}

	/**
	 * Return the SQL state of the innermost failure of JDBC that caused this one.
	 * @param failure the failure
	 * @return the SQL state or {@code null} if it has none
	 */
	public static @Nullable String of(@Nullable Throwable failure) {
		String state = null;
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			state = (cause instanceof SQLException ex) ? ex.getSQLState() : state;
		}
		return state;
	}

}
