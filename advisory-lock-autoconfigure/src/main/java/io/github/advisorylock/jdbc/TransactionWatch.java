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

import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.advisorylock.LockScope;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Notices that a transaction with a lock has ended behind the back of its run: its thread
 * may be at work elsewhere, and hears nothing on its own connection. The lock session
 * sees in one statement which processes of the server still have their locks, for all
 * transactions together that have had theirs for a heartbeat; while there are none,
 * nobody is asked.
 */
final class TransactionWatch {

	private static final Log logger = LogFactory.getLog(TransactionWatch.class);

	private final HoldRegistry holds;

	private final LockSession session;

	private final LockScheduler.Ticker ticker;

	private final Executor later;

	private final Runnable look = new GuardedTask("A look at the locks of transactions failed", this::look);

	private final AtomicBoolean expecting = new AtomicBoolean();

	private boolean answered;

	private long answeredNanos;

	TransactionWatch(HoldRegistry holds, LockSession session) {
		this.holds = holds;
		this.session = session;
		this.ticker = session.ticker();
		// has no thread while there is nothing to look at
		this.later = this.ticker.delayed(session.settings().heartbeat().toNanos(),
				session.scheduler("advisory-lock-watch"));
	}

	/**
	 * Look in a heartbeat's time, if it is not decided already that somebody will.
	 */
	void expect() {
		if (!this.expecting.get() && this.expecting.compareAndSet(false, true)) {
			this.later.execute(this.look);
		}
	}

	private void look() {
		this.expecting.set(false);
		try {
			List<Hold> old = this.holds.heldLonger(LockScope.TRANSACTION, this.session.settings().heartbeat());
			if (!old.isEmpty()) {
				check(old);
			}
		}
		finally {
			if (this.holds.has(LockScope.TRANSACTION)) {
				expect();
			}
		}
	}

	private void check(List<Hold> old) {
		long asked = this.ticker.nanoTime();
		try {
			this.session.losses().lost(this.session.findMissing(old));
			this.session.hearCancels();
			this.answered = true;
			this.answeredNanos = asked;
		}
		catch (SQLException ex) {
			logger.debug("The locks of transactions could not be looked at", ex);
			if (this.answered && PgDriver.endsConnection(ex)) {
				giveUpSilent(old);
			}
		}
	}

	/**
	 * That the session is gone says nothing of other connections. That the server can't
	 * be reached for as long as it waits for a client that can't be reached does: it has
	 * given up what this application holds.
	 */
	private void giveUpSilent(List<Hold> old) {
		long patience = this.session.settings().deadClientTimeout().toNanos();
		if (this.ticker.nanoTime() - this.answeredNanos > patience) {
			this.session.losses().lost(old.stream().filter((hold) -> hold.heldFor().toNanos() > patience).toList());
		}
	}

}
