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

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.List;

import io.github.advisorylock.ledger.AdvisoryLockLedger;

import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * Shows the last runs of the report, and its largest rows of the newest day. The home
 * page has buttons that let the next report fail, and run the last ten again.
 */
@RestController
class ReportController {

	/**
	 * There is one for each minute.
	 */
	private static final Duration LAST_TEN = Duration.ofMinutes(10);

	private final JdbcClient jdbc;

	private final AdvisoryLockLedger ledger;

	private final AsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("reports-again-");

	ReportController(JdbcClient jdbc, AdvisoryLockLedger ledger) {
		this.jdbc = jdbc;
		this.ledger = ledger;
	}

	@GetMapping("/reports")
	Report report() {
		return new Report(this.jdbc.sql("""
				SELECT instance, started_at, finished_at, report_rows FROM report_run ORDER BY id DESC LIMIT 10
				""").query(Run.class).list(), this.jdbc.sql("""
				SELECT day, customer, orders, amount FROM customer_day_report
				WHERE day = (SELECT max(day) FROM customer_day_report) ORDER BY amount DESC LIMIT 20
				""").query(Row.class).list());
	}

	@PostMapping(path = "/try/failure", headers = "X-Requested-With")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void failNext() {
		this.jdbc.sql("INSERT INTO report_failure DEFAULT VALUES").update();
	}

	@PostMapping(path = "/try/backfill", headers = "X-Requested-With")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void runAgain() {
		Instant now = Instant.now();
		this.executor
			.execute(() -> this.ledger.backfill("nightly-report", now.minus(LAST_TEN), now, true, "home page"));
	}

	/**
	 * The answer.
	 */
	record Report(List<Run> lastRuns, List<Row> newestDay) {

	}

	/**
	 * A run of the report.
	 */
	record Run(String instance, OffsetDateTime startedAt, OffsetDateTime finishedAt, int reportRows) {

	}

	/**
	 * A row of the report.
	 */
	record Row(LocalDate day, String customer, int orders, BigDecimal amount) {

	}

}
