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

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLocksSource}.
 */
class AdvisoryLocksSourceTests {

	@Test
	void listTakesSixStatementsHoweverManyJobsThereAre() {
		OperatedApplication.dropTables();
		try (OperatedApplication application = OperatedApplication.start(Jobs.class,
				"advisory-lock.ledger.instances=false", "management.endpoints.web.exposure.include=advisorylocks")) {
			TestPostgres.execute("INSERT INTO operated_job (namespace, key) SELECT 'shop', 'job-' || number "
					+ "FROM generate_series(1, 50) number");
			assertThat(statements(application, EndpointAnswer.ALL)).isEqualTo(6);
			assertThat(statements(application, EndpointAnswer.ALL + "/job-7")).isEqualTo(4);
		}
	}

	@Test
	void listTakesTwoStatementsWhileLedgerIsNotInUse() {
		try (OperatedApplication application = OperatedApplication.start(Jobs.class,
				"advisory-lock.ledger.enabled=false", "management.endpoints.web.exposure.include=advisorylocks")) {
			assertThat(statements(application, EndpointAnswer.ALL)).isEqualTo(2);
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
