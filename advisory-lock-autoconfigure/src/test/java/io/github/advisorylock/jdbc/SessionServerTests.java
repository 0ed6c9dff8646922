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

package io.github.advisorylock.jdbc;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.doctor.DoctorCheck;
import io.github.advisorylock.testsupport.TestServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link SessionServer}.
 */
@Tag("servers")
class SessionServerTests {

	@Test
	void serverThatSaysItIsAnotherIsRefusedWhenConnectionIsOpened(@TempDir Path directory) {
		try (TestServer server = TestServer.start(directory.resolve("server"),
				Map.of("allow_system_table_mods", "on"))) {
			try (LockSession session = session(server)) {
				assertThat(session.tryLock(hold())).isTrue();
				server.execute("CREATE OR REPLACE FUNCTION pg_catalog.version() RETURNS text LANGUAGE sql "
						+ "AS $$ SELECT 'CockroachDB CCL v23.1' $$");
				server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
						+ "WHERE application_name LIKE 'al:look-alike@%'");
				assertThatExceptionOfType(UnsupportedDatabaseException.class).isThrownBy(() -> session.tryLock(hold()))
					.withMessageContaining("CockroachDB");
			}
			try (LockSession session = session(server)) {
				session.setTolerated(List.of(DoctorCheck.LOOK_ALIKE));
				assertThat(session.tryLock(hold())).isTrue();
			}
		}
	}

	private static LockSession session(TestServer server) {
		return new LockSession(new DriverManagerDataSource(server.url()), "look-alike", LockSessionSettings.DEFAULT,
				(event) -> {
				});
	}

	private static Hold hold() {
		return new Hold(AdvisoryLockKey.of("look", "alike"), LockMode.EXCLUSIVE, LockScope.SESSION);
	}

}
