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

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One role that this application leads, or would like to. Whoever holds the lock of the
 * role may lead it, but not before nobody else can take itself for the leader:
 * <ul>
 * <li>A leader {@linkplain CurrentTerm leads} for a trust window, counted from before the
 * question that the server has answered last.</li>
 * <li>A leader that resigns ends its term, announces that, and then releases the lock: in
 * this order, so that everybody who listens and gets the lock has heard of it.</li>
 * <li>A candidate that gets the lock leads at once when the term of the
 * {@linkplain PreviousLeader previous leader} is known to be over. Otherwise it first
 * waits for longer than the window of one that has vanished. It announces its election
 * before it leads.</li>
 * <li>A leader that was in doubt for a moment announces itself again before it leads
 * again.</li>
 * </ul>
 * It belongs to the thread of the lock session; its {@link Leadership} is for any thread.
 */
final class LeaderRole {

	/**
	 * How long a role is left to others after {@link Leadership#resign()}.
	 */
	static final long AWAY = TimeUnit.SECONDS.toNanos(30);

	private static final Log logger = LogFactory.getLog(LeaderRole.class);

	private static final long LONGEST_INTERVAL = TimeUnit.SECONDS.toNanos(5);

	private static final long RETRY = TimeUnit.MILLISECONDS.toNanos(200);

	private final String name;

	private final AdvisoryLockKey key;

	private final LockSession session;

	private final long termsAbove;

	private final LockScheduler.Ticker ticker;

	private final Leadership leadership;

	private final Runnable whenLost;

	private final PreviousLeader previous;

	private final String subject;

	/**
	 * A leader's clock may run slower than ours while it is corrected, by less than that.
	 */
	private final long window;

	private final long interval;

	private volatile boolean invited;

	private State state = State.FOLLOWER;

	private @Nullable Hold hold;

	private long due;

	private boolean away;

	private boolean failing;

	/**
	 * Whom the latest look has shown with the lock, as {@link #count} is told,
	 * {@code null} for this application or if it told nothing.
	 */
	private @Nullable String seen;

	private boolean shard;

	/**
	 * Who was told last that others lead the role in shards.
	 */
	private int told;

	private boolean divided;

	/**
	 * Create a role that this application follows.
	 * @param name the name of the role
	 * @param key what its leader locks
	 * @param session carries the lock
	 * @param termsAbove is added to the numbers of the server to make terms
	 * @param events is told who leads
	 * @param wake has the elector look what is due
	 */
	LeaderRole(String name, AdvisoryLockKey key, LockSession session, long termsAbove, Consumer<Object> events,
			Runnable wake) {
		this.name = name;
		this.key = key;
		this.session = session;
		this.termsAbove = termsAbove;
		this.ticker = session.ticker();
		this.due = this.ticker.nanoTime();
		this.leadership = new Leadership(name, key, session, events, wake);
		long trust = session.trust().length().toNanos();
		this.window = trust + trust / 10;
		// so that two looks, a window apart, see the silence of a leader behind a cut
		// network before the server ends its session: then it shows nobody any more
		this.interval = Math.min(trust / 3 * 2, LONGEST_INTERVAL);
		this.previous = new PreviousLeader(this.window);
		this.whenLost = new SafeTask("Failed to tell that role '" + name + "' is lost", () -> {
			this.leadership.check();
			wake.run();
		});
		this.subject = key.isPair() ? key.classId() + "/" + key.objectId() : Long.toString(key.value());
	}

	/**
	 * Be one of several shards.
	 */
	LeaderRole asShard() {
		this.shard = true;
		return this;
	}

	/**
	 * Return whether the latest look has shown that nobody has the lock.
	 */
	boolean isFree() {
		return this.seen != null && this.seen.isEmpty();
	}

	/**
	 * Return whether the latest look has shown somebody else with the lock.
	 */
	boolean isTaken() {
		return this.seen != null && !this.seen.isEmpty();
	}

	/**
	 * Return whether this application does without the role for the time being.
	 */
	boolean isLeftToOthers() {
		return this.away || this.leadership.isStopping() || this.leadership.isResigning();
	}

	/**
	 * Look at once.
	 */
	void invite() {
		this.invited = true;
	}

	boolean isLeading() {
		return this.state == State.LEADER;
	}

	/**
	 * Return whether the server has given the lock to this application. That a question
	 * has failed does not tell.
	 */
	boolean hasLock() {
		return this.state != State.FOLLOWER;
	}

	AdvisoryLockKey key() {
		return this.key;
	}

	Leadership leadership() {
		return this.leadership;
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
		this.previous.forget();
		this.invited = false;
	}

	/**
	 * Note what was announced, which any role that may connect may do: it is no more than
	 * a reason to look, unless it is known who has said it.
	 * @param message what was said
	 * @param process the process of the server that has passed it on
	 */
	void heard(String message, int process) {
		if (message.equals(resigned())) {
			this.previous.resigned(process);
		}
		else if (message.equals(elected())) {
			this.previous.elected();
			// the process that leads now must be known before it can resign
			this.invited = true;
		}
		else if (message.equals(released())) {
			this.invited = true;
		}
		else if (message.equals(divided()) && !this.divided) {
			this.divided = true;
			logger.warn("Another instance leads role '" + this.name
					+ "' in shards, and this one runs for it undivided: work may be done for both, or for none. "
					+ "Use the same 'shards' of @LeaderOnly on all instances");
		}
	}

