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
package io.github.advisorylock.benchmarks;

/**
 * A line of the report: a call, what it is compared with, and what it may cost on a wire
 * of a millisecond. Plain JDBC waits for the server as often as the call beside it.
 */
enum CostLine {

	PLAIN("plain JDBC: lock, commit", CostCall.PLAIN, CostCall.PLAIN),

	PLAIN_AGAIN("the same again", CostCall.PLAIN_AGAIN, CostCall.PLAIN),

	TRANSACTION("TRANSACTION, `execute`", CostCall.TRANSACTION, CostCall.PLAIN, 2, 1.05, 1.05),

	TRANSACTION_ANNOTATION("TRANSACTION, `@SingleRunner`", CostCall.TRANSACTION_ANNOTATION, CostCall.PLAIN, 2, 1.05,
			1.05),

	TRANSACTION_PERMITS("TRANSACTION, `permits = 3`", CostCall.TRANSACTION_PERMITS, CostCall.PLAIN, 2, 0, 0),

	PLAIN_SESSION("plain JDBC: lock, unlock, a connection for each thread", CostCall.PLAIN_SESSION,
			CostCall.PLAIN_SESSION),

	SESSION("SESSION, `execute`, one connection", CostCall.SESSION, CostCall.PLAIN_SESSION, 2, 1.05, 1.2),

	SESSION_ANNOTATION("SESSION, `@SingleRunner`, one connection", CostCall.SESSION_ANNOTATION, CostCall.PLAIN_SESSION,
			2, 1.05, 1.2),

	SESSION_PERMITS("SESSION, `permits = 3`, one connection", CostCall.SESSION_PERMITS, CostCall.PLAIN_SESSION, 2, 0,
			0),

	PLAIN_TICK("plain JDBC: lock of the tick, lock, commit", CostCall.PLAIN_TICK, CostCall.PLAIN_TICK),

	TICK("TRANSACTION, tick remembered", CostCall.TICK, CostCall.PLAIN_TICK, 3, 0, 0),

	INTERVAL("TRANSACTION, interval remembered", CostCall.INTERVAL, CostCall.PLAIN_TICK, 3, 0, 0),

	TICK_SESSION("SESSION, tick remembered", CostCall.TICK_SESSION, CostCall.PLAIN_TICK),

	PLAIN_RECORDED("plain JDBC: lock, look, insert, commit", CostCall.PLAIN_RECORDED, CostCall.PLAIN_RECORDED),

	PER_TICK("`PER_TICK`", CostCall.PER_TICK, CostCall.PLAIN_RECORDED),

	PER_TICK_SHEDLOCK("`PER_TICK`, beside ShedLock", CostCall.PER_TICK, CostCall.SHEDLOCK, 0, 1, 1),

	PER_TICK_SESSION("`PER_TICK` in SESSION, beside ShedLock", CostCall.PER_TICK_SESSION, CostCall.SHEDLOCK),

	PER_KEY("`PER_KEY`", CostCall.PER_KEY, CostCall.PLAIN_RECORDED),

	PER_KEY_SHEDLOCK("`PER_KEY`, beside ShedLock with a new name", CostCall.PER_KEY, CostCall.SHEDLOCK_BY_KEY, 0, 1, 1),

	PLAIN_LOOK("plain JDBC: look", CostCall.PLAIN_LOOK, CostCall.PLAIN_LOOK),

	ALREADY_RAN("a skip: the tick is recorded", CostCall.ALREADY_RAN, CostCall.PLAIN_LOOK),

	PLAIN_KEPT("plain JDBC: lock, look, read, commit", CostCall.PLAIN_KEPT, CostCall.PLAIN_KEPT),

	KEPT_RESULT("a skip: the result is kept, `PER_KEY`, `@SingleRunner`", CostCall.KEPT_RESULT, CostCall.PLAIN_KEPT),

	SKIP_HERE("a skip: this instance runs", CostCall.SKIP_HERE, CostCall.PLAIN, 0, 0.01, 0.01),

	PLAIN_SKIP("plain JDBC: lock is busy, commit", CostCall.PLAIN_SKIP, CostCall.PLAIN_SKIP),

	SKIP_ELSEWHERE("a skip: another instance runs, TRANSACTION", CostCall.SKIP_ELSEWHERE, CostCall.PLAIN_SKIP, 2, 1.05,
			1.05),

	PLAIN_SESSION_SKIP("plain JDBC: session lock is busy", CostCall.PLAIN_SESSION_SKIP, CostCall.PLAIN_SESSION_SKIP),

	SKIP_ELSEWHERE_SESSION("a skip: another instance runs, SESSION", CostCall.SKIP_ELSEWHERE_SESSION,
			CostCall.PLAIN_SESSION_SKIP, 2, 1.05, 1.2),

	SHEDLOCK("ShedLock: a run", CostCall.SHEDLOCK, CostCall.PLAIN),

	SHEDLOCK_BY_KEY("ShedLock: a run under a new name, `lockAtLeastFor`", CostCall.SHEDLOCK_BY_KEY, CostCall.PLAIN),

	SHEDLOCK_SKIP("ShedLock: a skip", CostCall.SHEDLOCK_SKIP, CostCall.PLAIN_SKIP),

	INTEGRATION("`JdbcLockRegistry`: a run", CostCall.INTEGRATION, CostCall.PLAIN),

	INTEGRATION_SKIP("`JdbcLockRegistry`: a skip", CostCall.INTEGRATION_SKIP, CostCall.PLAIN_SKIP);

	private final String description;

	private final CostCall call;

	private final CostCall baseline;

	private final boolean judged;

	private final int waits;

	private final double ratio;

	private final double ratioOf8;

	CostLine(String description, CostCall call, CostCall baseline) {
		this(description, call, baseline, false, 0, 0, 0);
	}

	/**
	 * Create a line with a target.
	 * @param waits how often the call may wait for the server, 0 if a ratio is all that
	 * counts
	 * @param ratio the highest ratio on the wire, 0 if there is none
	 * @param ratioOf8 the same from eight threads
	 */
	CostLine(String description, CostCall call, CostCall baseline, int waits, double ratio, double ratioOf8) {
		this(description, call, baseline, true, waits, ratio, ratioOf8);
	}

	CostLine(String description, CostCall call, CostCall baseline, boolean judged, int waits, double ratio,
			double ratioOf8) {
		this.description = description;
		this.call = call;
		this.baseline = baseline;
		this.judged = judged;
		this.waits = waits;
		this.ratio = ratio;
		this.ratioOf8 = ratioOf8;
	}

	String description() {
		return this.description;
	}

	CostCall call() {
		return this.call;
	}

	CostCall baseline() {
		return this.baseline;
	}

	/**
	 * Say what was promised, and whether it was kept.
	 * @param waits how often the call waited for the server
	 * @param ratio its ratio on the wire
	 * @param ratioOf8 the same from eight threads
	 */
	String verdict(double waits, double ratio, double ratioOf8) {
		if (!this.judged) {
			return "";
		}
		StringBuilder text = new StringBuilder();
		boolean met = true;
		if (this.waits > 0) {
			text.append("%d waits, ".formatted(this.waits));
			met = Math.round(waits) <= this.waits;
		}
		if (this.ratio > 0) {
			text.append((this.ratio == this.ratioOf8) ? "%.2f, ".formatted(this.ratio)
					: "%.2f, 8 threads %.2f, ".formatted(this.ratio, this.ratioOf8));
			met = met && ratio <= this.ratio && ratioOf8 <= this.ratioOf8;
		}
		return text.append(met ? "met" : "missed").toString();
	}

}
