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
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.benchmarks.BenchmarkServer;
import io.github.advisorylock.ledger.LedgerRun;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a ledger of three million runs costs whoever runs, looks or forgets: a table line
 * for each. To be asked for, and not judged by any time.
 */
class LargeLedgerFigures {

	private static final int RUNS = 3_000_000;

	private static final int KEYS = 1_200_000;

	private static final int JOBS = 60_000;

	/**
	 * The pause of the housekeeping after a batch.
	 */
	private static final Duration PAUSE = Duration.ofMillis(50);

	private static final LedgerTables TABLES = new LedgerTables(
			Map.of("job", "advisory_lock_job", "pause", "advisory_lock_pause", "run", "advisory_lock_run", "completion",
					"advisory_lock_completion", "instance", "advisory_lock_instance"));

	private Instant tick = Instant.now();

	@Test
	void ofThreeMillionRuns() throws Exception {
		try (BenchmarkServer server = BenchmarkServer.start("embedded");
				ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
					.web(WebApplicationType.NONE)
					.properties("spring.datasource.url=" + server.url(), "spring.application.name=figures",
							"advisory-lock.ledger.initialize-schema=always")
					.run()) {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			PostgresAdvisoryLockLedger ledger = context.getBean(PostgresAdvisoryLockLedger.class);
			ledger.prepare();
			JobRepository jobs = ledger.repository();
			LedgerPurge purge = new LedgerPurge(new LedgerConnections(context.getBean(DataSource.class)), TABLES);
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			print("`PER_TICK`, the ledger is empty", times(1000, () -> run(operations)));
			fill(jdbc);
			print("`PER_TICK`", times(1000, () -> run(operations)));
			print("the latest 50 runs", times(50, () -> jobs.latest("figures", null, null, null, null, 50)));
			print("the latest 50 that failed, of one instance",
					times(50, () -> jobs.latest("figures", LedgerRun.Outcome.FAILED, "host:7", null, null, 50)));
			print("housekeeping, nothing is over", times(20, () -> forget(purge, Duration.ZERO)));
			jdbc.update(
					"UPDATE advisory_lock_run SET keep_until = now() - INTERVAL '1 hour' WHERE fencing_token % 5 = 0");
			jdbc.update(
					"UPDATE advisory_lock_completion SET remember_until = now() - INTERVAL '1 hour' WHERE key LIKE '%5'");
			jdbc.update(
					"UPDATE advisory_lock_job SET remember_until = now() - INTERVAL '1 hour' WHERE key LIKE 'old-%'");
			jdbc.execute("VACUUM ANALYZE");
			long begin = System.nanoTime();
			List<Double> batches = forget(purge, PAUSE);
			print("a batch of 1,000 that are over", batches);
			System.out.printf("In %.0f s and %d batches it forgot what was over; %s are left%n",
					(System.nanoTime() - begin) / 1e9, batches.size(),
					jdbc.queryForMap("SELECT (SELECT count(*) FROM advisory_lock_run) AS runs, (SELECT count(*) FROM "
							+ "advisory_lock_completion) AS keys, (SELECT count(*) FROM advisory_lock_job) AS jobs"));
		}
	}

	private void run(AdvisoryLockOperations operations) {
		this.tick = this.tick.plusMillis(1);
		assertThat(operations.execute(LockRequest.of("job").oncePerTick(this.tick), (lock) -> true).outcome())
			.isEqualTo(LockOutcome.EXECUTED);
	}

	private static void fill(JdbcTemplate jdbc) {
		jdbc.update("INSERT INTO advisory_lock_run (namespace, key, scope, instance, fencing_token, started_at, "
				+ "finished_at, outcome) SELECT 'figures', 'job-' || n % 1000, 'SESSION', 'host:' || n % 10, n, "
				+ "now() - (? - n) * INTERVAL '0.5 s', now(), CASE WHEN n % 50 = 7 THEN 'FAILED' ELSE 'EXECUTED' END "
				+ "FROM generate_series(1, ?) n", RUNS, RUNS);
		jdbc.update("INSERT INTO advisory_lock_completion (namespace, key) SELECT 'figures', 'key-' || n FROM "
				+ "generate_series(1, ?) n", KEYS);
		jdbc.update("INSERT INTO advisory_lock_job (namespace, key) SELECT 'figures', 'old-' || n FROM "
				+ "generate_series(1, ?) n", JOBS);
		jdbc.execute("VACUUM ANALYZE");
		jdbc.execute("CHECKPOINT");
	}

	/**
	 * Return how many milliseconds each batch took.
	 */
	private static List<Double> forget(LedgerPurge purge, Duration pause) {
		List<Double> millis = new ArrayList<>();
		List<LedgerPurge.Work> round = new ArrayList<>(List.of(purge.lostRuns()));
		round.addAll(purge.outdated());
		for (LedgerPurge.Work work : round) {
			LedgerPurge.Batch batch = new LedgerPurge.Batch(LedgerPurge.BATCH, work.first());
			while (batch.rows() == LedgerPurge.BATCH) {
				long begin = System.nanoTime();
				batch = purge.execute(work, batch.last());
				millis.add((System.nanoTime() - begin) / 1e6);
				LockSupport.parkNanos(pause.toNanos());
			}
		}
		return millis;
	}

	private static List<Double> times(int times, Runnable action) {
		IntStream.range(0, times / 5).forEach((i) -> action.run());
		return IntStream.range(0, times).mapToObj((i) -> {
			long begin = System.nanoTime();
			action.run();
			return (System.nanoTime() - begin) / 1e6;
		}).toList();
	}

	private static void print(String what, List<Double> millis) {
		List<Double> sorted = millis.stream().sorted().toList();
		System.out.printf("| %s | %.2f | %.2f | %.2f |%n", what, sorted.get(sorted.size() / 2),
				sorted.get(sorted.size() * 99 / 100), sorted.get(sorted.size() - 1));
	}

	/**
	 * An application.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
