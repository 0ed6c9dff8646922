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
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.jdbc.GuardedTask;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.WorkContext;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One role that this application leads, or would like to. Whoever holds the lock of the
 * role may lead it, but not before nobody else can believe that it still does:
 * <ul>
 * <li>A leader {@linkplain Belief believes} in itself for a trust window, counted from
 * before the question that the server has answered last.</li>
 * <li>A leader that resigns stops believing, announces that, and then releases the lock:
 * in this order, so that everybody who listens and gets the lock has heard of it.</li>
 * <li>A candidate that gets the lock leads at once when its {@linkplain Predecessor
 * predecessor} is known to be over. Otherwise it first waits for longer than the window
 * of one that has vanished. It announces its election before it believes in it.</li>
 * <li>A leader that was in doubt for a moment announces itself again before it believes
 * again.</li>
 * <li>Work of a leader that stops believing without having resigned is told.</li>
 * </ul>
 * Its state belongs to the thread of the elector. Any thread may read what it believes,
 * see that this is over, begin work, and ask it to resign.
 */
final class LeaderRole {

	/**
	 * How long a role is left to others after {@link #resign()}.
	 */
	static final long AWAY = TimeUnit.SECONDS.toNanos(30);

	private static final Log logger = LogFactory.getLog(LeaderRole.class);

	private static final long LONGEST_INTERVAL = TimeUnit.SECONDS.toNanos(5);

	private static final long RETRY = TimeUnit.MILLISECONDS.toNanos(200);

	private final String name;

	private final AdvisoryLockKey key;

	private final LockSession session;

	private final Consumer<Object> events;

	private final Runnable wake;

	private final Runnable whenLost;

	private final ActiveCalls work = new ActiveCalls();

	private final Belief belief;

	private final Predecessor predecessor;

	private final String subject;

	/**
	 * A leader's clock may run slower than ours while it is corrected, by less than that.
	 */
	private final long window;

	private final long interval;

	private volatile boolean invited;

	private volatile boolean resigning;

	private volatile boolean stopping;

	private volatile boolean forced;

	private State state = State.FOLLOWER;

	private @Nullable Hold hold;

	private long due = System.nanoTime();

	private boolean away;

	private boolean failing;

	/**
	 * Create a role that this application follows.
	 * @param name the name of the role
	 * @param key what its leader locks
	 * @param session carries the lock
	 * @param events is told who leads
	 * @param wake has the elector look what is due
	 */
	LeaderRole(String name, AdvisoryLockKey key, LockSession session, Consumer<Object> events, Runnable wake) {
		this.name = name;
		this.key = key;
		this.session = session;
		this.events = events;
		this.wake = wake;
		long trust = session.trust().toNanos();
		this.window = trust + trust / 10;
		// so that two looks, a window apart, see the silence of a leader behind a cut
		// network before the server ends its session: then it shows nobody any more
		this.interval = Math.min(trust / 3 * 2, LONGEST_INTERVAL);
		this.belief = new Belief(session);
		this.predecessor = new Predecessor(this.window);
		this.whenLost = new GuardedTask("Failed to tell that role '" + name + "' is lost", () -> {
			checkBelief();
			wake.run();
		});
		this.subject = key.isPair() ? key.classId() + "/" + key.objectId() : Long.toString(key.value());
	}

	AdvisoryLockKey key() {
		return this.key;
	}

	boolean isLeader() {
		return this.belief.holds();
	}

	OptionalLong term() {
		return this.belief.number();
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
		Belief.Term term = this.belief.current();
		return (term != null) ? beginWork(term) : null;
	}

	/**
	 * The work is known to those who have it told before it is certain to begin: what
	 * happens in between would else reach nobody.
	 */
	private LeaderOnlyGate.@Nullable Work beginWork(Belief.Term term) {
		WorkContext context = WorkContext.begin(this.key, OptionalLong.of(term.number()), () -> this.belief.isIn(term),
				() -> this.session.confirm(term.hold()));
		this.work.begin(context, term);
		if (this.belief.isIn(term) && !(this.resigning || this.stopping)) {
			return new LeaderOnlyGate.Work(context, this.work::end);
		}
		context.cancel();
		this.work.end();
		return null;
	}

