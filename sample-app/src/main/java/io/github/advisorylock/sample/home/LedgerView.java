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
import java.time.temporal.ChronoUnit;
import java.util.List;

import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.LedgerRun;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/**
 * Reads the last runs of the report from the ledger, as the page shows them.
 */
@Component
class LedgerView {

	private final AdvisoryLockLedger ledger;

	LedgerView(AdvisoryLockLedger ledger) {
		this.ledger = ledger;
	}

	List<Run> lastReports() {
		return this.ledger.runs("nightly-report", 5).stream().map(Run::of).toList();
	}

	/**
	 * A run: for which tick, who, when, and how it ended. One that is on has no outcome.
	 */
	record Run(String tick, String instance, Instant started, @Nullable Long tookMs, String outcome,
			@Nullable String error) {

		private static Run of(LedgerRun run) {
			Long took = (run.finishedAt() != null) ? Duration.between(run.startedAt(), run.finishedAt()).toMillis()
					: null;
			return new Run((run.tick() != null) ? run.tick().toString() : "by hand", run.instance(),
					run.startedAt().truncatedTo(ChronoUnit.MILLIS), took,
					(run.outcome() != null) ? run.outcome().name() : "running", run.error());
		}

	}

}
