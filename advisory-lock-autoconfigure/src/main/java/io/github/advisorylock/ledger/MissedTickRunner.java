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

package io.github.advisorylock.ledger;

import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.interceptor.LedgerOperation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Runs what was missed while no instance was there, once this one is ready: methods with
 * {@code catchUp} whose latest tick nobody has completed, each by an ordinary call.
 */
final class MissedTickRunner {

	private static final Log logger = LogFactory.getLog(MissedTickRunner.class);

	private final Supplier<PostgresAdvisoryLockLedger> ledger;

	private final RecordedMethodRegistry methods;

	MissedTickRunner(Supplier<PostgresAdvisoryLockLedger> ledger, RecordedMethodRegistry methods) {
		this.ledger = ledger;
		this.methods = methods;
	}

	void run() {
		List<SingleRunnerMethod> candidates = this.methods.recorded()
			.stream()
			.filter((method) -> method.operation().ledger().catchUp() != null)
			.toList();
		if (!candidates.isEmpty()) {
			Thread thread = new Thread(() -> candidates.forEach(this::catchUp), "advisory-lock-catch-up");
			thread.setDaemon(true);
			thread.start();
		}
	}

	private void catchUp(SingleRunnerMethod method) {
		try {
			Instant now = Instant.now();
			if (isMissed(method, now)) {
				logger.info("Catching up with a missed tick of '" + method.operation().keyTemplate() + "'");
				this.methods.call(method);
			}
		}
		catch (RuntimeException | Error ex) {
			logger.error("Failed to catch up with " + method, ex);
		}
	}

	/**
	 * A job that no instance has seen before has missed nothing.
	 */
	private boolean isMissed(SingleRunnerMethod method, Instant now) {
		LedgerOperation operation = method.operation().ledger();
		AdvisoryLockKey key = method.fixedKey();
		if (key == null || operation.ticks() == null || operation.catchUp() == null) {
			return false;
		}
		Instant tick = operation.ticks().latestAt(now);
		LedgerJob job = this.ledger.get().job(JobName.of(key)).orElse(null);
		if (job == null || tick.isBefore(now.minus(operation.catchUp()))) {
			return false;
		}
		Instant seen = (job.lastTick() != null) ? job.lastTick() : job.firstSeenAt();
		return tick.isAfter(seen);
	}

}
