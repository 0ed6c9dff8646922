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
import java.util.Map;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.UnsupportedDatabaseException;
import io.github.advisorylock.testsupport.TestServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for applications on a hot standby.
 */
@Tag("servers")
class StandbyTests {

	private static TestServer primary;

	private static TestServer standby;

	@BeforeAll
	static void start(@TempDir Path directory) {
		primary = TestServer.start(directory.resolve("primary"), Map.of());
		standby = primary.startStandby(directory.resolve("standby"));
	}

	@AfterAll
	static void stop() {
		standby.close();
		primary.close();
	}

	@Test
	void standbyFollowsItsPrimaryAndGrantsWhatThatGrants() {
		assertThat(primary.query("SELECT pg_is_in_recovery()")).isEqualTo("f");
		assertThat(standby.query("SELECT pg_is_in_recovery()")).isEqualTo("t");
		assertThat(standby.query("SELECT status FROM pg_stat_wal_receiver")).isEqualTo("streaming");
		assertThat(standby.query("SELECT pg_try_advisory_xact_lock(1)")).isEqualTo("t");
	}

	@Test
	void transactionScopeIsRefusedAtStart() {
		assertThat(DoctorContexts.failureOf(DoctorContexts.inTransaction(standby.url()))).contains("is a standby",
				"spring.datasource.url", "advisory-lock.doctor.standby");
	}

	@Test
	void sessionScopeWithUrlOfStandbyIsRefusedAtStart() {
		String failure = DoctorContexts.failureOf(DoctorContexts.inSession(primary.url())
			.withPropertyValues("advisory-lock.session.url=" + standby.url() + "&targetServerType=any"));
		assertThat(failure).contains("server of the session locks is a standby", "advisory-lock.session.url");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void runIsRefusedWhenTheDoctorLooksAway(LockScope scope) {
		DoctorContexts.create(standby.url() + "&targetServerType=any")
			.withPropertyValues("advisory-lock.doctor.standby=off",
					"advisory-lock.session.url=" + standby.url() + "&targetServerType=any")
			.run((context) -> {
				AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
				assertThatExceptionOfType(UnsupportedDatabaseException.class)
					.isThrownBy(() -> operations.execute(LockRequest.of("standby").scope(scope), (lock) -> true))
					.withMessageContaining("standby");
			});
	}

}
