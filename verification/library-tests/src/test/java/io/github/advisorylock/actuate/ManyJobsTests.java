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
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.OverviewDescriptor.JobsDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemGroup;
import io.github.advisorylock.actuate.OverviewDescriptor.RunsDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.TicksDescriptor;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
				+ "first_seen_at, last_tick, last_started_at, last_finished_at, last_outcome, fencing_token) "
				+ "SELECT 'many', to_char(n, 'FM00000'), 'com.example.Jobs.run' || n, 'SESSION', " + cron
				+ ", 'PER_TICK', '7:' || n || ':1', '2020-01-01', date_trunc('day', now() - interval '3 hours', 'UTC') + interval '3 hours', "
				+ "now() - n * interval '1 second', now() - n * interval '1 second' + n * interval '1 millisecond', "
				+ "'EXECUTED', 60 FROM generate_series(1, " + JOBS + ") n");
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
		TestPostgres.execute("UPDATE operated_job SET last_tick = '2020-01-02' WHERE key = '00018'");
		TestPostgres
			.execute("INSERT INTO operated_pause SELECT namespace, key, now(), 'ann', 'broken' FROM operated_job "
					+ "WHERE key = '00019'");
		TestPostgres.execute("UPDATE operated_job SET last_tick = NULL, schedules = "
				+ "'[{\"type\":\"fixedRate\",\"interval\":\"PT1M\"}]', once = 'NONE', last_started_at = now() WHERE key = '00020'");
		TestPostgres.execute("INSERT INTO operated_instance (namespace, instance, seen_at, stopped_at, clock_skew_ms) "
				+ "SELECT 'shop', 'host:' || n, now() - CASE WHEN n = 49 THEN interval '1 hour' ELSE interval '0' END, "
				+ "CASE WHEN n = 48 THEN now() END, CASE WHEN n = 47 THEN -7000 ELSE 3 END FROM generate_series(0, 49) n");
		TestPostgres.execute("ANALYZE operated_job; ANALYZE operated_run");
	}

	@AfterAll
	static void stop() {
		application.close();
		OperatedApplication.dropTables();
	}

	@Test
	void overviewTakesFourStatementsAndIsSmall() {
		// housekeeping may come in between once
		assertThat(IntStream.range(0, 3).map((time) -> statements(() -> source.getOverview(false))).min()).hasValue(4);
		OverviewDescriptor overview = source.getOverview(false);
		assertThat(overview.toString()).hasSizeLessThan(50_000);
		assertThat(overview.jobCount()).isEqualTo(JOBS + 1);
		assertThat(overview.states()).containsEntry("failing", 1)
			.containsEntry("overdue", 1)
			.containsEntry("paused", 1)
			.containsEntry("waiting", 0)
			.containsEntry("idle", JOBS - 2);
		assertThat(overview.instanceStates()).containsEntry("alive", 48)
			.containsEntry("stopped", 1)
			.containsEntry("vanished", 1);
		assertThat(overview.instances()).hasSize(50).last().extracting(InstanceDescriptor::state).isEqualTo("vanished");
	}

	/**
	 * A view asks as often however many jobs there are.
	 */
	@ParameterizedTest
	@CsvSource({ "overview, 4", "jobs, 5", "timeline, 7", "instances, 3", "leaders, 3", "locks, 3",
			"job&key=many/00017, 8", "job&key=report, 6" })
	void eachViewTakesFewStatementsAndIsSmall(String view, int most) {
		String path = "actuator/advisorylockspage?view=" + view;
		// housekeeping may come in between once
		assertThat(IntStream.range(0, 3).map((time) -> statements(() -> application.get(path))).min()).hasValue(most);
		assertThat(application.get(path)).satisfies((answer) -> {
			assertThat(answer.statusCode()).isEqualTo(200);
			assertThat(answer.body()).hasSizeLessThan(List.of("jobs", "timeline").contains(view) ? 500_000 : 100_000);
		});
	}

	@Test
	void problemsAreToldByWeightWithWhatThereIsToSay() {
		List<ProblemGroup> problems = source.getOverview(true).problems();
		assertThat(problems).extracting(ProblemGroup::problem)
			.containsExactly(Problem.FAILED, Problem.OVERDUE, Problem.INSTANCE_VANISHED, Problem.CLOCK_SKEW,
					Problem.PAUSED);
		assertThat(problems.get(0).latest().get(0)).satisfies((failed) -> {
			assertThat(failed.name()).isEqualTo("00017");
			assertThat(failed.failures()).isEqualTo(3);
			assertThat(failed.instance()).isEqualTo("host:10");
			assertThat(failed.detail()).contains("no");
			assertThat(failed.since()).isNotNull();
		});
		assertThat(problems.get(2).latest().get(0).name()).isEqualTo("host:49");
		assertThat(problems.get(3).latest().get(0).detail()).isEqualTo("PT-7S");
		assertThat(problems.get(4).latest().get(0).detail()).isEqualTo("by ann: broken");
		assertThat(source.getOverview(false).problems().get(0).latest().get(0).detail())
			.isEqualTo("java.io.IOException");
	}

	@Test
	void jobThatRunsIsToldWhoeverRunsIt() throws Exception {
		try (Connection connection = TestPostgres.open(); Statement statement = connection.createStatement()) {
			AdvisoryLockKey key = AdvisoryLockKey.of("many", "00021");
			TestPostgres.execute("UPDATE operated_job SET lock = '" + PostgresAdvisoryLockTemplate.lockEntry(key)
					+ "' WHERE key = '00021'");
			statement.execute("SET application_name = 'al:many@host:3'");
			statement.execute("SELECT pg_advisory_lock(" + key.value() + ")");
			OverviewDescriptor overview = source.getOverview(false);
			assertThat(overview.runningCount()).isOne();
			assertThat(overview.running().get(0).key()).isEqualTo("00021");
			assertThat(overview.running().get(0).instance()).isEqualTo("host:3");
			JobsDescriptor running = source.getJobs(null, "running", null, null, null, false);
			assertThat(running.jobs()).extracting(JobDescriptor::key).containsExactly("00021");
			assertThat(running.jobs().get(0).state()).isEqualTo("running");
			assertThat(running.jobs().get(0).instance()).isEqualTo("host:3");
		}
	}

	@Test
	void jobWhoseLockNobodyToldIsFoundWhileItRuns() throws Exception {
		TestPostgres.execute("INSERT INTO operated_job (namespace, key) VALUES ('old', 'untold'), ('old', 'awaited')");
		AdvisoryLockKey untold = AdvisoryLockKey.of("old", "untold");
		try (Connection connection = TestPostgres.open(); Statement statement = connection.createStatement()) {
			statement.execute("SET application_name = 'al:old@host:4'");
			statement.execute("SELECT pg_advisory_lock(" + untold.value() + ")");
			assertThat(keys(null, "running", null, 1)).containsExactly("untold");
			assertThat(source.getLocks(null, "running", 1, 10, false).jobs()).extracting(JobDescriptor::key)
				.containsExactly("untold");
			assertThat(source.getOverview(false).running()).extracting(OverviewDescriptor.RunningDescriptor::key)
				.containsExactly("untold");
			assertThat(keys("untold", "idle", null, 1)).isEmpty();
		}
		finally {
			TestPostgres.execute("DELETE FROM operated_job WHERE namespace = 'old'");
		}
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
	}

	@Test
	void endpointFindsWhatThePageFinds() {
		for (String state : AdvisoryLocksSource.STATES) {
			AdvisoryLocksDescriptor all = source.getLocks("many/0001", state, 1, 20, false);
			JobsDescriptor jobs = source.getJobs("many/0001", state, null, 1, 20, false);
			assertThat(all.jobs()).extracting(JobDescriptor::key)
				.as(state)
				.isEqualTo(jobs.jobs().stream().map(JobDescriptor::key).toList());
			assertThat(all.matching()).as(state).isEqualTo(jobs.matching());
			assertThat(all.jobs()).as(state)
				.noneMatch((job) -> !state.equals("all") && !state.equals(job.state())
						&& !(state.equals("problem") && !job.problems().isEmpty()));
		}
		assertThat(source.getLocks(null, "overdue", 1, 20, false).jobs()).extracting(JobDescriptor::key)
			.containsExactly("00018");
	}

	@Test
	void jobsAreFilteredSortedAndPagedInTheDatabase() {
		assertThat(keys(null, null, "key", 2)).startsWith("00011").hasSize(10);
		assertThat(keys(null, null, "duration", 1)).startsWith("10000", "09999");
		assertThat(keys(null, null, "last", 1)).startsWith("00020", "00001");
		assertThat(keys(null, null, "failures", 1)).startsWith("00017");
		assertThat(keys(null, null, "next", 1)).startsWith("00020");
		assertThat(keys("MANY/00042", null, null, 1)).containsExactly("00042");
		assertThat(keys("jobs.run77", null, "key", 1)).startsWith("00077", "00770");
		assertThat(keys(null, "failing", null, 1)).containsExactly("00017");
		assertThat(keys(null, "overdue", null, 1)).containsExactly("00018");
		assertThat(keys(null, "paused", null, 1)).containsExactly("00019");
		assertThat(keys(null, "problem", null, 1)).containsExactly("00017", "00018", "00019");
		JobsDescriptor page = source.getJobs("0001", null, null, 1, 5, false);
		assertThat(page.jobCount()).isEqualTo(JOBS + 1);
		assertThat(page.matching()).isEqualTo(11);
		assertThatIllegalArgumentException().isThrownBy(() -> keys(null, null, "colour", 1))
			.withMessageContaining("colour");
	}

	@Test
	void jobOfOthersIsDescribedFromTheLedger() {
		JobDescriptor job = source.getJobs("many/00017", null, null, null, null, true).jobs().get(0);
		assertThat(job.state()).isEqualTo("failing");
		assertThat(job.failures()).isEqualTo(3);
		assertThat(job.success()).isEqualTo(56 / 60.0);
		assertThat(job.median()).hasSeconds(29);
		assertThat(job.p95()).hasSeconds(55);
		assertThat(job.durations()).hasSize(60).startsWith(1000L, 2000L);
		assertThat(job.target()).isEqualTo("com.example.Jobs.run17");
		assertThat(job.schedules()).hasSize(1);
		assertThat(job.next()).isNotNull();
		assertThat(job.nextHere()).isNull();
	}

	@Test
	void runsAreFilteredSortedAndPagedWithTheirStackTraces() {
		RunsDescriptor failed = source.getRuns("many/00017", null, "FAILED", null, null, null, true).orElseThrow();
		assertThat(failed.matching()).isEqualTo(4);
		assertThat(failed.runs().get(0).fencingToken()).isEqualTo(60);
		assertThat(failed.runs().get(0).traceId()).isEqualTo("4bf92f");
		assertThat(failed.runs().get(0).stackTrace()).isEqualTo("at here");
		assertThat(source.getRuns("many/00017", null, "FAILED", null, null, null, false)
			.orElseThrow()
			.runs()
			.get(0)
			.stackTrace()).isNull();
		RunsDescriptor longest = source.getRuns("many/00016", null, null, "duration", 2, 5, true).orElseThrow();
		assertThat(longest.matching()).isEqualTo(60);
		assertThat(longest.runs()).hasSize(5).first().extracting((run) -> run.duration().toSeconds()).isEqualTo(55L);
		assertThat(source.getRuns("nobody", null, null, null, null, null, true)).isEmpty();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> source.getRuns("many/00016", null, "GOOD", null, null, null, true))
			.withMessage("'outcome' must be one of [all, EXECUTED, FAILED, ABANDONED, RUNNING]");
	}

	@Test
	void ticksThatNobodyRanAreMissed() {
		TestPostgres
			.execute("INSERT INTO operated_run (namespace, key, tick, scope, instance, fencing_token, started_at, "
					+ "finished_at, outcome) SELECT 'many', '00022', date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' "
					+ "- d * interval '1 day' + interval '3 hours', 'SESSION', 'host:1', 100 - d, now(), now(), 'EXECUTED' "
					+ "FROM unnest(ARRAY[1, 2, 4, 5]) d");
		TicksDescriptor ticks = source.getTicks("many/00022", null).orElseThrow();
		assertThat(ticks.next()).hasSize(5).isSorted();
		assertThat(ticks.missed()).isNotEmpty();
		assertThat(ticks.missed().get(ticks.missed().size() - 1)).isEqualTo(ticks.since().plus(Duration.ofDays(2)));
		assertThat(ticks.expected()).isBetween(5, 6);
	}

	private static int statements(Runnable question) {
		return application.bean(CountingDataSource.class).statements(question);
	}

	private static List<String> keys(String text, String state, String sort, int page) {
		return source.getJobs(text, state, sort, page, 10, false).jobs().stream().map(JobDescriptor::key).toList();
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
