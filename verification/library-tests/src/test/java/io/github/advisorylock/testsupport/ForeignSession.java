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
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;

/**
 * A session of somebody else: an unpooled connection that takes locks with plain SQL.
 */
public final class ForeignSession implements AutoCloseable {

	private final Connection connection = TestPostgres.open();

	/**
	 * Return whether the key is free, from outside; a free key is not kept.
	 */
	public static boolean isFree(AdvisoryLockKey key) {
		try (ForeignSession session = new ForeignSession()) {
			return session.tryLock(key);
		}
	}

	/**
	 * Open a session that holds a key.
	 */
	public static ForeignSession holding(AdvisoryLockKey key) {
		ForeignSession session = new ForeignSession();
		if (!session.tryLock(key)) {
			session.close();
			throw new IllegalStateException("'" + key + "' is held by somebody else");
		}
		return session;
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

	/**
	 * Try to take a key exclusively.
	 */
	public boolean tryLock(AdvisoryLockKey key) {
		return ask("pg_try_advisory_lock", key);
	}

	/**
	 * Say who this is, as instances do in the names of their connections.
	 */
	public void rename(String application) {
		try (Statement statement = this.connection.createStatement()) {
			statement.execute("SET application_name = '" + application + "'");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Release a key.
	 */
	public boolean unlock(AdvisoryLockKey key) {
		return ask("pg_advisory_unlock", key);
	}

	private boolean ask(String function, AdvisoryLockKey key) {
		String arguments = key.isPair() ? key.classId() + ", " + key.objectId() : Long.toString(key.value());
		try (Statement statement = this.connection.createStatement();
				ResultSet answer = statement.executeQuery("SELECT " + function + "(" + arguments + ")")) {
			answer.next();
			return answer.getBoolean(1);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Release everything and close; a server that is only told to close does so later.
	 */
	@Override
	public void close() {
		try (this.connection; Statement statement = this.connection.createStatement()) {
			statement.execute("SELECT pg_advisory_unlock_all()");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
