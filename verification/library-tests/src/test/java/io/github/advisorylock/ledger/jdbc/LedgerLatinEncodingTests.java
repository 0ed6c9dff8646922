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

import java.time.Duration;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for a ledger in a database of encoding LATIN1, which has few characters: a
 * statement with another one is refused.
 */
@Tag("gate")
class LedgerLatinEncodingTests {

	private static final String DATABASE = "ledger_latin_tests";

	private static final LockRequest REQUEST = LockRequest.of("j\u00f6b").minInterval(Duration.ofMinutes(10));

	private final String url = TestPostgres.url().replaceFirst("(//[^/]+/)[^?]*", "$1" + DATABASE);

	private HikariDataSource pool;

	private LockSession session;

	private PostgresAdvisoryLockLedger ledger;

	private PostgresAdvisoryLockTemplate template;

	@BeforeEach
	void createDatabase() {
		TestPostgres.execute(
				"CREATE DATABASE " + DATABASE + " ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
		this.pool = TestPostgres.pool(this.url, 2);
		this.session = new LockSession(new DriverManagerDataSource(this.url), "shop", LockSessionSettings.DEFAULT,
				(event) -> {
				});
		this.ledger = NamedJobs.ledger(this.pool,
				new LedgerSettings("advisory_lock_", true, Duration.ofDays(30), 1000, Duration.ofDays(7)), "shop",
				"h\u00f6st-\u20ac:1", List::of);
		this.template = new PostgresAdvisoryLockTemplate(this.pool, new JdbcTransactionManager(this.pool), this.session,
				"shop", AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 1000, () -> this.ledger);
		this.ledger.prepare();
	}

	@AfterEach
	void dropDatabase() {
		this.session.close();
		this.pool.close();
		TestPostgres.execute("DROP DATABASE " + DATABASE + " WITH (FORCE)");
	}

	@ParameterizedTest
	@EnumSource
	void failureIsRecordedWhateverItSays(LockScope scope) {
		String said = "10 \u20ac f\u00fcr \ud83d\ude00 und \ud83d";
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(REQUEST.scope(scope), (lock) -> {
			throw new IllegalStateException(said);
		})).withMessage(said).satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(query("SELECT outcome || ' ' || error || ' ' || instance FROM advisory_lock_run"))
			.containsExactly("FAILED java.lang.IllegalStateException: 10 ? f\u00fcr ? und ? h\u00f6st-?:1");
		assertThat(run(REQUEST.scope(scope))).isEqualTo(LockOutcome.TOO_SOON);
	}

	@Test
	void whatOperatorsSayIsKept() {
		this.ledger.pauseAll("shop", "M\u00fcller \u20ac", "\u0448\u0442\u043e\u0440\u043c");
		assertThat(query("SELECT paused_by || ' ' || reason FROM advisory_lock_pause"))
			.containsExactly("M\u00fcller ? ?????");
		assertThat(run(REQUEST)).isEqualTo(LockOutcome.PAUSED);
	}

	/**
	 * A question mark in its place could be the key of another job.
	 */
	@ParameterizedTest
	@EnumSource
	void keyThatDatabaseCantHaveIsRefusedAndNothingRuns(LockScope scope) {
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.template.execute(LockRequest.of("\u20ac").scope(scope).oncePerKey(),
					(lock) -> query("CREATE TABLE effect ()")))
			.withStackTraceContaining("LATIN1");
		assertThat(query("SELECT relname FROM pg_class WHERE relname = 'effect'")).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "UTF8, \u20ac\u00fc", "SQL_ASCII, \u20ac\u00fc", "LATIN1, ?\u00fc", "LATIN9, \u20ac\u00fc",
			"WIN1252, \u20ac\u00fc", "KOI8R, ??", "ISO_8859_5, ??", "EUC_JIS_2004, ??" })
	void textIsWhatTheEncodingHas(String encoding, String stored) {
		assertThat(StorableText.in(encoding).of("\u20ac\u00fc")).isEqualTo(stored);
	}

	private LockOutcome run(LockRequest request) {
		return this.template.execute(request, (lock) -> 1).outcome();
	}

	private List<String> query(String sql) {
		return TestPostgres.query(this.url, sql);
	}

}
