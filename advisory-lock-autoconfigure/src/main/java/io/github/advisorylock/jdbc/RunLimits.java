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

package io.github.advisorylock.jdbc;

import java.time.Duration;
import java.util.concurrent.Future;

import io.github.advisorylock.LockLostEvent;

/**
 * Tells holders to give up locks that they have: after a time, or because an operator
 * wants that. A lock that was handed over to its holder is released. A run has its lock
 * until it ends, and is helped to: it does not notice an interrupt while it waits for the
 * server, so its statement is cancelled.
 */
final class RunLimits implements AutoCloseable {

	private final LockSession session;

	private final LossNotifier losses;

	private final LockScheduler timer;

	/**
	 * Create it.
	 * @param session releases locks, and cancels statements
	 * @param losses tells holders
	 */
	RunLimits(LockSession session, LossNotifier losses) {
		this.session = session;
		this.losses = losses;
		this.timer = LockScheduler.onTimer(session.threads());
	}

	/**
	 * Revoke a lock when it was held for a time.
	 * @return what takes that back
	 */
	Future<?> limit(Hold hold, Duration maxRun) {
		Hold.Loss loss = new Hold.Loss(LockLostEvent.Reason.MAX_RUN,
				"it was held for longer than 'maxRun' allows, " + maxRun);
		return this.timer.after(maxRun.minus(hold.heldFor()),
				new GuardedTask("Failed to end what lasts too long", () -> revoke(hold, loss)));
	}

	/**
	 * Tell the holder of a lock to give it up, as if it were lost. Never waits.
	 */
	void revoke(Hold hold, Hold.Loss loss) {
		if (!this.losses.end(hold, loss)) {
			return;
		}
		if (hold.isHandedOver()) {
			this.session.later("Failed to release what was held for too long", () -> {
				if (hold.beginRelease()) {
					this.session.unlock(hold);
				}
			});
		}
		else if (hold.backend() != 0 && this.session.settings().whenLost() == LockSessionSettings.WhenLost.INTERRUPT) {
			PostgresAdvisoryLockFunctions.Call call = PostgresAdvisoryLockFunctions.cancelStatement(hold.backend(),
					hold.key());
			this.session.later("Failed to cancel the statement of a run that is to end",
					() -> this.session.ask(call.sql(), call.parameters()));
		}
	}

	@Override
	public void close() {
		this.timer.close();
	}

}
