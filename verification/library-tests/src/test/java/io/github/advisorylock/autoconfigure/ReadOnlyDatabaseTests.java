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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for locks in a database, or with a role, whose transactions are read-only by
 * default.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("gate")
class ReadOnlyDatabaseTests {

	private static final String ALL = "Advisory locks are ready in scope ";

	@BeforeAll
	static void createDatabase() {
		TestPostgres.execute("CREATE DATABASE archive");
		TestPostgres.execute("ALTER DATABASE archive SET default_transaction_read_only = on");
		TestPostgres.execute("CREATE ROLE archivist LOGIN PASSWORD 'archivist'");
		TestPostgres.execute("ALTER ROLE archivist SET default_transaction_read_only = on");
	}

	@AfterAll
	static void dropDatabase() {
		TestPostgres.execute("DROP DATABASE archive WITH (FORCE)");
		TestPostgres.execute("DROP ROLE archivist");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void lockOfSessionNeedsNoWritableDatabase(boolean byDatabase, CapturedOutput output) {
		DoctorContexts.inSession(byDatabase ? url() : urlOfRole()).run((context) -> {
			assertThat(output).contains(ALL + "SESSION");
			context.getBean(DoctorContexts.SessionJob.class)
				.run(() -> assertThat(ReportingDatabase.databasesWith(AdvisoryLockKey.of("doctor", "doctor-session")))
					.hasSize(1));
		});
	}

	@Test
	void lockOfTransactionNeedsNoWritableDatabase(CapturedOutput output) {
		DoctorContexts.inTransaction(url()).run((context) -> {
			assertThat(output).contains(ALL + "TRANSACTION");
			context.getBean(DoctorContexts.TransactionJob.class)
				.run(() -> assertThat(
						ReportingDatabase.databasesWith(AdvisoryLockKey.of("doctor", "doctor-transaction")))
					.containsExactly("archive"));
		});
	}

	@Test
	void leaderNeedsNoWritableDatabase() {
		DoctorContexts.create(url())
			.withBean(Role.class)
			.run((context) -> Awaitility.await()
				.atMost(Patience.TIME)
				.until(() -> context.getBean(LeaderElection.class).isLeader("archive")));
	}

	@Test
	void urlOfSeveralServersOfWhichNoneIsWritableIsExplained(CapturedOutput output) {
		String several = url().replaceFirst("//([^/]+)/", "//$1,$1/");
		DoctorContexts.inSession(url()).withPropertyValues("advisory-lock.session.url=" + several).run((context) -> {
			assertThat(output).contains("WARN", "default_transaction_read_only", "advisory-lock.session.url");
			assertThatException().isThrownBy(() -> context.getBean(DoctorContexts.SessionJob.class).run(() -> {
			}))
				.withMessageContainingAll("no server of the URL", "SHOW default_transaction_read_only",
						"RESET default_transaction_read_only");
		});
	}

	private static String url() {
		return TestPostgres.url().replaceFirst("(jdbc:postgresql://[^/]*/)[^?]*", "$1archive");
	}

	private static String urlOfRole() {
		return TestPostgres.url()
			.replaceAll("(?<=[?&])(user|password)=[^&]*&?", "")
			.replaceFirst("(\\?.*)?$", "?user=archivist&password=archivist");
	}

	/**
	 * A method that only a leader runs.
	 */
	static class Role {

		@LeaderOnly("archive")
		void run() {
		}

	}

}
