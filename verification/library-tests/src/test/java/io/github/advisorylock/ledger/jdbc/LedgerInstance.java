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

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.AbstractLockTests;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.Patience;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * An instance in a JVM of its own, to be killed: runs one tick after the other, the next
 * one being as high as the number of ticks that have run.
 */
public final class LedgerInstance implements AutoCloseable {

	static final String RUNNING = "running";

	private final Process process;

	private final BufferedReader output;

	private LedgerInstance(Process process) {
		this.process = process;
		this.output = process.inputReader(StandardCharsets.UTF_8);
	}

	/**
	 * Start a JVM whose runs have the given scope and length.
	 */
	static LedgerInstance start(String url, LockScope scope, Duration longestRun) {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		try {
			return new LedgerInstance(
					new ProcessBuilder(java, "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
							LedgerInstance.class.getName(), url, scope.name(), longestRun.toString())
						.redirectErrorStream(true)
						.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Wait until a run has begun.
	 */
	void awaitRun() {
		String line = readLine();
		while (line != null && !line.equals(RUNNING)) {
			line = readLine();
		}
		if (line == null) {
			throw new IllegalStateException("The instance ended before a run");
		}
	}

	/**
	 * Kill without a warning, and wait.
	 */
	void kill() throws InterruptedException {
		this.process.destroyForcibly();
		if (!this.process.waitFor(Patience.SECONDS, TimeUnit.SECONDS)) {
			throw new IllegalStateException("The instance can't be killed");
		}
	}

	@Override
	public void close() throws InterruptedException {
		kill();
	}

	private @Nullable String readLine() {
		try {
			return this.output.readLine();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public static void main(String[] args) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(args[0]);
		pool.setMaximumPoolSize(2);
		LedgerSettings settings = new LedgerSettings(AbstractLedgerTests.PREFIX, false, Duration.ofDays(30), 1000,
				Duration.ofDays(7));
		PostgresAdvisoryLockLedger ledger = NamedJobs.ledger(pool, settings, AbstractLockTests.NAMESPACE,
				new LockInstance(null).name(), List::of);
		InstancePresence presence = new InstancePresence(() -> ledger, "killed", null, List::of,
				LockScheduler.Threads.ofCurrent());
		ledger.whenOpen(presence::ledgerOpened);
		presence.start();
		LockSession session = new LockSession(new DriverManagerDataSource(args[0]), "killed",
				LockSessionSettings.DEFAULT, (lost) -> {
				});
		PostgresAdvisoryLockTemplate template = new PostgresAdvisoryLockTemplate(pool, new JdbcTransactionManager(pool),
				session, AbstractLockTests.NAMESPACE, AdvisoryLockKeyFactory.sha256(), AbstractLockTests.LONG, 10,
				() -> ledger);
		JdbcTemplate jdbc = new JdbcTemplate(pool);
		while (true) {
			runNextTick(template, jdbc, LockScope.valueOf(args[1]), Duration.parse(args[2]));
		}
	}

	private static void runNextTick(PostgresAdvisoryLockTemplate template, JdbcTemplate jdbc, LockScope scope,
			Duration longestRun) {
		int next = jdbc.queryForObject(
				"SELECT count(*) FROM " + AbstractLedgerTests.PREFIX + "run WHERE outcome = 'EXECUTED'", Integer.class);
		LockRequest request = LockRequest.of("job").scope(scope).oncePerTick(tick(next));
		template.execute(request, (lock) -> {
			System.out.println(RUNNING);
			pause(longestRun);
			jdbc.update("INSERT INTO ledger_effect (id) VALUES (?)", tick(next).toString());
			pause(longestRun);
			return null;
		});
	}

	private static void pause(Duration longest) {
		LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(longest.toNanos()));
	}

	static Instant tick(int number) {
		return AbstractLedgerTests.TICK.plusSeconds(number);
	}

}
