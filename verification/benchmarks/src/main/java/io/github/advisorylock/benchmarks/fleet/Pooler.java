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
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.testsupport.FreePort;

import org.springframework.util.Assert;
import org.springframework.util.FileSystemUtils;

/**
 * A PgBouncer in transaction mode, with twenty connections to the server.
 */
final class Pooler implements AutoCloseable {

	/**
	 * How many connections it has to the server at most.
	 */
	static final int SIZE = 20;

	private final int port = FreePort.find();

	private final String database;

	private final Path directory;

	private final Process process;

	Pooler(int serverPort, String database) throws IOException {
		this.database = database;
		this.directory = Files.createTempDirectory("fleet");
		Path configuration = Files.writeString(this.directory.resolve("pgbouncer.ini"), """
				[databases]
				%s = host=127.0.0.1 port=%d user=postgres
				[pgbouncer]
				listen_addr = 127.0.0.1
				listen_port = %d
				unix_socket_dir =
				auth_type = any
				pool_mode = transaction
				default_pool_size = %d
				max_client_conn = %d
				ignore_startup_parameters = extra_float_digits
				""".formatted(database, serverPort, this.port, SIZE, FleetServer.MAX_CONNECTIONS));
		List<String> command = new ArrayList<>();
		if ("root".equals(System.getProperty("user.name"))) {
			// it refuses to be root
			command.addAll(List.of("unshare", "-U"));
		}
		command.addAll(List.of("pgbouncer", "-q", configuration.toString()));
		this.process = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(this.directory.resolve("log").toFile())
			.start();
		awaitAnswer();
	}

	String url() {
		return "jdbc:postgresql://127.0.0.1:" + this.port + "/" + this.database + "?user=postgres&prepareThreshold=0";
	}

	private void awaitAnswer() {
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
		while (!answers()) {
			Assert.state(this.process.isAlive() && System.nanoTime() < end, "PgBouncer does not answer");
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
		}
	}

	private boolean answers() {
		try {
			DriverManager.getConnection(url()).close();
			return true;
		}
		catch (SQLException ex) {
			return false;
		}
	}

	@Override
	public void close() throws IOException {
		this.process.destroy();
		this.process.onExit().orTimeout(20, TimeUnit.SECONDS).join();
		FileSystemUtils.deleteRecursively(this.directory);
	}

}
