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

package io.github.advisorylock.sample.environment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.retry.RetryException;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.core.retry.RetryTemplate;
import org.springframework.util.Assert;

/**
 * A running PostgreSQL server, found by the file that the server itself keeps in its data
 * directory.
 *
 * @param data the data directory
 * @param pid the server's process
 * @param port the port it listens on
 * @param password what it asks for
 */
record PostgresServer(Path data, long pid, int port, String password) {

	static final String USER = "postgres";

	private static final Log logger = LogFactory.getLog(PostgresServer.class);

	private static final int LINE_OF_PID = 0;

	private static final int LINE_OF_PORT = 3;

	private static final RetryTemplate PATIENCE = new RetryTemplate(
			RetryPolicy.builder().maxRetries(200).delay(Duration.ofMillis(100)).build());

	/**
	 * Return the server of a data directory once it answers. What a server left behind
	 * that is long gone is cleared away.
	 * @return the server, or {@code null} when none is running
	 */
	static @Nullable PostgresServer findRunning(Path data, String password) throws IOException {
		PostgresServer server = read(data, password);
		if (server == null || server.answers()) {
			return server;
		}
		if (!server.isAlive()) {
			logger.info("PostgreSQL was not stopped cleanly last time and recovers by itself");
			return null;
		}
		if (!server.isPostgres()) {
			// another process has the number since: PostgreSQL would refuse to start
			Files.deleteIfExists(fileIn(data));
			return null;
		}
		return await(server::answers, "start or stop") ? server : null;
	}

	private static @Nullable PostgresServer read(Path data, String password) throws IOException {
		Path file = fileIn(data);
		List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
		if (lines.size() <= LINE_OF_PORT) {
			return null;
		}
		return new PostgresServer(data.toRealPath(), Long.parseLong(lines.get(LINE_OF_PID).strip()),
				Integer.parseInt(lines.get(LINE_OF_PORT).strip()), password);
	}

	private static Path fileIn(Path data) {
		return data.resolve("postmaster.pid");
	}

	String url() {
		return "jdbc:postgresql://127.0.0.1:" + this.port + "/postgres";
	}

	/**
	 * Return whether the server answers, and is the one of this directory rather than a
	 * stranger on the same port.
	 */
	private boolean answers() {
		try (Connection connection = DriverManager.getConnection(url() + "?connectTimeout=2&socketTimeout=5", USER,
				this.password);
				Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("SHOW data_directory")) {
			return row.next() && Path.of(row.getString(1)).toRealPath().equals(this.data);
		}
		catch (SQLException | IOException ex) {
			return false;
		}
	}

	private boolean isAlive() {
		return ProcessHandle.of(this.pid).map(ProcessHandle::isAlive).orElse(false);
	}

	private boolean isPostgres() {
		return ProcessHandle.of(this.pid)
			.flatMap((process) -> process.info().command())
			.map((command) -> command.contains("postgres"))
			.orElse(false);
	}

	/**
	 * Ask the server to end all sessions and stop, and wait until it has.
	 */
	void stop() throws IOException {
		if (!isPostgres()) {
			return;
		}
		if (System.getProperty("os.name").startsWith("Windows")) {
			ProcessHandle.of(this.pid).ifPresent(ProcessHandle::destroy);
			return;
		}
		new ProcessBuilder("sh", "-c", "kill -INT " + this.pid).inheritIO().start();
		Assert.state(await(() -> !Files.exists(fileIn(this.data)), "stop"),
				() -> "PostgreSQL with pid " + this.pid + " did not stop");
	}

	private static boolean await(Condition condition, String what) {
		try {
			PATIENCE.execute(() -> {
				Assert.state(condition.holds(), () -> "PostgreSQL did not " + what + " in time");
				return true;
			});
			return true;
		}
		catch (RetryException ex) {
			logger.warn(ex.getCause().getMessage());
			return false;
		}
	}

	/**
	 * Without the password.
	 */
	@Override
	public String toString() {
		return url() + " in '" + this.data + "'";
	}

	/**
	 * What is waited for.
	 */
	private interface Condition {

		boolean holds();

	}

}
