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

package io.github.advisorylock.sample;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lock that somebody else holds: a connection that no pool knows.
 */
public final class OutsideLock implements AutoCloseable {

	private final Connection connection;

	private OutsideLock(Connection connection) {
		this.connection = connection;
	}

	/**
	 * Take a lock of the sample application.
	 */
	public static OutsideLock on(String key) throws SQLException {
		Connection connection = TestPostgres.open();
		try (PreparedStatement statement = connection.prepareStatement("SELECT pg_advisory_lock(?)")) {
			statement.setLong(1, AdvisoryLockKey.of("sample-app", key).value());
			statement.execute();
		}
		return new OutsideLock(connection);
	}

	/**
	 * Wait until somebody holds a lock of the sample application.
	 */
	public static void awaitHolder(String key) {
		long value = AdvisoryLockKey.of("sample-app", key).value();
		await("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 "
				+ "AND (classid::bigint << 32) | objid::bigint = " + value + " AND granted");
	}

	/**
	 * Wait until somebody asks for a lock in a transaction, again and again.
	 */
	public static void awaitWaiter() {
		await("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' "
				+ "AND query LIKE '%advisory_lock.snapshot%'");
	}

	private static void await(String sql) {
		Awaitility.await()
			.pollInterval(Duration.ofMillis(20))
			.untilAsserted(() -> assertThat(TestPostgres.query(sql)).containsExactly("1"));
	}

	/**
	 * Release and close; a server that is only told to close does so later.
	 */
	@Override
	public void close() throws SQLException {
		try (this.connection; Statement statement = this.connection.createStatement()) {
			statement.execute("SELECT pg_advisory_unlock_all()");
		}
	}

}
