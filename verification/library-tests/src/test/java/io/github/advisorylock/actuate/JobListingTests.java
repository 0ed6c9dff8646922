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

import java.util.List;
import java.util.Map;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the answers of the {@link AdvisoryLocksEndpoint} stay small, however many
 * keys there are.
 */
@Tag("slow")
class JobListingTests {

	private static OperatedApplication application;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class,
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage",
				"management.endpoint.advisorylocks.access=unrestricted");
		application.bean(Jobs.class).pay("17");
		application.bean(Jobs.class).pay("18");
		TestPostgres.execute("INSERT INTO operated_job (namespace, key, template, first_seen_at) "
				+ "SELECT 'shop', 'payment:' || n, 'payment:#{#id}', '2020-01-01' FROM generate_series(1000, 100999) n");
		TestPostgres.execute("INSERT INTO operated_job (namespace, key, template) "
				+ "SELECT 'billing', 'bill:' || n, 'bill:#{#id}' FROM generate_series(1, 20) n "
				+ "UNION ALL SELECT 'billing', 'bill:#{#id}', 'bill:#{#id}'");
		TestPostgres.execute("INSERT INTO operated_job (namespace, key) "
				+ "SELECT 'stranger', 'key-' || to_char(n, 'FM00000') FROM generate_series(1, 12000) n");
		TestPostgres.execute("UPDATE operated_job SET lock = '"
				+ PostgresAdvisoryLockTemplate.lockEntry(AdvisoryLockKey.of("stranger", "key-00001"))
				+ "' WHERE key = 'key-00001'");
		TestPostgres.execute("ANALYZE operated_job");
	}

	@AfterAll
	static void stop() {
		application.close();
		OperatedApplication.dropTables();
	}

	@Test
	void keysWithArgumentsAreListedUnderTheirTemplate() {
		EndpointAnswer answer = EndpointAnswer.all(application);
		assertThat(answer.body()).hasSizeLessThan(100_000);
		Map<String, Object> job = answer.job("payment:#{#id}");
		assertThat(job).doesNotContainKey("keys");
		EndpointAnswer one = EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/payment:%23%7B%23id%7D"));
		assertThat(one.<Object>read("$.job.keys")).asString().contains("count=1000", "payment:18", "payment:17");
		assertThat(one.<List<Object>>read("$.job.keys.latest[*]")).hasSize(5);
		assertThat(one.<String>read("$.job.keys.latest[0].outcome")).isEqualTo("EXECUTED");
		assertThat(EndpointAnswer.job(application, "bill:#{#id}")).extractingByKey("keys")
			.asString()
			.contains("count=20");
		assertThat(answer.jobs("payment:1000")).isEmpty();
	}

	@Test
	void oneKeyOfManyIsAskedForByItsNameOrId() {
		EndpointAnswer job = EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/payment:17"));
		assertThat(job.<String>read("$.job.key")).isEqualTo("payment:17");
		assertThat(job.<List<Object>>read("$.runs")).hasSize(1);
		assertThat(job.body()).hasSizeLessThan(5_000);
		assertThat(application.get(EndpointAnswer.ALL + "/" + new JobId("shop", "payment:17").text()).statusCode())
			.isEqualTo(200);
		assertThat(application.get(EndpointAnswer.ALL + "/key-11999?namespace=stranger").statusCode()).isEqualTo(200);
	}

	@Test
	void keyThatIsPausedIsListedOnItsOwnUntilItIsResumed() {
		assertThat(application.setState("payment:5000", "paused").statusCode()).isEqualTo(200);
		EndpointAnswer paused = EndpointAnswer.of(application.get(EndpointAnswer.ALL + "?state=paused"));
		assertThat(paused.<List<String>>read("$.jobs[*].key")).containsExactly("payment:5000");
		assertThat(paused.<List<Integer>>read("$.problems[?(@.problem == 'PAUSED')].count")).containsExactly(1);
		assertThat(application.setState("payment:5000", "resumed").statusCode()).isEqualTo(200);
		assertThat(EndpointAnswer.of(application.get(EndpointAnswer.ALL + "?state=paused"))
			.<List<String>>read("$.jobs[*].key")).isEmpty();
	}

	@Test
	void jobsAreListedByPages() {
		EndpointAnswer first = EndpointAnswer.of(application.get(EndpointAnswer.ALL + "?size=10&page=1"));
		assertThat(first.<List<String>>read("$.jobs[*].key")).hasSize(10)
			.contains("report", "payment:#{#id}", "bill:#{#id}", "key-00007")
			.doesNotContain("key-00008");
		assertThat(first.<Integer>read("$.matching")).isEqualTo(12_003);
		assertThat(EndpointAnswer.of(application.get(EndpointAnswer.ALL + "?size=10&page=2"))
			.<List<String>>read("$.jobs[*].key")).hasSize(10).startsWith("key-00008");
		assertThat(EndpointAnswer.of(application.get(EndpointAnswer.ALL + "?q=KEY-00042"))
			.<List<String>>read("$.jobs[*].key")).containsExactly("key-00042");
		assertThat(EndpointAnswer.of(application.get(EndpointAnswer.ALL + "?q=Jobs.report"))
			.<List<String>>read("$.jobs[*].key")).containsExactly("report");
	}

	@ParameterizedTest
	@ValueSource(strings = { "page=0", "page=-1", "size=0", "size=1001", "size=x", "page=99999999999", "state=gone",
			"page=1000001" })
	void pageThatThereCannotBeIsRefused(String query) {
		assertThat(application.get(EndpointAnswer.ALL + "?" + query).statusCode()).isEqualTo(400);
	}

	@Test
	void locksOfStrangersDoNotFillAnswersNorHideThoseOfJobs() throws Exception {
		try (java.sql.Connection stranger = TestPostgres.open();
				java.sql.Statement statement = stranger.createStatement()) {
			statement.execute("SELECT count(pg_advisory_lock(n)) FROM generate_series(1, 1000) n");
			statement.execute("SELECT pg_advisory_lock(" + AdvisoryLockKey.of("stranger", "key-00001").value() + ")");
			EndpointAnswer answer = EndpointAnswer.all(application);
			assertThat(answer.body()).hasSizeLessThan(60_000);
			assertThat(answer.job("key-00001")).containsEntry("state", "running");
			assertThat(EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/key-00001?namespace=stranger"))
				.<String>read("$.job.state")).isEqualTo("running");
		}
		// The server notices later that its client has gone, and other tests count what
		// there is
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("report")
		void report() {
		}

		@SingleRunner(key = "payment:#{#id}", minInterval = "1ms")
		void pay(String id) {
		}

	}

}
