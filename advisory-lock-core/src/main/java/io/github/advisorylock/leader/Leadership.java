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

package io.github.advisorylock.leader;

import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.WorkContext;
import io.github.advisorylock.jdbc.thread.TrustWindow;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What an application knows of itself as the leader of a role: its
 * {@linkplain CurrentTerm current term}, the work that relies on that, and whether it
 * wants to resign. Any thread may read it, see that the term is over, begin work, and ask
 * for resignation; the elector alone begins a term, and resigns. Work of a leader whose
 * term ends without a resignation is told.
 */
final class Leadership {

	private static final Log logger = LogFactory.getLog(Leadership.class);

	private final String role;

	private final AdvisoryLockKey key;

	private final LockSession session;

	private final Consumer<Object> events;

	private final Runnable wake;

	private final ActiveCalls work = new ActiveCalls();

	private final CurrentTerm currentTerm;

	private volatile boolean resigning;

	private volatile boolean yielding;

	private volatile boolean stopping;

	private volatile boolean forced;

	private long highestTerm;

	/**
	 * Create a leadership that has not begun.
	 * @param role the name of the role
	 * @param key what its leader locks
	 * @param session carries the lock
	 * @param events is told who leads
	 * @param wake has the elector look what is due
	 */
	Leadership(String role, AdvisoryLockKey key, LockSession session, Consumer<Object> events, Runnable wake) {
		this(role, key, session, session.trust(), events, wake);
	}

	Leadership(String role, AdvisoryLockKey key, LockSession session, TrustWindow trust, Consumer<Object> events,
			Runnable wake) {
		this.role = role;
		this.key = key;
		this.session = session;
		this.events = events;
		this.wake = wake;
		this.currentTerm = new CurrentTerm(trust);
	}

	boolean isLeader() {
		return this.currentTerm.isRunning();
	}

	OptionalLong term() {
		return this.currentTerm.number();
	}

	/**
	 * Return how many nanoseconds are left if nothing is confirmed meanwhile.
	 */
	long left() {
		return this.currentTerm.left();
	}

	/**
	 * Begin work that only the leader does. A call within such work is part of it.
	 * @return the work, {@code null} if this application does not lead, or is about to
	 * resign
	 * @throws LockLostException if the role was lost during the work around it
	 */
	LeaderOnlyGate.@Nullable Work beginWork() throws LockLostException {
		WorkContext around = this.work.ofThisThread();
		if (around != null) {
			around.checkNotLost();
			return new LeaderOnlyGate.Work(null, () -> {
			});
		}
		CurrentTerm.Term term = this.currentTerm.get();
		return (term != null) ? beginWork(term) : null;
	}

	/**
	 * The work is known to those who have it told before it is certain to begin: what
	 * happens in between would else reach nobody.
	 */
	private LeaderOnlyGate.@Nullable Work beginWork(CurrentTerm.Term term) {
		WorkContext context = WorkContext.begin(this.key, OptionalLong.of(term.number()),
				() -> this.currentTerm.isIn(term), () -> this.session.confirm(term.hold()));
		this.work.begin(context, term);
		if (this.currentTerm.isIn(term) && !isLeaving()) {
			return new LeaderOnlyGate.Work(context, this.work::end);
		}
		context.cancel();
		this.work.end();
		return null;
	}

	/**
	 * Have the work that relies on the term told as soon as that is over, be it by the
	 * time alone. Never waits.
	 * @return how many nanoseconds are left, none when this application does not lead
	 */
	long check() {
		endTermAndTell(CurrentTerm::endIfOver);
		return this.currentTerm.left();
	}

	/**
	 * Resign as soon as no work is running, at once if none is: the elector has to give
	 * back the lock of the role only.
	 */
	void resign() {
		this.resigning = true;
		endWithWork();
	}

	/**
	 * As {@link #resign()}, without leaving the role to others for long.
	 */
	void giveUp() {
		this.yielding = true;
		endWithWork();
	}

