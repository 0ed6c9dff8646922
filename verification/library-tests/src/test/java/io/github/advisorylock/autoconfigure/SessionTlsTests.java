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

package io.github.advisorylock.autoconfigure;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestCertificates;
import io.github.advisorylock.testsupport.TestServer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.Driver;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for applications whose server demands TLS, and for attackers that decline it.
 */
@Tag("servers")
@ExtendWith(OutputCaptureExtension.class)
class SessionTlsTests {

	private static final Log logger = LogFactory.getLog(SessionTlsTests.class);

	private static final String HIKARI = "spring.datasource.hikari.data-source-properties.";

	private static TestServer server;

	private static TestCertificates certificates;

	@BeforeAll
	static void start(@TempDir Path directory) throws IOException {
		certificates = TestCertificates.create(directory.resolve("certificates"));
		server = TestServer.start(directory.resolve("server"), Map.of());
		server.execute("CREATE ROLE worker LOGIN PASSWORD 'correct horse'");
		Path access = server.directory().resolve("pg_hba.conf");
		Files.writeString(access, """
				hostssl all worker 127.0.0.1/32 scram-sha-256 clientcert=verify-full
				hostnossl all worker 127.0.0.1/32 reject
				""" + Files.readString(access));
		for (String name : List.of("ca.crt", "server.crt", "server.key")) {
			Files.copy(certificates.path(name), server.directory().resolve(name), StandardCopyOption.COPY_ATTRIBUTES);
		}
		server.execute("ALTER SYSTEM SET ssl_ca_file = 'ca.crt'");
		server.execute("ALTER SYSTEM SET ssl = on");
		server.execute("SELECT pg_reload_conf()");
		Awaitility.await().atMost(Patience.TIME).until(() -> "on".equals(server.query("SHOW ssl")));
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	@Test
	void sessionLockIsTakenWithDriverPropertiesOfThePool() {
		withPool().run(SessionTlsTests::assertLockGoesThroughTls);
	}

	@Test
	void sessionLockIsTakenWithDriverPropertiesOfItsOwn() {
		create()
			.withPropertyValues("spring.datasource.url=" + server.url(),
					"advisory-lock.session.url=" + url(server.port()) + "?sslmode=disable",
					"advisory-lock.session.username=worker", "advisory-lock.session.password=correct horse",
					"advisory-lock.session.properties.sslmode=verify-full",
					"advisory-lock.session.properties.sslrootcert=" + certificates.path("ca.crt"),
					"advisory-lock.session.properties.sslcert=" + certificates.path("client.crt"),
					"advisory-lock.session.properties.sslkey=" + certificates.path("client.pk8"))
			.run(SessionTlsTests::assertLockGoesThroughTls);
	}

	@Test
	void sessionLockIsTakenAsByPoolOfDataSourceClass() {
		create().withBean(DataSource.class, () -> {
			HikariDataSource pool = new HikariDataSource();
			pool.setDataSourceClassName(PGSimpleDataSource.class.getName());
			pool.setUsername("worker");
			pool.setPassword("correct horse");
			pool.addDataSourceProperty("url", url(server.port()));
			pool.addDataSourceProperty("sslMode", "verify-full");
			pool.addDataSourceProperty("sslRootCert", certificates.path("ca.crt").toString());
			pool.addDataSourceProperty("sslCert", certificates.path("client.crt").toString());
			pool.addDataSourceProperty("sslKey", certificates.path("client.pk8").toString());
			pool.setMaximumPoolSize(2);
			return pool;
		}).run(SessionTlsTests::assertLockGoesThroughTls);
	}

	@Test
	void sessionLockIsTakenAsByPoolOfTomcat() {
		create().withBean(DataSource.class, () -> {
			org.apache.tomcat.jdbc.pool.DataSource pool = new org.apache.tomcat.jdbc.pool.DataSource();
			pool.setDriverClassName(Driver.class.getName());
			pool.setUrl(url(server.port()));
			pool.setUsername("worker");
			pool.setPassword("correct horse");
			driverProperties().forEach(pool.getDbProperties()::setProperty);
			return pool;
		}).run(SessionTlsTests::assertLockGoesThroughTls);
	}

	@Test
	void sessionLockIsTakenAsByWrappedPool() {
		create().withBean(DataSource.class, () -> {
			HikariDataSource pool = new HikariDataSource();
			pool.setJdbcUrl(url(server.port()));
			pool.setUsername("worker");
			pool.setPassword("correct horse");
			driverProperties().forEach(pool::addDataSourceProperty);
			pool.setMaximumPoolSize(2);
			return new LazyConnectionDataSourceProxy(pool);
		}).run(SessionTlsTests::assertLockGoesThroughTls);
	}

	@Test
	void nothingIsSentToProxyThatDeclinesTls() throws IOException {
		try (DecliningProxy proxy = new DecliningProxy()) {
			withPool().withPropertyValues("spring.datasource.url=" + url(proxy.port())).run((context) -> {
				AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
				assertThatExceptionOfType(DataAccessException.class)
					.isThrownBy(() -> operations.tryAcquire(LockRequest.of("tls")))
					.havingRootCause()
					.withMessageContaining("SSL");
			});
			assertThat(proxy.connections()).isPositive();
			assertThat(proxy.received()).isEmpty();
		}
	}

	@Test
	void doctorSendsNothingToProxyThatDeclinesTls(CapturedOutput output) throws IOException {
		try (DecliningProxy proxy = new DecliningProxy()) {
			withPool().withBean(DoctorContexts.SessionJob.class)
				.withPropertyValues("spring.datasource.url=" + url(proxy.port()),
						"advisory-lock.doctor.session-login=warn")
				.run((context) -> assertThat(context).hasNotFailed());
			assertThat(proxy.connections()).isGreaterThan(1);
			assertThat(proxy.received()).isEmpty();
			assertThat(output).contains("does not support SSL").doesNotContain("correct horse");
		}
	}

	@Test
	void poolThatCannotBeReadIsNotGuessedAt(CapturedOutput output) throws IOException {
		try (DecliningProxy proxy = new DecliningProxy()) {
			PGSimpleDataSource hidden = new PGSimpleDataSource();
			hidden.setUrl(url(proxy.port()));
			hidden.setUser("worker");
			hidden.setPassword("correct horse");
			create().withBean(DataSource.class, () -> new HidingDataSource(hidden)).run((context) -> {
				assertThatException()
					.isThrownBy(
							() -> context.getBean(AdvisoryLockOperations.class).tryAcquire(LockRequest.of("hidden")))
					.withMessageContaining("advisory-lock.session.url");
				assertThat(output).contains("HidingDataSource", "'advisory-lock.session.url'");
			});
			assertThat(proxy.connections()).isZero();
		}
	}

	private static void assertLockGoesThroughTls(ApplicationContext context) {
		try (HeldLock lock = context.getBean(AdvisoryLockOperations.class)
			.tryAcquire(LockRequest.of("tls"))
			.orElseThrow()) {
			AdvisoryLockKey key = lock.key();
			assertThat(server.query("SELECT s.ssl || ' ' || a.usename FROM pg_locks l JOIN pg_stat_ssl s USING (pid) "
					+ "JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND l.objid = "
					+ Integer.toUnsignedString(key.objectId())))
				.isEqualTo("true worker");
		}
	}

	private static ApplicationContextRunner withPool() {
		return create().withPropertyValues("spring.datasource.url=" + url(server.port()),
				"spring.datasource.username=worker", "spring.datasource.password=correct horse",
				HIKARI + "sslmode=verify-full", HIKARI + "sslrootcert=" + certificates.path("ca.crt"),
				HIKARI + "sslcert=" + certificates.path("client.crt"),
				HIKARI + "sslkey=" + certificates.path("client.pk8"));
	}

	private static Map<String, String> driverProperties() {
		return Map.of("sslmode", "verify-full", "sslrootcert", certificates.path("ca.crt").toString(), "sslcert",
				certificates.path("client.crt").toString(), "sslkey", certificates.path("client.pk8").toString());
	}

	private static ApplicationContextRunner create() {
		return DoctorContexts.create(server.url())
			.withPropertyValues("spring.datasource.hikari.connection-timeout=1000");
	}

	private static String url(int port) {
		return "jdbc:postgresql://localhost:" + port + "/postgres";
	}

	/**
	 * Answers that it can't do TLS, asks for the password, and keeps what it is told.
	 */
	private static final class DecliningProxy implements AutoCloseable {

		private static final int ASK_FOR_PASSWORD = 3;

		private final ServerSocket serverSocket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

		private final List<Socket> accepted = new CopyOnWriteArrayList<>();

		private final ByteArrayOutputStream received = new ByteArrayOutputStream();

		DecliningProxy() throws IOException {
			start(() -> {
				while (true) {
					Socket socket = this.serverSocket.accept();
					this.accepted.add(socket);
					start(() -> answer(socket));
				}
			});
		}

		private void answer(Socket socket) throws IOException {
			try (socket) {
				DataInputStream in = new DataInputStream(socket.getInputStream());
				DataOutputStream out = new DataOutputStream(socket.getOutputStream());
				in.readNBytes(8);
				out.writeByte('N');
				keep(in.readNBytes(in.readInt() - 4));
				out.writeByte('R');
				out.writeInt(8);
				out.writeInt(ASK_FOR_PASSWORD);
				in.readByte();
				keep(in.readNBytes(in.readInt() - 4));
			}
		}

		private void keep(byte[] bytes) {
			this.received.writeBytes(bytes);
		}

		int port() {
			return this.serverSocket.getLocalPort();
		}

		int connections() {
			return this.accepted.size();
		}

		String received() {
			return this.received.toString(StandardCharsets.ISO_8859_1);
		}

		@Override
		public void close() throws IOException {
			this.serverSocket.close();
			for (Socket socket : this.accepted) {
				socket.close();
			}
		}

		private static void start(Task task) {
			Thread thread = new Thread(() -> {
				try {
					task.run();
				}
				catch (IOException ex) {
					logger.debug("One side has gone", ex);
				}
			}, "declining-proxy");
			thread.setDaemon(true);
			thread.start();
		}

		@FunctionalInterface
		private interface Task {

			void run() throws IOException;

		}

	}

	/**
	 * Does not say how it opens connections.
	 */
	private static final class HidingDataSource extends AbstractDataSource {

		private final DataSource target;

		HidingDataSource(DataSource target) {
			this.target = target;
		}

		@Override
		public Connection getConnection() throws SQLException {
			return this.target.getConnection();
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return this.target.getConnection(username, password);
		}

	}

}
