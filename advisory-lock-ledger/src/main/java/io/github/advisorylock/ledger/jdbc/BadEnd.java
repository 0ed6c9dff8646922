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

package io.github.advisorylock.ledger.jdbc;

import java.util.function.BooleanSupplier;

import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.ledger.LedgerRun;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;

/**
 * What a bad end of a run means for its tick, where any instance makes up for that.
 */
final class BadEnd {

	private final int maxRetries;

	private final BooleanSupplier stopping;

	private boolean judged;

	/**
	 * Create the judge of one run.
	 * @param maxRetries how often a tick that failed is tried again
	 * @param stopping knows whether the application is being shut down
	 */
	BadEnd(int maxRetries, BooleanSupplier stopping) {
		this.maxRetries = maxRetries;
		this.stopping = stopping;
	}

	/**
	 * Judge the end, and write that down, the first time: a connection that went back to
	 * its pool tells nothing any more. A run that was told to end is not tried again. One
	 * that ends with its instance has not failed, and leaves the tick to others at once.
	 * One that ends with its lock is tried again as often as need be.
	 * @param hold the lock of the run
	 * @param lost whether the run says that it has lost it
	 * @param failedBefore how many attempts of the tick have failed before
	 * @param run the parameters of the statement that ends it
	 */
	void judge(Hold hold, boolean lost, int failedBefore, MapSqlParameterSource run) {
		if (this.judged) {
			return;
		}
		this.judged = true;
		if (hold.isRevoked()) {
			run.addValue("givenUp", true);
		}
		else if (this.stopping.getAsBoolean()) {
			run.addValue("badOutcome", LedgerRun.Outcome.ABANDONED.name());
		}
		else if (!lost && !hold.isGone()) {
			run.addValue("failedAttempts", failedBefore + 1).addValue("givenUp", failedBefore >= this.maxRetries);
		}
	}

}
