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

package io.github.advisorylock.ledger.jdbc;

import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for a ledger in a database of encoding SQL_ASCII, where a character is a byte.
 */
class LedgerEncodingTests extends AbstractLedgerTests {

	private static final String DATABASE = "ledger_encoding_tests";

	/**
	 * What the server can't compress: four bytes for each character.
	 */
	private static final String LONGEST_KEY = randomText(512, 0x10000, 0x10FFFF);

	/**
	 * As many bytes as there is room for beside the longest key.
	 */
	private static final String LONGEST_NAMESPACE = randomText(2, 0x800, 0xD7FF) + randomText(253, 0x80, 0x7FF);

	private HikariDataSource asciiPool;

	private PostgresAdvisoryLockLedger asciiLedger;

	@BeforeEach
	void createDatabase() {
		TestPostgres.execute(
				"CREATE DATABASE " + DATABASE + " ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
		String url = TestPostgres.url().replaceFirst("(//[^/]+/)[^?]*", "$1" + DATABASE);
		this.asciiPool = TestPostgres.pool(url, 2);
		this.template = createTemplate(this.asciiPool, new JdbcTransactionManager(this.asciiPool),
				new DriverManagerDataSource(url));
		this.asciiLedger = NamedJobs.ledger(this.asciiPool, settings(), LONGEST_NAMESPACE, "host:1", List::of);
	}

	@AfterEach
	void dropDatabase() {
		this.sessions.forEach(LockSession::close);
		this.asciiPool.close();
		TestPostgres.execute("DROP DATABASE " + DATABASE + " WITH (FORCE)");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void longestKeyIsRecordedAndRunsOnce(LockScope scope) {
		LockRequest request = longest(scope).oncePerKey();
		assertThat(run(request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(request)).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(this.asciiLedger.runs(LONGEST_KEY, 9)).extracting(LedgerRun::namespace)
			.containsExactly(LONGEST_NAMESPACE);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void longestErrorIsRecordedAndLongestKeyRunsAgain(LockScope scope) {
		LockRequest request = longest(scope).oncePerTick(TICK);
		String error = "\u00fc".repeat(2000);
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(request, (lock) -> {
			throw new IllegalStateException(error);
		})).withMessage(error).satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(this.asciiLedger.runs(LONGEST_KEY, 9)).singleElement()
			.satisfies((run) -> assertThat(run.error()).hasSize(1024).endsWith("\u00fc"));
		this.asciiLedger.pause(LONGEST_KEY, "\u00fc".repeat(255));
		assertThat(run(request)).isEqualTo(LockOutcome.PAUSED);
		this.asciiLedger.resume(LONGEST_KEY, "me");
		assertThat(run(request)).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void tablesWithLimitedColumnsGoOnWorking(LockScope scope) {
		this.asciiLedger.jobs(NAMESPACE, "", 10);
		JdbcTemplate jdbc = new JdbcTemplate(this.asciiPool);
		jdbc.execute("DROP VIEW " + PREFIX + "job_state");
		for (String table : List.of("job", "run", "completion")) {
			jdbc.execute("ALTER TABLE " + PREFIX + table + " ALTER namespace TYPE varchar(255) COLLATE \"C\", "
					+ "ALTER key TYPE varchar(512) COLLATE \"C\"");
		}
		jdbc.execute("ALTER TABLE " + PREFIX
				+ "run ALTER instance TYPE varchar(255) COLLATE \"C\", ALTER error TYPE varchar(1024)");
		LockRequest request = LockRequest.of("job").scope(scope);
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(request.oncePerTick(TICK), (lock) -> {
			throw new IllegalStateException("expected");
		})).withMessage("expected").satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(run(request.oncePerTick(TICK))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(request.oncePerTick(TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(run(request.oncePerKey())).isEqualTo(LockOutcome.EXECUTED);
		assertThat(this.asciiLedger.jobs(NAMESPACE, "", 10)).hasSize(1);
		this.asciiLedger.housekeeping(LockScheduler.Threads.ofCurrent()).purge();
	}

	private LockOutcome run(LockRequest request) {
		return this.template.execute(request, (lock) -> 1).outcome();
	}

	private static LockRequest longest(LockScope scope) {
		return LockRequest.of(AdvisoryLockKey.of(LONGEST_NAMESPACE, LONGEST_KEY)).scope(scope);
	}

	private static String randomText(int length, int first, int last) {
		return new Random(1).ints(length, first, last + 1).mapToObj(Character::toString).collect(Collectors.joining());
	}

}