	private void endWithWork() {
		this.work.whenNone(() -> {
			endInOrder();
			this.wake.run();
		});
	}

	/**
	 * Begin out of office, until {@link #start()}.
	 */
	void stayOut() {
		this.stopping = true;
	}

	/**
	 * Want to resign for good.
	 * @param force whether not to wait for work that is running
	 */
	void stop(boolean force) {
		this.forced = force;
		this.stopping = true;
		this.work.whenNoOther(this.wake);
	}

	/**
	 * Want to lead again.
	 */
	void start() {
		this.stopping = false;
		this.forced = false;
		this.work.forgetWaiting();
	}

	boolean isStopping() {
		return this.stopping;
	}

	boolean isResigning() {
		return this.resigning;
	}

	/**
	 * Return whether to resign as soon as no work is running.
	 */
	boolean isLeaving() {
		return this.resigning || this.yielding || this.stopping;
	}

	/**
	 * Return whether to resign now.
	 */
	boolean isOver() {
		return isLeaving() && (this.forced || this.work.isNone());
	}

	/**
	 * Begin a term, unless this application is about to resign. Whoever ends it waits
	 * until its beginning is published.
	 * @param hold the lock of the role, which the server has just confirmed
	 * @param term the number of the term
	 */
	void begin(Hold hold, long term) {
		synchronized (this.currentTerm) {
			if (isLeaving() || !this.currentTerm.begin(hold, term)) {
				return;
			}
			this.events.accept(new LeadershipGainedEvent(this.role, term));
		}
		logger.info("Leading role '" + this.role + "' in term " + term);
		if (term <= this.highestTerm) {
			logger.warn("Term " + term + " of role '" + this.role + "' is not higher than term " + this.highestTerm
					+ ", in which this instance has led before: the server counts from a lower number now, as after an "
					+ "upgrade. Systems that refuse lower terms refuse what the leader writes; set "
					+ "'advisory-lock.leader.terms-above' to the highest term of all instances, on all instances");
		}
		this.highestTerm = Math.max(this.highestTerm, term);
	}

	/**
	 * End the term at once.
	 */
	void end() {
		endTermAndTell(CurrentTerm::end);
	}

	/**
	 * End the term in order. Nobody waits for work that is running now, and it has lost
	 * nothing by an accident, unless it was not waited for.
	 */
	void handOver() {
		if (this.forced) {
			end();
		}
		else {
			endInOrder();
		}
	}

	private void endInOrder() {
		CurrentTerm.Term ended = endTerm(CurrentTerm::end);
		if (ended != null) {
			this.work.begunIn(ended).forEach(WorkContext::release);
			logger.info("No longer leading role '" + this.role + "'");
		}
	}

	/**
	 * Note that the lock is given back after {@link #handOver()}.
	 * @return whether somebody has asked for a resignation, which he has now
	 */
	boolean handedOver() {
		boolean resigned = this.resigning;
		this.resigning = false;
		this.yielding = false;
		return resigned;
	}

	private void endTermAndTell(Function<CurrentTerm, CurrentTerm.@Nullable Term> verb) {
		CurrentTerm.Term ended = endTerm(verb);
		if (ended == null) {
			return;
		}
		List<WorkContext> told = this.work.toTell(ended);
		this.session.lose(told);
		if (told.isEmpty()) {
			logger.info("No longer leading role '" + this.role + "'");
		}
		else {
			logger.warn("No longer leading role '" + this.role + "' while work of its leader is running: " + told.size()
					+ " calls are told that they have lost '" + this.key + "'");
		}
	}

	private CurrentTerm.@Nullable Term endTerm(Function<CurrentTerm, CurrentTerm.@Nullable Term> verb) {
		synchronized (this.currentTerm) {
			CurrentTerm.Term ended = verb.apply(this.currentTerm);
			if (ended != null) {
				this.events.accept(new LeadershipLostEvent(this.role, ended.number()));
			}
			return ended;
		}
	}

}
