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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestServer;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that calls which the ledger skips cost the server nothing, on a server that is
 * otherwise quiet: no WAL, and no error in its log.
 */
@Tag("servers")
class LedgerSkipTests {

	private static final Instant TICK = Instant.parse("2026-03-01T03:00:00Z");

	private final ExecutorService threads = VirtualThreadExecutor.createWhereAsked();

	private final List<LockSession> sessions = new ArrayList<>();

	private TestServer server;

	private HikariDataSource pool;

	private PostgresAdvisoryLockLedger ledger;

	private PostgresAdvisoryLockTemplate template;

	private PostgresAdvisoryLockTemplate other;

	@BeforeEach
	void start(@TempDir Path directory) {
		this.server = TestServer.start(directory.resolve("server"), Map.of("autovacuum", "off", "wal_level", "minimal",
				"max_wal_senders", "0", "checkpoint_timeout", "1h", "logging_collector", "on", "log_directory", "log"));
		this.pool = TestPostgres.pool(this.server.url(), 10);
		this.template = template();
		this.other = template();
		this.ledger.prepare();
	}

	@AfterEach
	void stop() {
		this.threads.shutdownNow();
		this.sessions.forEach(LockSession::close);
		this.pool.close();
		this.server.close();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void skippedCallsWriteNoWal(LockScope scope) throws Exception {
		LockRequest tick = request("tick", scope).oncePerTick(TICK);
		LockRequest once = request("once", scope).oncePerKey();
		LockRequest seldom = request("seldom", scope).minInterval(Duration.ofHours(1));
		LockRequest paused = request("paused", scope).oncePerTick(TICK);
		for (LockRequest request : List.of(tick, once, seldom, paused)) {
			assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
		}
		this.ledger.pause("paused", "tester");
		assertThatSkipsWriteNoWal(tick, LockOutcome.ALREADY_RAN);
		Precheck.without(() -> assertThatSkipsWriteNoWal(tick, LockOutcome.ALREADY_RAN));
		assertThatSkipsWriteNoWal(once, LockOutcome.ALREADY_RAN);
		assertThatSkipsWriteNoWal(seldom, LockOutcome.TOO_SOON);
		assertThatSkipsWriteNoWal(paused, LockOutcome.PAUSED);
		Precheck.without(() -> assertThatSkipsWriteNoWal(paused, LockOutcome.PAUSED));
		LockRequest busy = request("busy", scope).oncePerTick(TICK);
		this.other
			.execute(busy,
					(lock) -> this.threads.submit(() -> assertThatSkipsWriteNoWal(busy, LockOutcome.BUSY))
						.get(Patience.SECONDS, TimeUnit.SECONDS))
			.orElseThrow();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void contendedCallsLeaveNoErrorInTheLogOfTheServer(LockScope scope) throws Exception {
		// who was turned away while the server started may be told of after it was ready
		this.server.execute("DO $$ BEGIN RAISE LOG 'calls begin'; END $$");
		List<Future<?>> callers = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			PostgresAdvisoryLockTemplate caller = (i % 2 == 0) ? this.template : this.other;
			callers.add(this.threads.submit(() -> contend(caller, scope)));
		}
		for (Future<?> caller : callers) {
			caller.get(60, TimeUnit.SECONDS);
		}
		assertThat(this.ledger.runs("job", 100)).hasSize(40);
		assertThat(this.server.query("SELECT count(*) FROM advisory_lock_completion")).isEqualTo("40");
		this.server.execute("DO $$ BEGIN RAISE LOG 'calls are over'; END $$");
		// The server writes its log in a process of its own, in order but some time later
		Awaitility.await().untilAsserted(() -> assertThat(log()).anyMatch((line) -> line.contains("calls are over")));
		assertThat(log())
			.noneMatch((line) -> line.contains("ERROR:") || line.contains("FATAL:") || line.contains("WARNING:"));
	}

	private void contend(PostgresAdvisoryLockTemplate caller, LockScope scope) {
		for (int i = 0; i < 40; i++) {
			LockRequest tick = request("job", scope).oncePerTick(TICK.plusSeconds(i));
			LockRequest event = request("event-" + i, scope).oncePerKey();
			caller.execute(tick, (lock) -> null);
			caller.execute(event, (lock) -> null);
			Precheck.without(() -> caller.execute(tick.waitFor(Duration.ofSeconds(10)), (lock) -> null));
			caller.execute(event.waitFor(Duration.ofSeconds(10)), (lock) -> null);
		}
	}

	private void assertThatSkipsWriteNoWal(LockRequest request, LockOutcome outcome) {
		assertThat(execute(request)).isEqualTo(outcome);
		String before = walPosition();
		for (int i = 0; i < 50; i++) {
			assertThat(execute(request)).isEqualTo(outcome);
		}
		assertThat(walPosition()).as(outcome.name()).isEqualTo(before);
	}

	private LockOutcome execute(LockRequest request) {
		return this.template.execute(request, (lock) -> 1).outcome();
	}

	private String walPosition() {
		return this.server.query("SELECT pg_current_wal_insert_lsn()");
	}

	/**
	 * Return what the server has logged since the calls began.
	 */
	private List<String> log() throws IOException {
		List<String> lines = new ArrayList<>();
		try (Stream<Path> files = Files.list(this.server.directory().resolve("log"))) {
			for (Path file : files.toList()) {
				lines.addAll(Files.readAllLines(file));
			}
		}
		int begin = IntStream.range(0, lines.size())
			.filter((line) -> lines.get(line).contains("LOG:  calls begin"))
			.findFirst()
			.orElse(lines.size());
		return lines.subList(begin, lines.size());
	}

	private static LockRequest request(String key, LockScope scope) {
		return LockRequest.of(key).scope(scope);
	}

	private PostgresAdvisoryLockTemplate template() {
		LockSession session = new LockSession(new DriverManagerDataSource(this.server.url()), "tests",
				LockSessionSettings.DEFAULT, (lost) -> {
				});
		this.sessions.add(session);
		LedgerSettings settings = new LedgerSettings(LedgerSettings.DEFAULT_TABLE_PREFIX, true, Duration.ofDays(30),
				1000, Duration.ofDays(7));
		PostgresAdvisoryLockLedger ledger = NamedJobs.ledger(this.pool, settings, "tests", "host:1", List::of);
		this.ledger = ledger;
		return new PostgresAdvisoryLockTemplate(this.pool, new JdbcTransactionManager(this.pool), session, "tests",
				AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 1000, Precheck.of(ledger));
	}

}
