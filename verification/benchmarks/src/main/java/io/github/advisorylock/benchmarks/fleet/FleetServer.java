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

package io.github.advisorylock.benchmarks.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;

import io.github.advisorylock.testsupport.FreePort;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/**
 * A PostgreSQL that lets a fleet in, counts its statements, and tells what they cost.
 */
final class FleetServer implements AutoCloseable {

	/**
	 * Room for 300 pools of five, as many lock sessions, and whoever looks.
	 */
	static final int MAX_CONNECTIONS = 2000;

	private static final double TICKS_PER_SECOND = 100;

	private final EmbeddedPostgres server;

	private final Connection observer;

	private final long postmaster;

	FleetServer() throws IOException, SQLException {
		this.server = EmbeddedPostgres.builder()
			.setPort(FreePort.find())
			.setServerConfig("listen_addresses", "127.0.0.1")
			.setServerConfig("fsync", "on")
			.setServerConfig("synchronous_commit", "on")
			.setServerConfig("full_page_writes", "on")
			.setServerConfig("max_connections", Integer.toString(MAX_CONNECTIONS))
			.setServerConfig("shared_preload_libraries", "pg_stat_statements")
			.setServerConfig("pg_stat_statements.track_utility", "off")
			.start();
		this.observer = DriverManager.getConnection(url("postgres"));
		execute("CREATE EXTENSION pg_stat_statements");
		Path directory = Path.of(query("SHOW data_directory"));
		this.postmaster = Long.parseLong(Files.readAllLines(directory.resolve("postmaster.pid")).get(0).trim());
	}

	int port() {
		return this.server.getPort();
	}

	/**
	 * Return the URL of a database that nobody else uses.
	 */
	String create(String database) throws SQLException {
		execute("CREATE DATABASE " + database);
		return url(database);
	}

	private String url(String database) {
		return "jdbc:postgresql://127.0.0.1:" + port() + "/" + database + "?user=postgres";
	}

	/**
	 * Return how many statements there were in a database. Those that begin and end
	 * transactions are not counted: the server forgets to count them once they are
	 * prepared.
	 */
	long statements(String database) throws SQLException {
		return Long.parseLong(query("SELECT coalesce(sum(s.calls), 0)::bigint FROM pg_stat_statements s "
				+ "JOIN pg_catalog.pg_database d ON d.oid = s.dbid WHERE d.datname = '" + database + "'"));
	}

	/**
	 * Return how many clients a database has.
	 */
	int connections(String database) throws SQLException {
		return Integer.parseInt(query("SELECT count(*) FROM pg_catalog.pg_stat_activity "
				+ "WHERE backend_type = 'client backend' AND datname = '" + database + "'"));
	}

	String query(String sql) throws SQLException {
		synchronized (this.observer) {
			try (Statement statement = this.observer.createStatement(); ResultSet row = statement.executeQuery(sql)) {
				row.next();
				return row.getString(1);
			}
		}
	}

	private void execute(String sql) throws SQLException {
		synchronized (this.observer) {
			try (Statement statement = this.observer.createStatement()) {
				statement.execute(sql);
			}
		}
	}

	/**
	 * Return how many seconds of processor time all processes of the server have used,
	 * those that have ended among them.
	 */
	double processorSeconds() throws IOException {
		long ticks = ticks(this.postmaster, 4);
		List<ProcessHandle> processes;
		try (Stream<ProcessHandle> children = ProcessHandle.of(this.postmaster).orElseThrow().children()) {
			processes = children.toList();
		}
		for (ProcessHandle process : processes) {
			ticks += ticks(process.pid(), 2);
		}
		return ticks / TICKS_PER_SECOND;
	}

	/**
	 * Return what a process has used.
	 * @param columns how many numbers to add up: user and system, then those of its
	 * children that have ended
	 */
	private static long ticks(long process, int columns) throws IOException {
		String text;
		try {
			text = Files.readString(Path.of("/proc", Long.toString(process), "stat"));
		}
		catch (NoSuchFileException ex) {
			return 0;
		}
		return Stream.of(text.substring(text.lastIndexOf(')') + 2).split(" ", -1))
			.skip(11)
			.limit(columns)
			.mapToLong(Long::parseLong)
			.sum();
	}

	@Override
	public void close() throws IOException, SQLException {
		this.observer.close();
		this.server.close();
	}

}
