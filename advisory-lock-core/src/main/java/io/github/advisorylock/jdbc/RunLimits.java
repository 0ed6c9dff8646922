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
import java.util.function.Consumer;

import io.github.advisorylock.LockLostEvent;

/**
 * Tells holders to give up locks that they have: after a time, or because an operator
 * wants that. A lock that was handed over to its holder is released. A run has its lock
 * until it ends, and is helped to: it does not notice an interrupt while it waits for the
 * server, so its statement is cancelled.
 */
final class RunLimits implements AutoCloseable {

	/**
	 * A run that notices its interrupt is over by then, and what its transaction asks the
	 * server next is not the run's any more.
	 */
	private static final Duration TIME_TO_NOTICE = Duration.ofMillis(200);

	private final LossNotifier losses;

	private final Consumer<Hold> release;

	private final Consumer<Hold> cancelStatement;

	private final LockScheduler timer;

	/**
	 * Create it.
	 * @param losses tells holders
	 * @param release releases later what was handed over to a holder
	 * @param cancelStatement cancels later the statement that a run waits for
	 * @param threads has the timer
	 */
	RunLimits(LossNotifier losses, Consumer<Hold> release, Consumer<Hold> cancelStatement,
			LockScheduler.Threads threads) {
		this.losses = losses;
		this.release = release;
		this.cancelStatement = cancelStatement;
		this.timer = LockScheduler.onTimer(threads);
	}

	/**
	 * Revoke a lock when it was held for a time.
	 * @return what takes that back
	 */
	Future<?> limit(Hold hold, Duration maxRun) {
		Hold.Loss loss = new Hold.Loss(LockLostEvent.Reason.MAX_RUN,
				"it was held for longer than 'maxRun' allows, " + maxRun);
		return this.timer.after(maxRun.minus(hold.heldFor()),
				new SafeTask("Failed to end what lasts too long", () -> revoke(hold, loss)));
	}

	/**
	 * Tell the holder of a lock to give it up, as if it were lost. Never waits.
	 */
	void revoke(Hold hold, Hold.Loss loss) {
		if (!this.losses.end(hold, loss)) {
			return;
		}
		if (hold.handedOver) {
			this.release.accept(hold);
		}
		else if (hold.backend() != 0) {
			cancelStatement(hold);
		}
	}

	private void cancelStatement(Hold hold) {
		Run run = hold.run();
		if (run != null && run.isVirtual()) {
			// Where its interrupt has closed the connection, the run is over at once, but
			// the server goes on with the statement, and keeps the lock
			this.cancelStatement.accept(hold);
			return;
		}
		Future<?> unused = this.timer.after(TIME_TO_NOTICE,
				new SafeTask("Failed to cancel the statement of a run that is to end", () -> {
					if (hold.isRunning()) {
						this.cancelStatement.accept(hold);
					}
				}));
	}

	@Override
	public void close() {
		this.timer.close();
	}

}
