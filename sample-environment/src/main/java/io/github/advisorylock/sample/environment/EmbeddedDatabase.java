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
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.util.FileSystemUtils;

/**
 * A PostgreSQL server that all instances of the sample application on this machine share,
 * and that lives as long as one of them.
 * <p>
 * Nothing is counted, so that no count can be wrong after a crash: each instance holds a
 * shared lock on a file, which the operating system drops with the process. The one that
 * leaves and then gets that file for itself was the last, and stops the server. Joining
 * and leaving exclude each other by another file. The server is no child of the instance
 * that started it and writes to a file, so it survives that instance's death.
 * <p>
 * An instance is a JVM: two in one JVM can't tell each other's locks on files apart.
 */
final class EmbeddedDatabase implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(EmbeddedDatabase.class);

	private static final String COMPLETE = "complete";

	private static final Duration STARTUP = Duration.ofSeconds(60);

	private final PrivateDirectory directory;

	private final FileChannel instances;

	private final PostgresServer server;

	private EmbeddedDatabase(PrivateDirectory directory, FileChannel instances, PostgresServer server) {
		this.directory = directory;
		this.instances = instances;
		this.server = server;
	}

	/**
	 * Join the server of the given directory, and start it when there is none.
	 */
	static EmbeddedDatabase join(Path directory) {
		try {
			PrivateDirectory home = PrivateDirectory.of(directory);
			try (FileChannel door = open(directory, "door.lock")) {
				door.lock();
				FileChannel instances = open(directory, "instances.lock");
				instances.lock(0, Long.MAX_VALUE, true);
				PostgresServer server = PostgresServer.findRunning(dataIn(directory), passwordIn(home));
				if (server != null) {
					logger.info("Joined the PostgreSQL that is running at " + server.url());
				}
				else {
					server = start(home);
				}
				Files.writeString(directory.resolve(COMPLETE), "");
				return new EmbeddedDatabase(home, instances, server);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Failed to join the embedded PostgreSQL in '" + directory + "'", ex);
		}
	}

	/**
	 * The password of a database that there is.
	 */
	private static String passwordIn(PrivateDirectory home) throws IOException {
		return Files.exists(home.passwordFile()) ? home.password() : "";
	}

	/**
	 * The server asks for its password from its first moment on: the options that say so
	 * go to {@code initdb} together with those of the locale, and the last one counts.
	 */
	private static PostgresServer start(PrivateDirectory directory) throws IOException {
		Path data = dataIn(directory.path());
		if (!Files.exists(directory.resolve(COMPLETE)) || !Files.exists(directory.passwordFile())) {
			logger.info("Creating a PostgreSQL database in " + data + ", which takes some seconds");
			FileSystemUtils.deleteRecursively(data);
			directory.createPassword();
		}
		ProcessBuilder.Redirect log = ProcessBuilder.Redirect.appendTo(directory.resolve("server.log").toFile());
		try {
			EmbeddedPostgres.builder()
				.setDataDirectory(data)
				.setLocaleConfig("auth", "scram-sha-256")
				.setLocaleConfig("pwfile", directory.passwordFile().toString())
				.setConnectConfig("password", directory.password())
				.setCleanDataDirectory(false)
				.setRegisterShutdownHook(false)
				.setErrorRedirector(log)
				.setOutputRedirector(log)
				.setPGStartupWait(STARTUP)
				.setServerConfig("listen_addresses", "127.0.0.1")
				.setServerConfig("fsync", "on")
				.setServerConfig("synchronous_commit", "on")
				.start();
		}
		catch (IOException | RuntimeException ex) {
			throw new IOException("PostgreSQL did not start; its log is in '" + directory.resolve("server.log")
					+ "', and it begins anew when '" + data + "' is deleted", ex);
		}
		PostgresServer server = PostgresServer.findRunning(data, directory.password());
		if (server == null) {
			throw new IOException("PostgreSQL in '" + data + "' is gone right after its start");
		}
		logger.info("Started a PostgreSQL for all instances at " + server.url());
		return server;
	}

	/**
	 * Return the URL of the server, without user and password.
	 */
	String url() {
		return this.server.url();
	}

	String user() {
		return PostgresServer.USER;
	}

	String password() {
		return this.server.password();
	}

	/**
	 * Leave, and stop the server when nobody else is there.
	 */
	@Override
	public void close() {
		try (FileChannel door = open(this.directory.path(), "door.lock")) {
			door.lock();
			this.instances.close();
			if (isEmpty()) {
				this.server.stop();
				logger.info("Stopped PostgreSQL: this was the last instance");
			}
			else {
				logger.info("Left PostgreSQL running for the other instances");
			}
		}
		catch (IOException ex) {
			logger.warn("Failed to leave the embedded PostgreSQL in '" + this.directory.path() + "'", ex);
		}
	}

	private boolean isEmpty() throws IOException {
		try (FileChannel channel = open(this.directory.path(), "instances.lock")) {
			return channel.tryLock() != null;
		}
	}

	private static Path dataIn(Path directory) {
		return directory.resolve("data");
	}

	private static FileChannel open(Path directory, String name) throws IOException {
		return FileChannel.open(directory.resolve(name), StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE);
	}

}