	/**
	 * Have whoever relies on the belief told as soon as it is over, be it by the time
	 * alone. Never waits; may be called by any thread.
	 * @return how many nanoseconds are left, none when nothing is believed
	 */
	long checkBelief() {
		stopBelieving(Belief::endIfOver);
		return this.belief.left();
	}

	/**
	 * Resign as soon as no work is running, and leave the role to others for a while.
	 */
	void resign() {
		this.resigning = true;
		this.work.whenNone(this.wake);
	}

	/**
	 * Resign, and don't run for the role before {@link #start()}.
	 * @param force whether not to wait for work that is running
	 */
	void stop(boolean force) {
		this.forced = force;
		this.stopping = true;
		this.work.whenNoOther(this.wake);
	}

	void start() {
		this.stopping = false;
		this.forced = false;
		this.work.forgetWaiting();
	}

	/**
	 * Return whether this application has nothing to do with the role any more.
	 */
	boolean isOut() {
		return this.state == State.FOLLOWER && this.hold == null;
	}

	/**
	 * What was announced on an earlier connection may be out of date.
	 */
	void connected() {
		this.predecessor.forget();
		this.invited = false;
	}

	void heard(String message) {
		if (message.equals(resigned())) {
			this.predecessor.resigned();
		}
		else if (message.equals(elected())) {
			this.predecessor.elected();
		}
		else if (message.equals(released())) {
			this.invited = true;
		}
	}

	/**
	 * Return whether it matters what others announce.
	 */
	boolean isListening() {
		return isOut() && !this.stopping && !this.away;
	}

	/**
	 * Return whether to ask for the lock now.
	 */
	boolean isDue() {
		if (!isOut() || this.stopping) {
			return false;
		}
		boolean invitation = this.invited && !this.away;
		return invitation || System.nanoTime() - this.due >= 0;
	}

	/**
	 * Return how many nanoseconds there are until something is due.
	 */
	long pause() {
		if (this.stopping && isOut()) {
			return Long.MAX_VALUE;
		}
		return (this.state == State.LEADER) ? this.belief.left() : this.due - System.nanoTime();
	}

	/**
	 * Make a hold that is a candidate for the lock.
	 */
	Hold runForLock() {
		Hold candidate = this.session.candidate(this.key, this.whenLost);
		this.hold = candidate;
		this.invited = false;
		this.away = false;
		return candidate;
	}

	/**
	 * Read how a candidacy has ended.
	 * @param holder who holds the lock, {@code null} if this application does now
	 * @param asked when the server was asked
	 */
	void count(@Nullable String holder, long asked) {
		this.failing = false;
		if (holder == null) {
			this.state = State.WAITING;
			this.due = System.nanoTime() + this.window;
			return;
		}
		this.hold = null;
		this.predecessor.seen(holder, asked, System.nanoTime());
		long pause = this.predecessor.isSuspect() ? this.interval / 10 : this.interval;
		this.due = System.nanoTime() + pause + ThreadLocalRandom.current().nextLong(pause / 10 + 1);
	}

	/**
	 * Do what is due.
	 */
	void advance() {
		boolean leaves = this.stopping || this.resigning;
		if (leaves && (this.forced || this.work.isNone())) {
			handOver();
		}
		switch (this.state) {
			case FOLLOWER -> giveBack();
			case WAITING -> waitForPredecessor();
			case LEADER -> watchBelief();
		}
	}

	/**
	 * Begin anew after a failure of any kind. A lock that may have been granted is given
	 * back: nobody leads by it.
	 */
	void fail(Throwable failure) {
		this.state = State.FOLLOWER;
		this.due = System.nanoTime() + Math.min(this.interval, 5 * RETRY);
		stopBelieving(Belief::end);
		if (this.failing) {
			logger.debug("Failed again to campaign for role '" + this.name + "'", failure);
		}
		else {
			this.failing = true;
			logger.warn("Failed to campaign for role '" + this.name + "', will try again", failure);
		}
	}

