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

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for applications whose server refuses one more connection.
 */
@Tag("servers")
@ExtendWith(OutputCaptureExtension.class)
class TooManyClientsTests {

	private final Deque<Connection> others = new ArrayDeque<>();

	private TestServer server;

	@BeforeEach
	void start(@TempDir Path directory) {
		this.server = TestServer.start(directory.resolve("server"),
				Map.of("max_connections", "6", "superuser_reserved_connections", "0", "max_wal_senders", "0"));
	}

	@AfterEach
	void stop() throws SQLException {
		while (!this.others.isEmpty()) {
			this.others.pop().close();
		}
		this.server.close();
	}

	@Test
	void applicationStartsAndSessionRunsRecoverWithoutRestart(CapturedOutput output) throws SQLException {
		takeAllConnections();
		DoctorContexts.inSession(this.server.url()).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("WARN", "too many clients", "advisory-lock.doctor.unreachable");
			DoctorContexts.SessionJob job = context.getBean(DoctorContexts.SessionJob.class);
			AtomicInteger runs = new AtomicInteger();
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> job.run(runs::incrementAndGet))
				.extracting(SqlState::of)
				.isEqualTo("53300");
			assertThat(runs).hasValue(0);
			this.others.pop().close();
			Awaitility.await()
				.atMost(Patience.TIME)
				.ignoreExceptionsInstanceOf(DataAccessException.class)
				.untilAsserted(() -> {
					job.run(runs::incrementAndGet);
					assertThat(runs).hasValue(1);
				});
		});
	}

	private void takeAllConnections() {
		Awaitility.await().atMost(Patience.TIME).until(() -> {
			try {
				this.others.push(this.server.open());
				return false;
			}
			catch (SQLException ex) {
				return "53300".equals(ex.getSQLState());
			}
		});
	}

}
