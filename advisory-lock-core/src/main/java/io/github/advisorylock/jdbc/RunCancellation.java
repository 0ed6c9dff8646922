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
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Does what operators want of the runs of this instance, whichever instance they ask.
 * <p>
 * To cancel a run, the operator's instance sends the key, as the lock table of the server
 * has it, the time of day in milliseconds at which the run was looked at, its fencing
 * token if the operator has named one, and the operator's name. Any role that may connect
 * can send that, so the server is asked which role has.
 * <p>
 * To learn what a run is doing, it asks in the ledger, where only the role of the
 * application can write, and sends a word that says no more than that. The ledger is
 * looked at then, and when the connection begins to listen, as the word may have come
 * before; by one look at a time, however often it is said.
 */
final class RunCancellation {

	static final String CHANNEL = "advisory_lock_cancel";

	/**
	 * Says that there is a question about a run in the ledger.
	 */
	static final String QUESTION = "question";

	/**
	 * Says that the ledger has another schedule of a job.
	 */
	private static final String SCHEDULE = "schedule";

	/**
	 * Says that an operator wants something of an instance, which is in the ledger.
	 */
	static final String INSTANCE = "instance";

	private static final Log logger = LogFactory.getLog(LockSession.class);

	private static final Pattern MESSAGE = Pattern.compile("(\\d+:\\d+:\\d) (\\d{1,16}) (?:run=(\\d{1,18}) )?(.+)",
			Pattern.DOTALL);

	private final LockSession session;

	private final HoldRegistry holds;

	private final @Nullable Supplier<? extends RunLedger> ledger;

	private final Executor answers;

	private final SafeTask look = new SafeTask("Failed to look in the ledger for what operators want", this::look);

	private final SafeTask answer = new SafeTask("Failed to answer in the ledger what a run is doing", this::answer);

	private final SafeTask rescheduled = new SafeTask("Failed to look up the schedules that operators have chosen",
			this::rescheduled);

	/**
	 * Create it.
	 * @param session is notified, and asks the server
	 * @param holds knows the runs
	 * @param ledger has the questions of operators, {@code null} without one
	 */
	RunCancellation(LockSession session, HoldRegistry holds, @Nullable Supplier<? extends RunLedger> ledger) {
		this.session = session;
		this.holds = holds;
		this.ledger = ledger;
		this.answers = LockScheduler.inTurn(session.threads());
	}

	/**
	 * Return what listens to operators.
	 */
	SessionListener listener() {
		return new SessionListener(CHANNEL, this::answerSoon, this::receive);
	}

	private void receive(String text, int process) {
		if (QUESTION.equals(text)) {
			answerSoon();
			return;
		}
		if (SCHEDULE.equals(text) && this.ledger != null) {
			this.rescheduled.handTo(this.answers);
			return;
		}
		if (INSTANCE.equals(text)) {
			this.look.handTo(this.answers);
			return;
		}
		Matcher parts = MESSAGE.matcher(text);
		if (parts.matches()) {
			Hold.Loss loss = new Hold.Loss(LockLostEvent.Reason.CANCELLED,
					"it was cancelled by " + AdvisoryLockKey.display(parts.group(4)));
			this.session.later("Failed to find out what was cancelled", () -> cancel(parts, process, loss));
		}
	}

	private void answerSoon() {
		if (this.ledger != null) {
			this.answer.handTo(this.answers);
		}
	}

	private void rescheduled() {
		if (this.ledger != null && !this.session.isClosed()) {
			this.ledger.get().rescheduled();
		}
	}

	private void look() {
		RunLedger ledger = openLedger();
		if (ledger != null) {
			ledger.look();
		}
	}

	private @Nullable RunLedger openLedger() {
		RunLedger ledger = (this.ledger != null && !this.session.isClosed()) ? this.ledger.get() : null;
		return (ledger != null && ledger.isOpen()) ? ledger : null;
	}

	private void answer() {
		RunLedger ledger = openLedger();
		if (ledger != null) {
			this.holds.any().ifPresent((hold) -> ledger.answer(this.holds::stacks, this.session.sideConnection(hold)));
		}
	}

	/**
	 * What was not looked at must not be reached: a run that has begun since, or one of
	 * another token. Each run has a hold of its own.
	 */
	private void cancel(Matcher parts, int process, Hold.Loss loss) {
		long asked = this.session.ticker().nanoTime();
		long now = this.session.ask(null, PostgresAdvisoryLockFunctions.CLOCK_IF_SAID_BY_OUR_ROLE, List.of(process));
		if (now == 0) {
			logger.warn("Did not end a run though that was wanted on channel '" + CHANNEL + "': server process "
					+ process + " has gone before it was asked for its role, or that is not a member of ours; stay "
					+ "connected for five seconds after the notification (" + PostgresAdvisoryLockFunctions.STAY
					+ "), and log in as the role " + "of this application");
			return;
		}
		String token = parts.group(3);
		Duration since = Duration.ofMillis(now - Long.parseLong(parts.group(2)))
			.plusNanos(this.session.ticker().nanoTime() - asked);
		this.holds.of(parts.group(1))
			.stream()
			.filter((hold) -> hold.heldFor().compareTo(since) >= 0)
			.filter((hold) -> token == null || hold.runs(Long.parseLong(token)))
			.forEach((hold) -> this.session.losses.revoke(hold, loss));
	}

}
