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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PostgresServer}.
 */
class PostgresServerTests {

	@ParameterizedTest
	@ValueSource(strings = { "PostgreSQL 14.22 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit",
			"PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0) 12.2.0, 64-bit",
			"PostgreSQL 18.1 on aarch64-apple-darwin, compiled by clang, 64-bit",
			"PostgreSQL 15.12-YB-2025.1.0.0-b168 on x86_64-pc-linux-gnu, compiled by clang, 64-bit",
			"PostgreSQL 15.12-YB-2026.2.1.0-b3 on x86_64-pc-linux-gnu, compiled by clang, 64-bit" })
	void problemOfServerWithRealLocksIsNull(String version) {
		assertThat(PostgresServer.lookAlike(version)).isNull();
	}

	@Test
	void problemOfCockroachIsThatItsLocksPretend() {
		assertThat(PostgresServer.lookAlike("CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu, built 2025/06/01, go1.23)"))
			.contains("CockroachDB", "lock nothing");
	}

	@ParameterizedTest
	@ValueSource(strings = { "PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang",
			"PostgreSQL 11.2-YB-2024.2.3.0-b1 on x86_64-pc-linux-gnu", "PostgreSQL 15.2-YB-2.25.1.0-b381 on linux",
			"PostgreSQL 15.2-YB-unknown", "PostgreSQL 15.12-YB-2025.0.0.0-b1" })
	void problemOfOldYugabyteIsThatItHasNoLocks(String version) {
		assertThat(PostgresServer.lookAlike(version)).contains("YugabyteDB before 2025.1");
	}

}
