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

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.awaitility.Awaitility;

/**
 * A PgBouncer in front of a {@link TestServer}, as a child process.
 */
public final class TestPgBouncer implements AutoCloseable {

	private final int port = FreePort.find();

	private final Path configuration;

	private final ProcessBuilder builder;

	private Process process;

	private TestPgBouncer(TestServer server, String mode, String settings, Path directory) throws IOException {
		this.configuration = Files.writeString(directory.resolve(this.port + ".ini"), """
				[databases]
				postgres = host=127.0.0.1 port=%d dbname=postgres user=postgres
				[pgbouncer]
				listen_addr = 127.0.0.1
				listen_port = %d
				unix_socket_dir =
				auth_type = any
				pool_mode = %s
				default_pool_size = 4
				server_login_retry = 1
				query_wait_timeout = 10
				ignore_startup_parameters = extra_float_digits
				%s
				""".formatted(server.port(), this.port, mode, settings));
		List<String> command = new ArrayList<>();
		if ("root".equals(System.getProperty("user.name"))) {
			// it refuses to be root
			command.addAll(List.of("unshare", "-U"));
		}
		command.addAll(List.of("pgbouncer", this.configuration.toString()));
		this.builder = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(directory.resolve(this.port + ".log").toFile());
		this.process = this.builder.start();
		Awaitility.await().atMost(Patience.TIME).until(this::answers);
	}

	/**
	 * Start a PgBouncer.
	 * @param mode {@code transaction} or {@code session}
	 */
	public static TestPgBouncer start(TestServer server, String mode, Path directory) {
		return start(server, mode, "", directory);
	}

	/**
	 * Start a PgBouncer.
	 * @param mode {@code transaction} or {@code session}
	 * @param settings more of its settings, a line for each
	 */
	public static TestPgBouncer start(TestServer server, String mode, String settings, Path directory) {
		if (!isInstalled()) {
			throw new IllegalStateException("These tests need PgBouncer: 'apt-get install pgbouncer', "
					+ "or the package of that name of another system, and 'pgbouncer' in the PATH");
		}
		try {
			return new TestPgBouncer(server, mode, settings, directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Have it obey another mode while it has clients: from the end of their next
	 * statements on.
	 */
	public void change(String mode) {
		try {
			Files.writeString(this.configuration,
					Files.readString(this.configuration).replaceFirst("pool_mode = \\w+", "pool_mode = " + mode));
			new ProcessBuilder("kill", "-HUP", Long.toString(this.process.pid())).start().onExit().join();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Awaitility.await().until(() -> output().contains("RELOAD") || output().contains("SIGHUP"));
	}

	private String output() throws IOException {
		return Files.readString(this.builder.redirectOutput().file().toPath());
	}

	/**
	 * Kill it, and start another one in its place.
	 */
	public void restart() {
		try {
			this.process.destroyForcibly().onExit().join();
			this.process = this.builder.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Awaitility.await().atMost(Patience.TIME).until(this::answers);
	}

	/**
	 * Return the JDBC URL through this PgBouncer.
	 */
	public String url() {
		return "jdbc:postgresql://127.0.0.1:" + this.port + "/postgres?user=postgres";
	}

	@Override
	public void close() {
		this.process.destroy();
	}

	private boolean answers() {
		if (!this.process.isAlive()) {
			throw new IllegalStateException("PgBouncer ended with " + this.process.exitValue());
		}
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
			return socket.isConnected();
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static boolean isInstalled() {
		return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
			.anyMatch((directory) -> Files.isExecutable(Path.of(directory, "pgbouncer")));
	}

}