	private void handOver() {
		boolean led = this.state == State.LEADER;
		Hold current = this.hold;
		this.state = State.FOLLOWER;
		if (this.forced) {
			stopBelieving(Belief::end);
		}
		else {
			resignBelief();
		}
		if (led && current != null && current.isActive()) {
			try {
				announce(current, resigned());
			}
			catch (RuntimeException ex) {
				logger.debug("Failed to announce the resignation from role '" + this.name + "'", ex);
			}
		}
		giveBack();
		this.away = this.resigning;
		this.due = System.nanoTime() + (this.away ? AWAY : 0);
		this.resigning = false;
	}

	private void giveBack() {
		Hold current = this.hold;
		if (current != null) {
			if (current.isActive()) {
				this.session.release(current, PostgresLeaderStatements.NOTIFY,
						PostgresLeaderStatements.message(released()));
			}
			this.hold = null;
		}
	}

	private void waitForPredecessor() {
		Hold current = this.hold;
		if (current == null || !current.isActive()) {
			follow();
		}
		else if (this.predecessor.isOver() || System.nanoTime() - this.due >= 0) {
			long term = announce(current, elected());
			this.state = State.LEADER;
			if (beginBelieving(current, term)) {
				logger.info("Leading role '" + this.name + "' in term " + term);
			}
		}
	}

	private void watchBelief() {
		Hold current = this.hold;
		if (current == null || !current.isActive()) {
			follow();
		}
		else if (!this.belief.holds()) {
			stopBelieving(Belief::endIfOver);
			this.state = State.WAITING;
			this.due = System.nanoTime();
		}
	}

	private void follow() {
		stopBelieving(Belief::end);
		this.state = State.FOLLOWER;
		this.hold = null;
		this.due = System.nanoTime() + RETRY;
	}

	/**
	 * Whoever ends a belief waits until its beginning is published.
	 */
	private boolean beginBelieving(Hold current, long term) {
		synchronized (this.belief) {
			boolean begun = this.belief.begin(current, term);
			if (begun) {
				this.events.accept(new LeadershipGainedEvent(this.name, term));
			}
			return begun;
		}
	}

	private Belief.@Nullable Term endBelief(Function<Belief, Belief.@Nullable Term> verb) {
		synchronized (this.belief) {
			Belief.Term ended = verb.apply(this.belief);
			if (ended != null) {
				this.events.accept(new LeadershipLostEvent(this.name, ended.number()));
			}
			return ended;
		}
	}

	private void stopBelieving(Function<Belief, Belief.@Nullable Term> verb) {
		Belief.Term ended = endBelief(verb);
		if (ended == null) {
			return;
		}
		List<WorkContext> told = this.work.toTell(ended);
		this.session.lose(told);
		if (told.isEmpty()) {
			logger.info("No longer leading role '" + this.name + "'");
		}
		else {
			logger.warn("No longer leading role '" + this.name + "' while work of its leader is running: " + told.size()
					+ " calls are told that they have lost '" + this.key + "'");
		}
	}

	/**
	 * Nobody waits for work that is running now, and it has lost nothing by an accident.
	 */
	private void resignBelief() {
		Belief.Term ended = endBelief(Belief::end);
		if (ended != null) {
			this.work.begunIn(ended).forEach(WorkContext::release);
			logger.info("No longer leading role '" + this.name + "'");
		}
	}

	private long announce(Hold current, String message) {
		return this.session.ask(current, PostgresLeaderStatements.ANNOUNCE, PostgresLeaderStatements.message(message));
	}

	private String elected() {
		return this.subject + " elected";
	}

	private String resigned() {
		return this.subject + " resigned";
	}

	private String released() {
		return this.subject + " released";
	}

	private enum State {

		/**
		 * Somebody else may lead; tries to get the lock now and then.
		 */
		FOLLOWER,

		/**
		 * Has the lock, but a predecessor may still believe.
		 */
		WAITING,

		/**
		 * Is elected, and believes as long as there is no doubt.
		 */
		LEADER

	}

}
