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

package io.github.advisorylock.sample.report;

import java.util.List;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.sample.HttpCalls;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.SampleTest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link NightlyReport}.
 */
@SampleTest
class NightlyReportTests {

	@Autowired
	private AdvisoryLockLedger ledger;

	@Autowired
	private Instance instance;

	@Autowired
	private JdbcClient jdbc;

	@Test
	void reportAddsUpTheOrdersAndIsShown() {
		runReport();
		assertThat(numbers("SELECT sum(orders) FROM customer_day_report")).containsExactly(3000);
		assertThat(
				numbers("""
						SELECT count(*) FROM (SELECT ordered_on, customer, count(*), sum(amount) FROM customer_order GROUP BY 1, 2
						EXCEPT SELECT day, customer, orders, amount FROM customer_day_report) AS missing
						"""))
			.containsExactly(0);
		assertThat(new HttpCalls(this.instance.port()).get("/reports").body()).contains(this.instance.name(),
				"customer-");
	}

	@Test
	void reportAndItsMessagesAreOneTransactionAndItsFailureIsRecorded() {
		List<Integer> before = numbers("SELECT count(*) FROM outbox");
		this.jdbc.sql("ALTER TABLE outbox ADD CONSTRAINT seeded CHECK (id < 0) NOT VALID").update();
		try {
			this.jdbc.sql("DELETE FROM customer_day_report").update();
			assertThatExceptionOfType(DataIntegrityViolationException.class).isThrownBy(this::runReport)
				.havingRootCause()
				.withMessageContaining("seeded");
			assertThat(numbers("SELECT count(*) FROM customer_day_report")).containsExactly(0);
			assertThat(this.ledger.runs("nightly-report", 1)).extracting(LedgerRun::outcome)
				.containsExactly(LedgerRun.Outcome.FAILED);
		}
		finally {
			this.jdbc.sql("ALTER TABLE outbox DROP CONSTRAINT seeded").update();
		}
		runReport();
		assertThat(numbers("SELECT count(*) FROM outbox")).containsExactly(before.get(0) + 20);
	}

	private void runReport() {
		assertThat(this.ledger.runNow("nightly-report", "test")).isEqualTo(LockOutcome.EXECUTED);
	}

	private List<Integer> numbers(String sql) {
		return this.jdbc.sql(sql).query(Integer.class).list();
	}

}
