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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.health.AdvisoryLockHealthAutoConfiguration;
import io.github.advisorylock.testsupport.FreePort;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for applications with wrong properties of the lock session.
 */
@Tag("servers")
@ExtendWith(OutputCaptureExtension.class)
class SessionLoginTests {

	private static TestServer server;

	@BeforeAll
	static void start(@TempDir Path directory) throws IOException {
		server = TestServer.start(directory.resolve("server"), Map.of());
		server.execute("CREATE ROLE worker LOGIN PASSWORD 'right'");
		Path access = server.directory().resolve("pg_hba.conf");
		Files.writeString(access,
				"host all worker,rotated,ailing 127.0.0.1/32 scram-sha-256\n" + Files.readString(access));
		server.execute("SELECT pg_reload_conf()");
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "nonsense", "jdbc:nonsense://localhost/x", "jdbc:postgresql://localhost:port/x" })
	void urlThatNobodyUnderstandsIsRefused(String url) {
		DoctorContexts.inSession(server.url())
			.withPropertyValues("advisory-lock.session.url=" + url)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(AdvisoryLockConfigurationException.class)
				.hasMessageContaining("advisory-lock.session.url"));
	}

	@Test
	void passwordThatIsWrongIsRefused() {
		String failure = DoctorContexts.failureOf(DoctorContexts.inSession(server.url())
			.withPropertyValues("advisory-lock.session.url=" + urlWithoutUser(server.port()),
					"advisory-lock.session.username=worker", "advisory-lock.session.password=wrong"));
		assertThat(failure).contains("password authentication failed", "advisory-lock.session.url",
				"advisory-lock.session.username", "advisory-lock.session.password",
				"advisory-lock.doctor.session-login");
	}

	@Test
	void passwordOfTheApplicationThatIsWrongIsRefused() {
		String failure = DoctorContexts.failureOf(DoctorContexts.inSession(urlWithoutUser(server.port()))
			.withPropertyValues("spring.datasource.username=worker", "spring.datasource.password=wrong",
					"spring.datasource.hikari.connection-timeout=1000"));
		assertThat(failure).contains("password authentication failed", "spring.datasource.password",
				"advisory-lock.doctor.session-login");
	}

	@ParameterizedTest
	@EnumSource
	void passwordThatIsRotatedIsUsedForTheNextConnection(Rotation rotation) {
		AtomicReference<String> password = new AtomicReference<>("first");
		server.execute("DROP ROLE IF EXISTS rotated; CREATE ROLE rotated LOGIN PASSWORD 'first'");
		rotation.apply(DoctorContexts.inSession(urlWithoutUser(server.port())), password).run((context) -> {
			DoctorContexts.SessionJob job = context.getBean(DoctorContexts.SessionJob.class);
			AtomicInteger runs = new AtomicInteger();
			job.run(runs::incrementAndGet);
			server.execute("ALTER ROLE rotated PASSWORD 'second'");
			password.set("second");
			if (rotation == Rotation.POOL) {
				context.getBean(HikariDataSource.class).getHikariConfigMXBean().setPassword("second");
			}
			server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotated'");
			job.run(runs::incrementAndGet);
			assertThat(runs).hasValue(2);
		});
	}

	@Test
	void healthIsOutOfServiceUntilThePasswordIsRight() {
		server.execute("DROP ROLE IF EXISTS ailing; CREATE ROLE ailing LOGIN PASSWORD 'other'");
		DoctorContexts.inSession(server.url())
			.withConfiguration(AutoConfigurations.of(AdvisoryLockHealthAutoConfiguration.class))
			.withPropertyValues("advisory-lock.session.url=" + urlWithoutUser(server.port()),
					"advisory-lock.session.username=ailing", "advisory-lock.session.password=right",
					"advisory-lock.doctor.session-login=warn")
			.run((context) -> {
				HealthIndicator indicator = context.getBean(HealthIndicator.class);
				assertThat(indicator.health().getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
				assertThat(indicator.health().getDetails().get("sessionProblem")).asString()
					.contains("password authentication failed");
				server.execute("ALTER ROLE ailing PASSWORD 'right'");
				Awaitility.await().atMost(Patience.TIME).until(() -> indicator.health().getStatus().equals(Status.UP));
			});
	}

	@Test
	void passwordThatIsRightLetsMethodsRun() {
		DoctorContexts.inSession(server.url())
			.withPropertyValues("advisory-lock.session.url=" + urlWithoutUser(server.port()),
					"advisory-lock.session.username=worker", "advisory-lock.session.password=right")
			.run((context) -> context.getBean(DoctorContexts.SessionJob.class).run(() -> {
			}));
	}

	@Test
	void hostThatDoesNotAnswerIsAWarning(CapturedOutput output) {
		String url = urlWithoutUser(FreePort.find());
		DoctorContexts.inSession(server.url()).withPropertyValues("advisory-lock.session.url=" + url).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("WARN", "methods of scope SESSION will fail until it is there",
					"advisory-lock.session.url");
		});
	}

	private static String urlWithoutUser(int port) {
		return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
	}

	/**
	 * Where a password comes from that changes.
	 */
	enum Rotation {

		POOL, CONNECTION_DETAILS, CREDENTIALS_PROVIDER;

		ApplicationContextRunner apply(ApplicationContextRunner runner, AtomicReference<String> password) {
			return switch (this) {
				case POOL ->
					runner.withPropertyValues("spring.datasource.username=rotated", "spring.datasource.password=first");
				case CONNECTION_DETAILS ->
					runner.withBean(JdbcConnectionDetails.class, () -> new RotatedDetails(password));
				case CREDENTIALS_PROVIDER -> runner.withBean(DataSource.class, () -> {
					HikariDataSource pool = TestPostgres.pool(urlWithoutUser(server.port()), 2);
					pool.setCredentialsProvider(() -> Credentials.of("rotated", password.get()));
					return pool;
				});
			};
		}

	}

	private record RotatedDetails(AtomicReference<String> password) implements JdbcConnectionDetails {

		@Override
		public String getUsername() {
			return "rotated";
		}

		@Override
		public String getPassword() {
			return this.password.get();
		}

		@Override
		public String getJdbcUrl() {
			return urlWithoutUser(server.port());
		}

	}

}
