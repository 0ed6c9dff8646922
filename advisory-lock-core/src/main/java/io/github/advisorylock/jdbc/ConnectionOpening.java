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

import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import io.github.advisorylock.jdbc.server.JdbcUrl;
import io.github.advisorylock.jdbc.server.LockSocket;
import io.github.advisorylock.jdbc.server.PgDriver;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

/**
 * One attempt to open a connection of our own. Is over within a time, whatever the server
 * does, and can be given up by another thread. Where the driver is another one than
 * PostgreSQL's, or the DataSource does not say what it would do with it, only the
 * driver's own limits hold.
 */
final class ConnectionOpening {

	private final LockSessionSettings settings;

	private volatile @Nullable LockSocket socket;

	private volatile @Nullable String abortReason;

	ConnectionOpening(LockSessionSettings settings) {
		this.settings = settings;
	}

	/**
	 * Open a connection, log in, and limit how long it may wait for an answer from now
	 * on.
	 */
	Connection open(DataSource source) throws SQLException {
		CompletableFuture<Void> limit = limit(this.settings.deadClientTimeout());
		try {
			Connection connection = (source instanceof AbstractDriverBasedDataSource described && isPlain(described))
					? connect(described) : source.getConnection();
			connection.setNetworkTimeout(Runnable::run, this.settings.answerTimeoutMillis());
			return connection;
		}
		catch (SQLException ex) {
			String reason = this.abortReason;
			throw (reason != null) ? new SQLException(reason, PgDriver.CONNECTION_DOES_NOT_EXIST, ex)
					: explained(withoutSecrets(ex));
		}
		finally {
			limit.complete(null);
		}
	}

	/**
	 * Drivers print a URL that they can't parse.
	 */
	private static SQLException withoutSecrets(SQLException ex) {
		String message = String.valueOf(ex.getMessage());
		String redacted = JdbcUrl.redact(message);
		return redacted.equals(message) ? ex : new SQLException(redacted, ex.getSQLState());
	}

	/**
	 * The driver takes a server for a primary if transactions are not read-only there.
	 */
	private static SQLException explained(SQLException ex) {
		String message = String.valueOf(ex.getMessage());
		if (!message.contains("targetServerType") || !message.contains("primary")) {
			return ex;
		}
		return new SQLException(
				"no server of the URL is a primary that can be written to: each is a standby, or its database or "
						+ "role is read-only by default, which 'SHOW default_transaction_read_only' tells there; "
						+ "undo that by 'ALTER DATABASE ... RESET default_transaction_read_only' (or ALTER ROLE), "
						+ "or set 'advisory-lock.session.url' to a URL that names the primary only, as locks need "
						+ "no writable database: " + message,
				ex.getSQLState(), ex);
	}

	/**
	 * Note that the connection is open, and will be ended as any other.
	 * @return what lies beneath it, if that is known
	 */
	@Nullable LockSocket finish() {
		LockSocket current = this.socket;
		if (current != null) {
			current.opened();
		}
		return current;
	}

	/**
	 * End the attempt, from any thread. Does nothing when it is finished.
	 */
	void abort(String reason) {
		this.abortReason = reason;
		LockSocket current = this.socket;
		if (current != null) {
			current.abort(reason);
		}
	}

	/**
	 * Give up after a while, unless the result is complete before, which ends the timer.
	 */
	private CompletableFuture<Void> limit(Duration timeout) {
		CompletableFuture<Void> opened = new CompletableFuture<>();
		opened.orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).exceptionally((ex) -> {
			abort("The server did not let us in within " + timeout.toMillis() + " ms");
			return null;
		});
		return opened;
	}

	/**
	 * A class that extends one of these may open connections in its own way.
	 */
	private static boolean isPlain(AbstractDriverBasedDataSource source) {
		return source.getClass() == SimpleDriverDataSource.class || source.getClass() == DriverManagerDataSource.class;
	}

	private Connection connect(AbstractDriverBasedDataSource source) throws SQLException {
		String url = source.getUrl();
		Driver driver = (source instanceof SimpleDriverDataSource simple) ? simple.getDriver()
				: (url != null) ? DriverManager.getDriver(url) : null;
		if (url == null || driver == null || !PgDriver.understands(driver, url)) {
			return source.getConnection();
		}
		Properties properties = propertiesOf(source);
		LockSocket expected = PgDriver.socketFor(url, properties);
		this.socket = expected;
		String reason = this.abortReason;
		if (reason != null) {
			expected.abort(reason);
		}
		return PgDriver.connect(driver, url, properties, expected, this.settings.answerTimeoutMillis());
	}

	private static Properties propertiesOf(AbstractDriverBasedDataSource source) {
		Properties result = new Properties();
		if (source.getConnectionProperties() != null) {
			result.putAll(source.getConnectionProperties());
		}
		if (source.getUsername() != null) {
			result.setProperty("user", source.getUsername());
		}
		if (source.getPassword() != null) {
			result.setProperty("password", source.getPassword());
		}
		return result;
	}

}
