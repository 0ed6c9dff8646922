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

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLocksSource}.
 */
@Tag("gate")
class AdvisoryLocksSourceTests {

	@Test
	void listTakesFewStatementsHoweverManyJobsThereAre() {
		OperatedApplication.dropTables();
		try (OperatedApplication application = OperatedApplication.start(Jobs.class,
				"advisory-lock.ledger.instances=false", "management.endpoints.web.exposure.include=advisorylocks")) {
			TestPostgres.execute("INSERT INTO operated_job (namespace, key) SELECT 'shop', 'job-' || number "
					+ "FROM generate_series(1, 50) number");
			assertThat(statements(application, EndpointAnswer.ALL)).isEqualTo(2);
			assertThat(statements(application, EndpointAnswer.ALL + "/job-7")).isEqualTo(4);
		}
	}

	@Test
	void listOfAHundredJobsHasNoMoreThanFortyKilobytes() {
		OperatedApplication.dropTables();
		try (OperatedApplication application = OperatedApplication.start(Jobs.class,
				"advisory-lock.ledger.instances=false", "management.endpoints.web.exposure.include=advisorylocks")) {
			TestPostgres.execute("INSERT INTO operated_job (namespace, key, method, scope, schedules, first_seen_at, "
					+ "last_started_at, last_finished_at, last_outcome, fencing_token) SELECT 'shop', "
					+ "'nightly-report-' || n, 'com.example.shop.reports.NightlyReportJob.run' || n, 'TRANSACTION', "
					+ "'[{\"type\":\"cron\",\"expression\":\"0 0 3 * * *\",\"zone\":\"Europe/Berlin\"}]', now(), now(), now(), "
					+ "CASE WHEN n % 20 = 0 THEN 'FAILED' ELSE 'EXECUTED' END, 7 FROM generate_series(1, 99) n");
			TestPostgres
				.execute("INSERT INTO operated_run (namespace, key, scope, instance, fencing_token, started_at, "
						+ "finished_at, outcome, error_class, error) SELECT namespace, key, 'TRANSACTION', 'shop-6c9d7b-x2x1:1', 7, "
						+ "now(), now() + interval '1.234567 s', last_outcome, CASE WHEN last_outcome = 'FAILED' THEN "
						+ "'java.lang.IllegalStateException' END, CASE WHEN last_outcome = 'FAILED' THEN "
						+ "'java.lang.IllegalStateException: The mail server refused the connection' END FROM operated_job "
						+ "WHERE key LIKE 'nightly%'");
			EndpointAnswer all = EndpointAnswer.all(application);
			assertThat(all.<List<Object>>read("$.jobs")).hasSize(100);
			assertThat(all.body().getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(40_000);
		}
	}

	@Test
	void listTakesOneStatementWhileLedgerIsNotInUse() {
		try (OperatedApplication application = OperatedApplication.start(Jobs.class,
				"advisory-lock.ledger.enabled=false", "management.endpoints.web.exposure.include=advisorylocks")) {
			assertThat(statements(application, EndpointAnswer.ALL)).isOne();
		}
	}

	private static int statements(OperatedApplication application, String path) {
		return application.bean(CountingDataSource.class)
			.statements(() -> assertThat(application.get(path).statusCode()).isEqualTo(200));
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
