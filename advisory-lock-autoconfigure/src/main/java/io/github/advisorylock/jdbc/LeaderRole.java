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

import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockScope;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One role that this application leads, or would like to. Whoever holds the lock of the
 * role may lead it, but not before nobody else can believe that it still does:
 * <ul>
 * <li>A leader believes in itself until a time that it knows in advance, and that it
 * moves on whenever the server confirms its session: the trust window, counted from
 * before the question was sent.</li>
 * <li>A leader that resigns stops believing, announces that, and then releases the lock:
 * in this order, so that everybody who listens and gets the lock has heard of it.</li>
 * <li>A candidate that gets the lock leads at once when a resignation is the last that it
 * heard. Otherwise it first waits for longer than the window of a predecessor that has
 * vanished. It announces its election before it believes in it.</li>
 * </ul>
 * Its state belongs to the thread of the elector. The belief can be read by any thread.
 */
final class LeaderRole {

	private static final Log logger = LogFactory.getLog(LeaderRole.class);

	private static final long INTERVAL = TimeUnit.SECONDS.toNanos(1);

	private static final long JITTER = TimeUnit.MILLISECONDS.toNanos(200);

	private final String name;

	private final AdvisoryLockKey key;

	private final LockSession session;

	private final Consumer<Object> events;

	private final long trust;

	private final String elected;

	private final String resigned;

	private final String released;

	private volatile boolean predecessorResigned;

	private volatile boolean invited;

	private volatile @Nullable Belief belief;

	private State state = State.FOLLOWER;

	private @Nullable Hold hold;

	private long term;

	private long due = System.nanoTime();

	private boolean failing;

	LeaderRole(String name, AdvisoryLockKey key, LockSession session, Consumer<Object> events) {
		this.name = name;
		this.key = key;
		this.session = session;
		this.events = events;
		this.trust = session.trust().toNanos();
		String subject = key.isPair() ? key.classId() + "/" + key.objectId() : Long.toString(key.value());
		this.elected = subject + " elected";
		this.resigned = subject + " resigned";
		this.released = subject + " released";
	}

	boolean isLeader() {
		Belief current = this.belief;
		return current != null && current.holds();
	}

	OptionalLong term() {
		Belief current = this.belief;
		return (current != null && current.holds()) ? OptionalLong.of(current.term()) : OptionalLong.empty();
	}

	boolean isFollower() {
		return this.state == State.FOLLOWER;
	}

	/**
	 * What was announced on an earlier connection may be out of date.
	 */
	void connected() {
		this.predecessorResigned = false;
		this.invited = false;
	}

	void heard(String message) {
		if (message.equals(this.resigned)) {
			this.predecessorResigned = true;
		}
		else if (message.equals(this.elected)) {
			this.predecessorResigned = false;
		}
		else if (message.equals(this.released)) {
			this.invited = true;
		}
	}

	/**
	 * Do what is due.
	 */
	void tick() {
		try {
			switch (this.state) {
				case FOLLOWER -> campaign();
				case WAITING -> waitForPredecessor();
				case LEADER -> renew();
			}
		}
		catch (RuntimeException ex) {
			report(ex);
		}
	}

	/**
	 * Stop leading, and let somebody else do so at once.
	 */
	void resign() {
		boolean led = this.state == State.LEADER;
		Hold current = this.hold;
		follow(0);
		if (current != null && current.isActive()) {
			try {
				if (led) {
					this.session.announce(current, this.resigned);
				}
			}
			catch (RuntimeException ex) {
				logger.debug("Failed to announce the resignation from role '" + this.name + "'", ex);
			}
			this.session.resign(current, this.released);
			current.release();
		}
	}

	private void campaign() {
		if (!this.invited && System.nanoTime() - this.due < 0) {
			return;
		}
		this.invited = false;
		this.due = System.nanoTime() + INTERVAL + ThreadLocalRandom.current().nextLong(JITTER);
		Hold candidate = new Hold(this.key, LockMode.EXCLUSIVE, LockScope.SESSION);
		boolean acquired = this.session.tryLock(candidate);
		this.failing = false;
		if (acquired) {
			this.hold = candidate;
			this.state = State.WAITING;
			// the server sends what was announced before it answers
			this.session.hearNow();
			this.due = System.nanoTime() + (this.predecessorResigned ? 0 : this.trust + this.trust / 10);
			waitForPredecessor();
		}
	}

	private void waitForPredecessor() {
		Hold current = this.hold;
		if (current == null || !current.isActive()) {
			follow(JITTER);
		}
		else if (System.nanoTime() - this.due >= 0) {
			this.due += INTERVAL;
			this.term = this.session.announce(current, this.elected);
			this.state = State.LEADER;
			renew();
		}
	}

	/**
	 * Believe for longer if the server has confirmed the session meanwhile. The order
	 * matters: a time that was confirmed on a new connection comes with a hold that is
	 * lost.
	 */
	private void renew() {
		long end = this.session.confirmedNanos() + this.trust;
		Hold current = this.hold;
		if (current == null || !current.isActive()) {
			follow(JITTER);
			return;
		}
		Belief before = this.belief;
		if (before != null && !before.holds()) {
			stopBelieving();
			before = null;
		}
		if (System.nanoTime() - end < 0) {
			this.belief = new Belief(current, this.term, end);
			if (before == null) {
				logger.info("Leading role '" + this.name + "' in term " + this.term);
				this.events.accept(new LeadershipGainedEvent(this.name, this.term));
			}
		}
	}

	private void follow(long pause) {
		stopBelieving();
		this.state = State.FOLLOWER;
		this.hold = null;
		this.due = System.nanoTime() + pause;
	}

	private void stopBelieving() {
		Belief before = this.belief;
		this.belief = null;
		if (before != null) {
			logger.info("No longer leading role '" + this.name + "'");
			this.events.accept(new LeadershipLostEvent(this.name, before.term()));
		}
	}

	private void report(RuntimeException failure) {
		if (this.failing) {
			logger.debug("Failed again to campaign for role '" + this.name + "'", failure);
		}
		else {
			logger.warn("Failed to campaign for role '" + this.name + "', will try again", failure);
		}
		this.failing = true;
	}

	/**
	 * What a leader relies on.
	 *
	 * @param hold the lock of the role
	 * @param term the term of the leader
	 * @param end until when it may believe, as of {@link System#nanoTime()}
	 */
	private record Belief(Hold hold, long term, long end) {

		private boolean holds() {
			return this.hold.isActive() && System.nanoTime() - this.end < 0;
		}

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
