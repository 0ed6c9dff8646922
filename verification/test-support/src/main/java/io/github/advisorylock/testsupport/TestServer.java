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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.util.FileSystemUtils;

/**
 * A PostgreSQL of a test's own, which may be stopped and started, and may have a standby.
 */
public final class TestServer implements AutoCloseable {

	private static final Duration STARTUP_WAIT = Duration.ofSeconds(60);

	private final Path directory;

	private final int port = FreePort.find();

	private final Map<String, String> settings;

	private EmbeddedPostgres server;

	private TestServer(Path directory, Map<String, String> settings) {
		this.directory = directory;
		this.settings = settings;
		this.server = launch();
	}

	/**
	 * Start a server on an empty directory.
	 */
	public static TestServer start(Path directory, Map<String, String> settings) {
		return new TestServer(directory, settings);
	}

	/**
	 * Start a standby that follows this server.
	 */
	public TestServer startStandby(Path standbyDirectory) {
		stop();
		try {
			FileSystemUtils.copyRecursively(this.directory, standbyDirectory);
			try (Stream<Path> locks = Files.list(standbyDirectory)) {
				for (Path lock : locks.filter((path) -> path.getFileName().toString().startsWith("epg-lock"))
					.toList()) {
					Files.delete(lock);
				}
			}
			Files.createFile(standbyDirectory.resolve("standby.signal"));
			Files.writeString(standbyDirectory.resolve("postgresql.auto.conf"),
					"primary_conninfo = 'host=127.0.0.1 port=" + this.port + " user=postgres'\n");
			Files.setPosixFilePermissions(standbyDirectory, PosixFilePermissions.fromString("rwx------"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		start();
		return start(standbyDirectory, Map.of());
	}

	/**
	 * Start the server again.
	 */
	public void start() {
		this.server = launch();
	}

	private EmbeddedPostgres launch() {
		try {
			EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
				.setDataDirectory(this.directory)
				.setCleanDataDirectory(false)
				.setPort(this.port)
				.setPGStartupWait(STARTUP_WAIT)
				.setServerConfig("listen_addresses", "127.0.0.1")
				// Embedded servers have it off: a killed one forgets what it has
				// confirmed
				.setServerConfig("synchronous_commit", "on");
			this.settings.forEach(builder::setServerConfig);
			return builder.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Stop the server, and end its connections.
	 */
	public void stop() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * End the server as a crash does: what it has not written to its log is gone.
	 */
	public void crash() {
		end("-QUIT");
	}

	/**
	 * Kill the server's first process without a warning, and wait for the others, which
	 * notice that.
	 */
	public void kill() {
		end("-KILL");
	}

	private void end(String signal) {
		try {
			long process = Long.parseLong(Files.readAllLines(this.directory.resolve("postmaster.pid")).get(0).trim());
			new ProcessBuilder("kill", signal, Long.toString(process)).start().waitFor();
			ProcessHandle.of(process).ifPresent((handle) -> handle.onExit().join());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		stop();
	}

	/**
	 * Return the directory that the server keeps its data in.
	 */
	public Path directory() {
		return this.directory;
	}

	/**
	 * Return the port that the server listens on.
	 */
	public int port() {
		return this.port;
	}

	/**
	 * Return the JDBC URL, with everything that is needed to connect.
	 */
	public String url() {
		return "jdbc:postgresql://127.0.0.1:" + this.port + "/postgres?user=postgres";
	}

	/**
	 * Open a connection that no pool knows.
	 */
	public Connection open() throws SQLException {
		return DriverManager.getConnection(url());
	}

	/**
	 * Return the first value of a query, as text.
	 */
	public String query(String sql) {
		return TestPostgres.query(url(), sql).get(0);
	}

	/**
	 * Run a statement.
	 */
	public void execute(String sql) {
		TestPostgres.execute(url(), sql);
	}

	@Override
	public void close() {
		stop();
	}

}
