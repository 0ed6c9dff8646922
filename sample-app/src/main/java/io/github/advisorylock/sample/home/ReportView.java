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

package io.github.advisorylock.sample.home;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;

import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.ledger.LedgerRun;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Asks the ledger about the report, for the page.
 */
@Component
class ReportView {

	private static final String KEY = "nightly-report";

	private static final int MOST_SHOWN = 6;

	private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss").withZone(ZoneOffset.UTC);

	private final AdvisoryLockLedger ledger;

	private final JdbcClient jdbc;

	ReportView(AdvisoryLockLedger ledger, JdbcClient jdbc) {
		this.ledger = ledger;
		this.jdbc = jdbc;
	}

	/**
	 * Return the last attempts at a report, one that goes on among them.
	 */
	List<Run> runs() {
		return this.ledger.runs(KEY, MOST_SHOWN).stream().map(Run::of).toList();
	}

	/**
	 * Return when the next report is planned, {@code null} if none is.
	 */
	@Nullable String next() {
		return this.ledger.job(KEY).map(LedgerJob::nextAt).map(TIME::format).orElse(null);
	}

	/**
	 * Return the tick that waits for its next attempt, {@code null} if none does.
	 */
	@Nullable Retry retry() {
		LedgerJob job = this.ledger.job(KEY).orElse(null);
		return (job != null && job.openTick() != null && job.retryAt() != null)
				? new Retry(TIME.format(job.openTick()), job.attempts() + 1, TIME.format(job.retryAt())) : null;
	}

	boolean willFail() {
		return this.jdbc.sql("SELECT EXISTS (SELECT FROM report_failure)").query(boolean.class).single();
	}

	/**
	 * A run: for which tick, which attempt at it, who, when, and how it ended. One that
	 * is on has no outcome.
	 */
	record Run(String tick, int attempt, String instance, @Nullable Long tookMs, String outcome,
			@Nullable String error) {

		private static Run of(LedgerRun run) {
			Long took = (run.finishedAt() != null) ? Duration.between(run.startedAt(), run.finishedAt()).toMillis()
					: null;
			Instant tick = run.tick();
			return new Run((tick != null) ? TIME.format(tick) : "by hand", run.attempt(), run.instance(), took,
					(run.outcome() != null) ? run.outcome().name() : "RUNNING", run.error());
		}

	}

	/**
	 * The next attempt at a tick, and when it may come.
	 */
	record Retry(String tick, int attempt, String at) {

	}

}
