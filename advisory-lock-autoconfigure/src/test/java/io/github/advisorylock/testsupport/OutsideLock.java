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

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;

/**
 * A lock that somebody else holds, on a connection that the code under test does not
 * know, and a view from there on who holds a key.
 */
public final class OutsideLock implements AutoCloseable {

	private final Connection connection;

	private OutsideLock(Connection connection) {
		this.connection = connection;
	}

	/**
	 * Take a lock as another instance would, until it is closed.
	 */
	public static OutsideLock hold(AdvisoryLockKey key) {
		Connection connection = TestPostgres.open();
		String arguments = key.isPair() ? key.classId() + ", " + key.objectId() : String.valueOf(key.value());
		try (Statement statement = connection.createStatement()) {
			statement.execute("SELECT pg_advisory_lock(" + arguments + ")");
			return new OutsideLock(connection);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Return whether anybody holds a key.
	 */
	public static boolean isHeld(AdvisoryLockKey key) {
		return !holders(key).isEmpty();
	}

	/**
	 * Return the process ids of the server processes that hold a key.
	 */
	public static List<String> holders(AdvisoryLockKey key) {
		return TestPostgres.query("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = "
				+ Integer.toUnsignedString(key.classId()) + " AND objid = " + Integer.toUnsignedString(key.objectId())
				+ " AND objsubid = " + (key.isPair() ? 2 : 1));
	}

	@Override
	public void close() {
		// the server notices a closed connection a little later
		try (this.connection; Statement statement = this.connection.createStatement()) {
			statement.execute("SELECT pg_advisory_unlock_all()");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