	/**
	 * Note what was announced of a role that is only looked at.
	 */
	void overheard(String message) {
		this.invited = this.invited || message.equals(elected());
	}

	boolean isInvited() {
		return this.invited;
	}

	/**
	 * Tell whom the latest look has shown that others lead the role in shards, unless he
	 * was told.
	 */
	void tellDivided() {
		String shown = this.seen;
		int holder = (shown != null && !shown.isEmpty()) ? PreviousLeader.Holder.parse(shown).process() : this.told;
		if (holder != this.told) {
			this.told = holder;
			new SafeTask("Failed to tell that role '" + this.name + "' is led in shards", () -> this.session.ask(null,
					PostgresLeaderStatements.ANNOUNCE, PostgresLeaderStatements.message(divided())))
				.run();
		}
	}

	/**
	 * Return whether it matters what others announce.
	 */
	boolean isListening() {
		return isOut() && !this.leadership.isStopping() && !this.away;
	}

	/**
	 * Return whether to ask for the lock now.
	 */
	boolean isDue() {
		if (!isOut() || this.leadership.isStopping()) {
			return false;
		}
		boolean invitation = this.invited && !this.away;
		return invitation || this.ticker.nanoTime() - this.due >= 0;
	}

	/**
	 * Return how many nanoseconds there are until something is due.
	 */
	long pause() {
		if (this.leadership.isStopping() && isOut()) {
			return Long.MAX_VALUE;
		}
		if (isFree() && isOut() && this.shard) {
			// a share that grows allows it at once
			return isDue() ? 0 : Math.min(RETRY, this.due - this.ticker.nanoTime());
		}
		return (this.state == State.LEADER) ? this.leadership.left() : this.due - this.ticker.nanoTime();
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
	 * @param holder who holds the lock, as {@link PostgresLeaderStatements#campaign}
	 * answers, {@code null} if this application does now
	 * @param asked when the server was asked
	 */
	void count(@Nullable String holder, long asked) {
		this.failing = false;
		this.seen = holder;
		if (holder == null) {
			this.state = State.WAITING;
			this.due = this.ticker.nanoTime() + this.window;
			return;
		}
		this.hold = null;
		long answered = this.ticker.nanoTime();
		this.previous.seen(PreviousLeader.Holder.parse(holder), asked, answered);
		long pause = this.previous.isSuspect(answered) ? this.interval / 10 : this.interval;
		this.due = answered + pause + this.ticker.random(0, pause / 10 + 1);
	}

	/**
	 * Do what is due.
	 */
	void advance() {
		if (this.leadership.isOver()) {
			handOver();
		}
		switch (this.state) {
			case FOLLOWER -> giveBack();
			case WAITING -> waitForPreviousLeader();
			case LEADER -> watchTerm();
		}
	}

	/**
	 * Begin anew after a failure of any kind. A lock that may have been granted is given
	 * back: nobody leads by it.
	 * @param others how many roles have failed along with this one, whose word is enough
	 */
	void fail(Throwable failure, int others) {
		beginAnew();
		if (this.failing) {
			logger.debug("Failed again to campaign for role '" + this.name + "'", failure);
		}
		else {
			SafeTask.warn(logger, "Failed to campaign for role '" + this.name + "'"
					+ ((others > 0) ? " and " + others + " more" : "") + ", will try again", failure);
		}
		this.failing = true;
	}

	void beginAnew() {
		this.state = State.FOLLOWER;
		this.seen = null;
		this.due = this.ticker.nanoTime() + Math.min(this.interval, 5 * RETRY);
		this.leadership.end();
	}

	private void handOver() {
		boolean led = this.state == State.LEADER;
		Hold current = this.hold;
		this.state = State.FOLLOWER;
		this.leadership.handOver();
		if (led && current != null && current.isActive()) {
			try {
				announce(current, resigned());
			}
			catch (RuntimeException ex) {
				logger.debug("Failed to announce the resignation from role '" + this.name + "'", ex);
			}
		}
		giveBack();
		this.away = this.leadership.handedOver();
		this.due = this.ticker.nanoTime() + (this.away ? AWAY : 0);
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

	private void waitForPreviousLeader() {
		Hold current = this.hold;
		if (current == null || !current.isActive()) {
			follow();
		}
		else if (this.previous.isOver() || this.ticker.nanoTime() - this.due >= 0) {
			long term = Math.addExact(this.termsAbove, announce(current, elected()));
			this.state = State.LEADER;
			this.leadership.begin(current, term);
		}
	}

	private void watchTerm() {
		Hold current = this.hold;
		if (current == null || !current.isActive()) {
			follow();
		}
		else if (!this.leadership.isLeader()) {
			this.leadership.check();
			this.state = State.WAITING;
			this.due = this.ticker.nanoTime();
		}
	}

	private void follow() {
		this.leadership.end();
		this.state = State.FOLLOWER;
		this.hold = null;
		this.due = this.ticker.nanoTime() + RETRY;
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

	private String divided() {
		return this.subject + " divided";
	}

	private enum State {

		/**
		 * Somebody else may lead; tries to get the lock now and then.
		 */
		FOLLOWER,

		/**
		 * Has the lock, but the previous leader may still lead.
		 */
		WAITING,

		/**
		 * Is elected, and leads as long as there is no doubt.
		 */
		LEADER

	}

}
