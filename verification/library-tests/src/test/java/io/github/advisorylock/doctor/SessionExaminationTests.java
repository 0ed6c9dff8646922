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

package io.github.advisorylock.doctor;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.TestServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link SessionExamination}.
 */
@Tag("servers")
class SessionExaminationTests {

	@Test
	void serverThatSaysItIsAnotherIsRefusedWhenConnectionIsOpened(@TempDir Path directory) {
		try (TestServer server = TestServer.start(directory.resolve("server"),
				Map.of("allow_system_table_mods", "on"))) {
			try (LockSession session = session(server, List.of())) {
				assertThat(tryLock(server, session)).isTrue();
				server.execute("CREATE OR REPLACE FUNCTION pg_catalog.version() RETURNS text LANGUAGE sql "
						+ "AS $$ SELECT 'CockroachDB CCL v23.1' $$");
				server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
						+ "WHERE application_name LIKE 'al:look-alike@%'");
				assertThatExceptionOfType(UnsupportedDatabaseException.class).isThrownBy(() -> tryLock(server, session))
					.withMessageContaining("CockroachDB");
			}
			try (LockSession session = session(server, List.of(DoctorCheck.LOOK_ALIKE))) {
				assertThat(tryLock(server, session)).isTrue();
			}
		}
	}

	private static boolean tryLock(TestServer server, LockSession session) {
		return new PostgresAdvisoryLockTemplate(new DriverManagerDataSource(server.url()), null, session, "look",
				AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 10)
			.tryAcquire(LockRequest.of("alike"))
			.isPresent();
	}

	private static LockSession session(TestServer server, List<DoctorCheck> switchedOff) {
		return new LockSession(() -> new DriverManagerDataSource(server.url()), "look-alike", null,
				LockSessionSettings.DEFAULT, LockDoctor.judge(switchedOff), (event) -> {
				}, LockScheduler.Threads.ofCurrent());
	}

}
