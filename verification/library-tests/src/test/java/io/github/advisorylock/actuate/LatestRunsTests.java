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

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for the latest runs of all jobs, on two instances, and what comes next.
 */
@Tag("gate")
class LatestRunsTests {

	private static final String[] PROPERTIES = { "management.endpoints.web.exposure.include=advisorylocks",
			"management.endpoint.advisorylocks.access=unrestricted", "advisory-lock.jobs.paused.paused=true" };

	private static OperatedApplication first;

	private static OperatedApplication second;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		first = OperatedApplication.start(Jobs.class, with("advisory-lock.instance=shop-1"));
		second = OperatedApplication.start(Jobs.class, with("advisory-lock.instance=shop-2"));
		first.bean(Jobs.class).report();
		second.bean(Jobs.class).export();
		assertThatIllegalStateException().isThrownBy(first.bean(Jobs.class)::fail).withMessage("expected");
		second.bean(Jobs.class).report();
		TestPostgres.execute("INSERT INTO operated_run (namespace, key, scope, instance, fencing_token, started_at) "
				+ "VALUES ('bank', 'report', 'SESSION', 'shop-1', 1, now()), "
				+ "('shop', 'export', 'SESSION', 'shop-1', 2, '2026-03-01 12:00Z')");
	}

	private static String[] with(String property) {
		String[] properties = Arrays.copyOf(PROPERTIES, PROPERTIES.length + 1);
		properties[PROPERTIES.length] = property;
		return properties;
	}

	@AfterAll
	static void stop() {
		first.close();
		second.close();
	}

	private static EndpointAnswer ask(String query) {
		return EndpointAnswer.of(first.get(EndpointAnswer.ALL + "?" + query));
	}

	@Test
	void runsOfAllJobsAndInstancesOfTheNamespaceComeLatestFirst() {
		EndpointAnswer answer = ask("runs=50");
		assertThat(answer.status()).as(answer.body()).isEqualTo(200);
		assertThat(answer.<List<String>>read("$.runs[*].key")).containsExactly("report", "fail", "export", "report",
				"export");
		assertThat(answer.<List<String>>read("$.runs[*].instance")).containsExactly("shop-2", "shop-1", "shop-2",
				"shop-1", "shop-1");
		assertThat(answer.<List<String>>read("$.runs[*].outcome")).containsExactly("EXECUTED", "FAILED", "EXECUTED",
				"EXECUTED");
		assertThat(answer.<Map<String, Object>>read("$.runs[1]"))
			.containsEntry("error", IllegalStateException.class.getName())
			.containsKeys("startedAt", "finishedAt", "duration", "fencingToken")
			.doesNotContainKeys("stackTrace", "hangStack");
		assertThat(answer.<Map<String, Object>>read("$.runs[4]")).doesNotContainKeys("finishedAt", "outcome");
		assertThat(answer.<Boolean>read("$.ledger")).isTrue();
		assertThat(answer.<String>read("$.instance")).isEqualTo("shop-1");
		assertThat(ask("runs=2").<List<Object>>read("$.runs")).hasSize(2);
	}

	@ParameterizedTest
	@CsvSource({ "outcome=FAILED, 1", "outcome=EXECUTED, 3", "outcome=CANCELLED, 0", "instance=shop-2, 2",
			"instance=nobody, 0", "instance=%ED%95%9C, 0", "instance=shop-2&outcome=EXECUTED, 2",
			"instance=shop-2&outcome=FAILED, 0", "to=2026-03-01T13:00:00Z, 1",
			"from=2026-03-01T12:00:00Z&to=2026-03-01T12:00:00.001Z, 1",
			"from=2026-03-01T13:00:00%2B01:00&to=2026-03-01T12:30:00Z, 1", "to=2026-03-01T12:00:00Z, 0",
			"from=2026-03-01T12:00:01Z, 4" })
	void runsAreThoseThatAreAskedFor(String query, int expected) {
		EndpointAnswer answer = ask("runs=1000&" + query);
		assertThat(answer.status()).as(answer.body()).isEqualTo(200);
		assertThat(answer.<List<Object>>read("$.runs")).hasSize(expected);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', value = { "runs=0 | 'runs' must be from 1 to 1000",
			"runs=1001 | 'runs' must be from 1 to 1000",
			"runs=5&outcome=failed | Unknown outcome 'failed': choose one of [EXECUTED, FAILED, ABANDONED, CANCELLED]",
			"outcome=FAILED | 'outcome', 'instance', 'from' and 'to' need 'runs'", "instance=shop-1 | need 'runs'",
			"runs=5&instance=a%00b | none of them NUL", "runs=5&state=running | without 'runs'",
			"runs=5&q=report | without 'runs'",
			"runs=5&from=yesterday | 'from' must be a time such as '2026-03-01T02:00:00Z', not 'yesterday'",
			"runs=5&to=2026-03-01 | 'to' must be a time such as",
			"runs=5&from=%2B300000-01-01T00:00:00Z | 'from' must be a time such as",
			"runs=5&to=%2B999999999-12-31T23:59:59Z | 'to' must be a time such as",
			"runs=5&from=-999999999-01-01T00:00:00Z | 'from' must be a time such as",
			"runs=5&from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z | 'from' must be before 'to'" })
	void whatCanNotBeAskedForIsRefusedWithTheReason(String query, String reason) {
		EndpointAnswer answer = ask(query);
		assertThat(answer.status()).isEqualTo(400);
		assertThat(answer.<String>read("$.error")).contains(reason);
	}

	@Test
	void forecastHasTheNextTimesOfAllJobsAndWhereManyFallTogether() {
		EndpointAnswer answer = ask("runs=1");
		List<String> next = answer.read("$.forecast.next[*].time");
		assertThat(next).hasSize(10)
			.isSorted()
			.allSatisfy((time) -> assertThat(Instant.parse(time)).isAfter(Instant.parse(answer.read("$.time"))));
		assertThat(answer.<List<List<String>>>read("$.forecast.next[*].keys")).hasSize(10)
			.allSatisfy((keys) -> assertThat(keys).hasSizeBetween(1, 5).doesNotContain("paused", "often", "export"));
		assertThat(answer.<Integer>read("$.forecast.together[0].count")).isEqualTo(3);
		assertThat(answer.<List<String>>read("$.forecast.together[0].keys")).containsExactly("fail", "hourly",
				"report");
		assertThat(answer.<String>read("$.forecast.together[0].time")).endsWith("T02:00:00Z");
		assertThat(answer.<Integer>read("$.forecast.often")).isOne();
	}

	/**
	 * The schedule of an operator holds from a time on.
	 */
	@Test
	void forecastFollowsAnotherSchedule() {
		TestPostgres
			.execute("INSERT INTO operated_schedule (namespace, key, expression, zone, effective_at, changed_at, "
					+ "changed_by) VALUES ('shop', 'fail', '0 30 4 * * *', 'UTC', now(), now(), 'anna')");
		try {
			List<String> keys = ask("runs=1").read("$.forecast.together[0].keys");
			assertThat(keys).containsExactly("hourly", "report");
			assertThat(ask("runs=1").<List<String>>read("$.forecast.next[?('fail' in @.keys)].time")).isNotEmpty()
				.allSatisfy((time) -> assertThat(time).endsWith("T04:30:00Z"));
		}
		finally {
			TestPostgres.execute("DELETE FROM operated_schedule");
		}
	}

	/**
	 * A method may have several schedules, and one may be never called again.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void forecastHasAllSchedulesOfAJob(boolean ledger) {
		try (OperatedApplication alone = OperatedApplication.start(Both.class, PROPERTIES[0],
				"advisory-lock.namespace=both", "advisory-lock.ledger.enabled=" + ledger)) {
			alone.bean(Both.class).once();
			EndpointAnswer answer = EndpointAnswer.of(alone.get(EndpointAnswer.ALL + "?runs=1"));
			assertThat(answer.status()).as(answer.body()).isEqualTo(200);
			assertThat(answer.<List<String>>read("$.runs[*].key")).hasSize(ledger ? 1 : 0).allMatch("once"::equals);
			List<Instant> times = answer.<List<String>>read("$.forecast.next[?('both' in @.keys)].time")
				.stream()
				.map(Instant::parse)
				.toList();
			assertThat(times).as(answer.body()).hasSize(9);
			List<Instant> calls = times.stream().filter((time) -> time.getEpochSecond() % 600 != 0).toList();
			assertThat(calls).hasSizeBetween(2, 3);
			assertThat(Duration.between(calls.get(0), calls.get(1))).isEqualTo(Duration.ofMillis(1_501_000));
		}
		finally {
			TestPostgres.execute("DELETE FROM operated_job WHERE namespace = 'both'");
		}
	}

	@Test
	void forecastHasTimersOfOneIntervalEachAtItsOwnTimes() {
		try (OperatedApplication alone = OperatedApplication.start(Alike.class, PROPERTIES[0],
				"advisory-lock.namespace=alike", "advisory-lock.ledger.enabled=false")) {
			EndpointAnswer answer = EndpointAnswer.of(alone.get(EndpointAnswer.ALL + "?runs=1"));
			assertThat(answer.<List<List<String>>>read("$.forecast.next[*].keys")).startsWith(List.of("early"),
					List.of("late"), List.of("early"), List.of("late"));
			assertThat(answer.<List<Object>>read("$.forecast.together")).isEmpty();
		}
	}

	@Test
	void withoutTheLedgerThereAreNoRunsButAForecast() {
		try (OperatedApplication alone = OperatedApplication.start(Jobs.class, PROPERTIES[0],
				"advisory-lock.ledger.enabled=false")) {
			EndpointAnswer answer = EndpointAnswer.of(alone.get(EndpointAnswer.ALL + "?runs=50"));
			assertThat(answer.<Boolean>read("$.ledger")).isFalse();
			assertThat(answer.<List<Object>>read("$.runs")).isEmpty();
			assertThat(answer.<Integer>read("$.forecast.together[0].count")).isEqualTo(4);
		}
	}

	static class Both {

		@Scheduled(cron = "0 */10 * * * *")
		@Scheduled(initialDelay = 1_501_000, fixedDelay = 1_501_000)
		@SingleRunner("both")
		void both() {
		}

		@Scheduled(initialDelay = 3_600_000, fixedDelay = Long.MAX_VALUE)
		@SingleRunner("once")
		void once() {
		}

	}

	static class Alike {

		@Scheduled(initialDelay = 1_000_000, fixedDelay = 3_600_000)
		@SingleRunner("early")
		void early() {
		}

		@Scheduled(initialDelay = 2_000_000, fixedDelay = 3_600_000)
		@SingleRunner("late")
		void late() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Jobs {

		@Scheduled(cron = "0 0 2 * * *", zone = "UTC")
		@SingleRunner("report")
		void report() {
		}

		@Scheduled(cron = "0 0 2 * * *", zone = "UTC")
		@SingleRunner(key = "fail", scope = LockScope.SESSION)
		void fail() {
			throw new IllegalStateException("expected");
		}

		@Scheduled(cron = "0 0 2-4 * * *", zone = "UTC")
		@SingleRunner("hourly")
		void hourly() {
		}

		@Scheduled(cron = "0 0 2 * * *", zone = "UTC")
		@SingleRunner("paused")
		void paused() {
		}

		@Scheduled(cron = "*/30 * * 31 12 *", zone = "UTC")
		@SingleRunner("often")
		void often() {
		}

		@SingleRunner(key = "export", scope = LockScope.SESSION)
		void export() {
		}

	}

}
