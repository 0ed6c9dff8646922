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

import java.time.Duration;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.List;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.Pace;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.util.Assert;

/**
 * Adds the orders up by customer and day, once for each tick of its schedule. The report,
 * the messages about it, the ledger's row and the lock are one transaction: after a crash
 * there is none of them, and any instance that lives makes up for the tick. A run that
 * fails is tried again, up to three times.
 */
@Component
class NightlyReport {

	private static final Log logger = LogFactory.getLog(NightlyReport.class);

	private static final int DAYS_PER_LOG_LINE = 45;

	private static final int BEST_CUSTOMERS = 20;

	private final JdbcClient jdbc;

	private final Instance instance;

	private final Pace pace;

	private final Duration pause;

	NightlyReport(JdbcClient jdbc, Instance instance, Pace pace,
			@Value("${sample.report.pause-per-day}") Duration pause) {
		this.jdbc = jdbc;
		this.instance = instance;
		this.pace = pace;
		this.pause = pause;
	}

	@Scheduled(cron = "${sample.report.cron}")
	@SingleRunner(key = "nightly-report", once = Once.PER_TICK, catchUp = "6h", maxRetries = 3)
	void create() {
		OffsetDateTime started = now();
		LockContext run = LockContext.current().orElseThrow();
		List<LocalDate> days = this.jdbc.sql("SELECT DISTINCT ordered_on FROM customer_order ORDER BY 1")
			.query(LocalDate.class)
			.list();
		for (int i = 0; i < days.size(); i++) {
			add(days.get(i));
			if (i == days.size() / 2 && run.tick().isPresent() && run.attempt() == 1) {
				failIfAsked();
			}
			if ((i + 1) % DAYS_PER_LOG_LINE == 0) {
				logger.info("Report on instance " + this.instance + ": " + (i + 1) + " of " + days.size() + " days");
			}
			this.pace.pause(this.pause);
		}
		finish(started);
		if (run.attempt() > 1) {
			// asked for before this attempt began, which is when now() stands still
			this.jdbc.sql("DELETE FROM report_failure WHERE asked_at < now()").update();
		}
	}

	/**
	 * Rows that are right already stay untouched.
	 */
	private void add(LocalDate day) {
		this.jdbc.sql("""
				INSERT INTO customer_day_report AS report (day, customer, orders, amount)
				SELECT ordered_on, customer, count(*), sum(amount) FROM customer_order
				WHERE ordered_on = :day GROUP BY ordered_on, customer
				ON CONFLICT (day, customer) DO UPDATE SET orders = excluded.orders, amount = excluded.amount
				WHERE (report.orders, report.amount) IS DISTINCT FROM (excluded.orders, excluded.amount)
				""").param("day", day).update();
	}

	/**
	 * The first attempt at a tick fails while anybody wants that, and leaves nothing
	 * behind; the one that then succeeds takes the wish away.
	 */
	private void failIfAsked() {
		boolean asked = this.jdbc.sql("SELECT EXISTS (SELECT FROM report_failure)").query(boolean.class).single();
		Assert.state(!asked, "The home page has asked this report to fail");
	}

	private void finish(OffsetDateTime started) {
		int rows = this.jdbc.sql("SELECT count(*) FROM customer_day_report").query(Integer.class).single();
		this.jdbc.sql("INSERT INTO report_run (instance, started_at, finished_at, report_rows) VALUES (?, ?, ?, ?)")
			.params(this.instance.name(), started, now(), rows)
			.update();
		this.jdbc.sql("""
				INSERT INTO outbox (topic, payload)
				SELECT 'statement-ready', customer FROM customer_day_report
				GROUP BY customer ORDER BY sum(amount) DESC LIMIT :best
				""").param("best", BEST_CUSTOMERS).update();
	}

	/**
	 * The database's clock, which is the same for all instances.
	 */
	private OffsetDateTime now() {
		return this.jdbc.sql("SELECT clock_timestamp()").query(OffsetDateTime.class).single();
	}

}
