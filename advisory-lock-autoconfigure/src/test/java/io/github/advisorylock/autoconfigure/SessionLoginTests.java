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

import io.github.advisorylock.testsupport.TestServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.test.util.TestSocketUtils;

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
		Files.writeString(access, "host all worker 127.0.0.1/32 scram-sha-256\n" + Files.readString(access));
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
	void databaseThatDoesNotExistIsRefused() {
		String failure = DoctorContexts.failureOf(DoctorContexts.inSession(server.url())
			.withPropertyValues("advisory-lock.session.url=" + server.url().replace("/postgres?", "/nowhere?")));
		assertThat(failure).contains("nowhere", "Correct 'advisory-lock.session.url'");
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
		String url = urlWithoutUser(TestSocketUtils.findAvailableTcpPort());
		DoctorContexts.inSession(server.url()).withPropertyValues("advisory-lock.session.url=" + url).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("WARN", "methods of scope SESSION will fail until it is there",
					"advisory-lock.session.url");
		});
	}

	private static String urlWithoutUser(int port) {
		return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
	}

}
