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

package io.github.advisorylock.benchmarks;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import io.github.advisorylock.testsupport.FreePort;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.jspecify.annotations.Nullable;

/**
 * The PostgreSQL that everything is measured on: embedded binaries with the durability
 * settings of production, or the server at {@code -Dpostgres=jdbc:...}.
 */
public final class BenchmarkServer implements AutoCloseable {

	private final @Nullable EmbeddedPostgres embedded;

	private final String url;

	private BenchmarkServer(@Nullable EmbeddedPostgres embedded, String url) {
		this.embedded = embedded;
		this.url = url;
	}

	/**
	 * Start a server, or use one.
	 * @param choice {@code jdbc:...} for a server that runs already
	 * @return what is to be closed
	 * @throws IOException if none can be started
	 */
	public static BenchmarkServer start(String choice) throws IOException {
		if (choice.startsWith("jdbc:")) {
			return new BenchmarkServer(null, choice);
		}
		EmbeddedPostgres embedded = EmbeddedPostgres.builder()
			.setPort(FreePort.find())
			.setServerConfig("fsync", "on")
			.setServerConfig("synchronous_commit", "on")
			.setServerConfig("full_page_writes", "on")
			.setServerConfig("listen_addresses", "localhost")
			.start();
		return new BenchmarkServer(embedded, embedded.getJdbcUrl("postgres", "postgres"));
	}

	/**
	 * Start a server that writes to its log only what somebody has asked for, and of
	 * pages only what has changed.
	 */
	static BenchmarkServer startQuiet() throws IOException {
		EmbeddedPostgres embedded = EmbeddedPostgres.builder()
			.setPort(FreePort.find())
			.setServerConfig("fsync", "off")
			.setServerConfig("synchronous_commit", "on")
			.setServerConfig("full_page_writes", "off")
			.setServerConfig("wal_level", "minimal")
			.setServerConfig("max_wal_senders", "0")
			.setServerConfig("autovacuum", "off")
			.setServerConfig("checkpoint_timeout", "1h")
			.setServerConfig("max_wal_size", "4GB")
			.setServerConfig("listen_addresses", "localhost")
			.start();
		return new BenchmarkServer(embedded, embedded.getJdbcUrl("postgres", "postgres"));
	}

	/**
	 * Return where it is, with user and password.
	 * @return a JDBC URL
	 */
	public String url() {
		return this.url;
	}

	String query(String sql) throws SQLException {
		try (Connection connection = DriverManager.getConnection(this.url);
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery(sql)) {
			rows.next();
			return rows.getString(1);
		}
	}

	@Override
	public void close() throws IOException {
		if (this.embedded != null) {
			this.embedded.close();
		}
	}

}
