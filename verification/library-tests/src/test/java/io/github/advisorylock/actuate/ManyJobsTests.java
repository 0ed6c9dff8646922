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

package io.github.advisorylock.actuate;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDetailsDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ProblemGroup;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunStatistics;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link AdvisoryLocksSource} with 10,000 jobs of 60 runs and 50 instances that
 * this one knows from the ledger only.
 */
@Tag("slow")
class ManyJobsTests {

	private static final int JOBS = 10_000;

	private static OperatedApplication application;

	private static AdvisoryLocksSource source;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class, "advisory-lock.ledger.instances=false",
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage");
		source = application.bean(AdvisoryLocksSource.class);
		fill(6);
	}

	/**
	 * Fill the ledger with as many jobs as an operator's page is made for.
	 * @param runs of each job but for two, which have 60
	 */
	static void fill(int runs) {
		String cron = "'[{\"type\":\"cron\",\"expression\":\"0 0 3 * * *\",\"zone\":\"UTC\"}]'";
		TestPostgres.execute("INSERT INTO operated_job (namespace, key, method, scope, schedules, once, lock, "
				+ "first_seen_at, last_tick, last_started_at, last_finished_at, last_outcome, fencing_token, next_at) "
				+ "SELECT 'many', to_char(n, 'FM00000'), 'com.example.Jobs.run' || n, 'SESSION', " + cron
				+ ", 'PER_TICK', '7:' || n || ':1', '2020-01-01', date_trunc('day', now() - interval '3 hours', 'UTC') + interval '3 hours', "
				+ "now() - n * interval '1 second', now() - n * interval '1 second' + n * interval '1 millisecond', "
				+ "'EXECUTED', 60, date_trunc('day', now() + interval '21 hours', 'UTC') + interval '3 hours' "
				+ "FROM generate_series(1, " + JOBS + ") n");
		TestPostgres
			.execute("INSERT INTO operated_run (namespace, key, tick, scope, instance, fencing_token, started_at, "
					+ "finished_at, outcome) SELECT 'many', to_char(n, 'FM00000'), NULL, 'SESSION', 'host:' || r % 50, r, "
					+ "now() - (60 - r) * interval '1 hour', now() - (60 - r) * interval '1 hour' + r * interval '1 second', "
					+ "'EXECUTED' FROM generate_series(1, " + JOBS + ") n, generate_series(1, 60) r WHERE r > 60 - "
					+ runs + " OR n IN (16, 17)");
		// one that fails three times and did so long ago, one that is overdue, one that
		// is paused
		TestPostgres.execute("UPDATE operated_run SET outcome = 'FAILED', error_class = 'java.io.IOException', "
				+ "error = 'java.io.IOException: no', stack_trace = 'at here', trace_id = '4bf92f' "
				+ "WHERE key = '00017' AND (fencing_token > 57 OR fencing_token = 10)");
		TestPostgres.execute("UPDATE operated_job SET last_outcome = 'FAILED' WHERE key = '00017'");
		TestPostgres
			.execute("UPDATE operated_job SET last_tick = '2020-01-02', next_at = '2020-01-03' WHERE key = '00018'");
		TestPostgres
			.execute("INSERT INTO operated_pause SELECT namespace, key, now(), 'ann', 'broken' FROM operated_job "
					+ "WHERE key = '00019'");
		TestPostgres.execute("UPDATE operated_job SET last_tick = NULL, schedules = "
				+ "'[{\"type\":\"fixedRate\",\"interval\":\"PT1M\"}]', once = 'NONE', last_started_at = now(), next_at = now() + interval '1 minute' WHERE key = '00020'");
		TestPostgres.execute("UPDATE operated_job SET lock = '"
				+ PostgresAdvisoryLockTemplate.lockEntry(AdvisoryLockKey.of("many", "00021"))
				+ "' WHERE key = '00021'");
		TestPostgres.execute(
				"INSERT INTO operated_instance (namespace, instance, started_at, seen_at, stopped_at, clock_skew_ms) "
						+ "SELECT 'shop', 'host:' || n, now() - interval '1 day', now() - CASE WHEN n = 49 THEN interval '1 hour' ELSE interval '0' END, "
						+ "CASE WHEN n = 48 THEN now() END, CASE WHEN n = 47 THEN -7000 ELSE 3 END FROM generate_series(0, 49) n");
		TestPostgres.execute("ANALYZE operated_job; ANALYZE operated_run");
	}

	@AfterAll
	static void stop() {
		application.close();
		OperatedApplication.dropTables();
	}

	@Test
	void listOfTenThousandJobsTakesFewStatementsAndIsSmall() {
		// housekeeping may come in between once
		assertThat(IntStream.range(0, 3).map((time) -> statements(() -> all(null, null, null, 1))).min()).hasValue(2);
		long begin = System.nanoTime();
		String body = application.get(EndpointAnswer.ALL).body();
		System.out.println("Milliseconds of a hundred of 10,000 jobs: " + (System.nanoTime() - begin) / 1_000_000
				+ ", bytes: " + body.length());
		assertThat(body).hasSizeLessThan(60_000);
		AdvisoryLocksDescriptor all = all(null, null, null, 1);
		assertThat(all.jobCount()).isEqualTo(JOBS + 1);
		assertThat(all.states()).containsEntry("failing", 1)
			.containsEntry("overdue", 1)
			.containsEntry("paused", 1)
			.containsEntry("waiting", 0)
			.containsEntry("idle", JOBS - 2);
		assertThat(all.instances()).hasSize(50).last().extracting(InstanceDescriptor::state).isEqualTo("vanished");
	}

	@Test
	void problemsAreToldByWeightWithWhatThereIsToSay() {
		List<ProblemGroup> problems = source.getLocks(null, null, null, null, null, null, true).problems();
		assertThat(problems).extracting(ProblemGroup::problem)
			.containsExactly(Problem.FAILED, Problem.OVERDUE, Problem.INSTANCE_VANISHED, Problem.CLOCK_SKEW,
					Problem.PAUSED);
		assertThat(problems.get(0).latest().get(0)).satisfies((failed) -> {
			assertThat(failed.key()).isEqualTo("00017");
			assertThat(failed.instance()).isEqualTo("host:10");
			assertThat(failed.detail()).contains("no");
			assertThat(failed.since()).isNotNull();
		});
		assertThat(problems.get(2).latest().get(0).instance()).isEqualTo("host:49");
		assertThat(problems.get(3).latest().get(0).detail()).isEqualTo("PT-7S");
		assertThat(problems.get(4).latest().get(0).detail()).isEqualTo("by ann: broken");
		assertThat(all(null, null, null, 1).problems().get(0).latest().get(0).detail())
			.isEqualTo("java.io.IOException");
	}

	@Test
	void jobThatRunsIsToldWhoeverRunsIt() throws Exception {
		try (Connection connection = TestPostgres.open(); Statement statement = connection.createStatement()) {
			AdvisoryLockKey key = AdvisoryLockKey.of("many", "00021");
			statement.execute("SET application_name = 'al:many@host:3'");
			statement.execute("SELECT pg_advisory_lock(" + key.value() + ")");
			AdvisoryLocksDescriptor running = all(null, "running", null, 1);
			assertThat(running.states()).containsEntry("running", 1);
			assertThat(running.jobs()).singleElement().satisfies((job) -> {
				assertThat(job.key()).isEqualTo("00021");
				assertThat(job.state()).isEqualTo("running");
				assertThat(job.holders().get(0).instance()).isEqualTo("host:3");
			});
		}
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
	}

	/**
	 * What a filter finds is what each job says of itself.
	 */
	@Test
	void jobsThatAreFoundByAStateAreInThatState() {
		for (String state : JobTable.STATES) {
			AdvisoryLocksDescriptor all = source.getLocks(null, null, state, null, 1, 1000, false);
			assertThat(all.matching()).as(state).isEqualTo(all.states().get(state));
			assertThat(all.jobs()).as(state)
				.hasSize(Math.min(all.matching(), all.size()))
				.allMatch((job) -> state.equals(job.state()));
		}
		assertThat(all(null, "problem", null, 1).jobs()).isNotEmpty().allMatch((job) -> !job.problems().isEmpty());
	}

	@Test
	void jobsAreFilteredSortedAndPaged() {
		assertThat(keys(null, null, "key", 2)).startsWith("00011").hasSize(10);
		assertThat(keys(null, null, "duration", 1)).startsWith("00001", "00002");
		assertThat(keys(null, null, "last", 1)).hasSize(10);
		assertThat(keys(null, null, "next", 1)).startsWith("00020");
		assertThat(keys("MANY/00042", null, null, 1)).containsExactly("00042");
		assertThat(keys("jobs.run77", null, "key", 1)).startsWith("00077", "00770");
		assertThat(keys(null, "failing", null, 1)).containsExactly("00017");
		assertThat(keys(null, "overdue", null, 1)).containsExactly("00018");
		assertThat(keys(null, "paused", null, 1)).containsExactly("00019");
		assertThat(keys(null, "problem", null, 1)).containsExactly("00017", "00018", "00019");
		assertThat(all("0001", null, null, 1).matching()).isEqualTo(11);
		assertThatIllegalArgumentException().isThrownBy(() -> keys(null, null, "colour", 1))
			.withMessageContaining("colour");
	}

	@Test
	void jobOfOthersIsDescribedFromTheLedger() {
		JobDetailsDescriptor details = source.getJob("many", "00017", true).orElseThrow();
		JobDescriptor job = details.job();
		assertThat(job.state()).isEqualTo("failing");
		assertThat(job.statistics())
			.isEqualTo(new RunStatistics(60, 56, 3, Duration.ofSeconds(29), Duration.ofSeconds(55)));
		assertThat(details.runs()).hasSize(60);
		assertThat(details.runs().get(0).traceId()).isEqualTo("4bf92f");
		assertThat(details.runs().get(0).stackTrace()).isEqualTo("at here");
		assertThat(job.method()).isEqualTo("com.example.Jobs.run17");
		assertThat(job.schedules()).hasSize(1);
		assertThat(job.next()).isNotNull();
		assertThat(job.nextHere()).isNull();
		assertThat(source.getJob("many", "00017", false).orElseThrow().runs().get(0).stackTrace()).isNull();
	}

	private static AdvisoryLocksDescriptor all(String text, String state, String sort, int page) {
		return source.getLocks(null, text, state, sort, page, 10, false);
	}

	private static int statements(Runnable question) {
		return application.bean(CountingDataSource.class).statements(question);
	}

	private static List<String> keys(String text, String state, String sort, int page) {
		return all(text, state, sort, page).jobs().stream().map(JobDescriptor::key).toList();
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("report")
		void report() {
		}

		@Bean
		CountingDataSource dataSource() {
			return new CountingDataSource();
		}

	}

}
