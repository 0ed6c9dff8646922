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

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

import io.github.advisorylock.testsupport.JavaProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

/**
 * Tests for {@link EmbeddedDatabase}, with instances that are JVMs of their own.
 */
@Tag("gate")
class EmbeddedDatabaseTests {

	@TempDir
	private static Path directory;

	@TempDir
	private Path logs;

	private final List<JavaProcess> instances = new ArrayList<>();

	@AfterEach
	void stopInstances() throws InterruptedException {
		for (JavaProcess instance : this.instances) {
			instance.close();
		}
		assertThat(postmasterFile()).doesNotExist();
	}

	@Test
	void instancesThatStartTogetherShareServerUntilLastOneStops() throws Exception {
		JavaProcess one = start();
		JavaProcess two = start();
		assertThat(url(one)).isEqualTo(url(two));
		one.stop();
		assertThat(query(url(two), "SELECT 1")).isEqualTo("1");
		two.stop();
		assertThat(postmasterFile()).doesNotExist();
	}

	@Test
	void serverSurvivesKillOfTheInstanceThatStartedIt() throws Exception {
		JavaProcess one = start();
		String url = url(one);
		JavaProcess two = start();
		url(two);
		one.kill();
		assertThat(query(url, "SELECT 1")).isEqualTo("1");
		JavaProcess three = start();
		assertThat(url(three)).isEqualTo(url);
		two.stop();
		assertThat(query(url, "SELECT 1")).isEqualTo("1");
	}

	@Test
	void serverWhoseInstancesWereAllKilledIsJoinedAgain() throws Exception {
		JavaProcess one = start();
		String url = url(one);
		one.kill();
		assertThat(query(url, "SELECT 1")).isEqualTo("1");
		assertThat(url(start())).isEqualTo(url);
	}

	@Test
	void dataSurvivesKillOfInstanceAndServer() throws Exception {
		JavaProcess one = start();
		query(url(one), "CREATE TABLE IF NOT EXISTS kept AS SELECT 42 AS answer");
		one.kill();
		long pid = Long.parseLong(Files.readAllLines(postmasterFile()).get(0));
		ProcessHandle.of(pid).orElseThrow().destroyForcibly();
		assertThat(query(url(start()), "SELECT answer FROM kept")).isEqualTo("42");
	}

	@Test
	void fileThatNamesAnotherProcessDoesNotKeepServerFromStarting() throws Exception {
		JavaProcess one = start();
		url(one);
		String file = Files.readString(postmasterFile());
		one.stop();
		String pid = Long.toString(ProcessHandle.current().pid());
		Files.writeString(postmasterFile(), file.replaceFirst("\\d+", pid));
		assertThat(query(url(start()), "SELECT 1")).isEqualTo("1");
	}

	@Test
	void nobodyGetsInWithoutThePasswordThatOnlyTheUserCanRead() throws Exception {
		String url = url(start());
		String server = url.substring(0, url.indexOf('?'));
		for (String password : List.of("", "postgres")) {
			assertThatExceptionOfType(SQLException.class)
				.isThrownBy(() -> DriverManager.getConnection(server, "postgres", password).close())
				.withMessageContaining("password");
		}
		assertThat(query(url, "SELECT count(*) FROM pg_hba_file_rules WHERE auth_method <> 'scram-sha-256'"))
			.isEqualTo("0");
		assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory))).isEqualTo("rwx------");
		assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("password"))))
			.isEqualTo("rw-------");
		assertThat(Files.readString(directory.resolve("server.log"))).doesNotContain(url.replaceAll(".*password=", ""));
	}

	@Test
	void directoryOfSomebodyElseIsRefused() throws Exception {
		Path foreign = Files.createTempDirectory("foreign");
		try {
			Assumptions.assumeTrue(System.getProperty("user.name").equals("root"), "can give directories away");
			Files.setOwner(foreign,
					foreign.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
			assertThatIOException().isThrownBy(() -> PrivateDirectory.of(foreign))
				.withMessageContaining("belongs to nobody");
		}
		finally {
			Files.delete(foreign);
		}
	}

	private JavaProcess start() {
		Path log = this.logs.resolve(this.instances.size() + ".log");
		JavaProcess instance = JavaProcess.start(log, EmbeddedDatabaseInstance.class, directory.toString());
		this.instances.add(instance);
		return instance;
	}

	private static String url(JavaProcess instance) {
		return instance.awaitLine("url=").substring("url=".length());
	}

	private static Path postmasterFile() {
		return directory.resolve("data").resolve("postmaster.pid");
	}

	private static String query(String url, String sql) throws SQLException {
		try (Connection connection = DriverManager.getConnection(url);
				Statement statement = connection.createStatement()) {
			if (!statement.execute(sql)) {
				return "";
			}
			try (ResultSet row = statement.getResultSet()) {
				row.next();
				return row.getString(1);
			}
		}
	}

}
