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

import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.jdbc.GuardedTask;
import io.github.advisorylock.jdbc.LockScheduler;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.SessionCommand;
import org.jspecify.annotations.Nullable;

/**
 * The thread that advances all roles. Followers ask for all their locks in one statement,
 * seldom, and look at the socket in between, which asks nobody, for the word that one is
 * free. Leaders cost nothing here: their belief is moved on by the heartbeat.
 * <p>
 * No failure ends it, errors included.
 */
final class Elector implements Runnable {

	private static final long LOOK = TimeUnit.MILLISECONDS.toNanos(70);

	/**
	 * Where a look costs a read that times out.
	 */
	private static final long COSTLY_LOOK = TimeUnit.MILLISECONDS.toNanos(500);

	private static final long LONGEST_PAUSE = TimeUnit.MINUTES.toNanos(1);

	private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long PAUSE_AFTER_FAILURE = TimeUnit.MILLISECONDS.toNanos(500);

	private final GuardedTask turn = new GuardedTask("Failed to elect leaders, will try again", this::turn);

	private final Collection<LeaderRole> roles;

	private final LockSession session;

	private final Thread thread;

	private volatile @Nullable Runnable whenOut;

	private volatile boolean over;

	private volatile boolean woken;

	private boolean listening;

	private long due;

	/**
	 * Create a thread that has not started.
	 * @param roles the roles, which others may add to
	 * @param session carries their locks
	 */
	Elector(Collection<LeaderRole> roles, LockSession session) {
		this.roles = roles;
		this.session = session;
		this.thread = LockScheduler.threads("advisory-lock-elector").newThread(this);
	}

	void start() {
		this.thread.start();
	}

	/**
	 * Have the thread look what is due.
	 */
	void wake() {
		this.woken = true;
		LockSupport.unpark(this.thread);
	}

	/**
	 * End when this application has nothing to do with any role any more.
	 * @param action what to do then
	 */
	void endWhenOut(Runnable action) {
		this.whenOut = action;
		wake();
	}

	/**
	 * Go on after all.
	 */
	void stay() {
		this.whenOut = null;
		wake();
	}

	@Override
	public void run() {
		while (!this.over) {
			this.woken = false;
			this.due = System.nanoTime() + PAUSE_AFTER_FAILURE;
			this.turn.run();
			awaitNextTurn();
		}
	}

	/**
	 * A look that shows nothing comes many times a second and must cost nothing.
	 */
	private void awaitNextTurn() {
		long left = this.due - System.nanoTime();
		while (left > 0 && !this.woken && !this.over) {
			LockSupport.parkNanos(this, this.listening ? Math.min(left, pauseUntilLook()) : left);
			// nobody ends this thread by an interrupt
			Thread.interrupted();
			if (this.listening && this.session.hasInput()) {
				return;
			}
			left = this.due - System.nanoTime();
		}
	}

	private long pauseUntilLook() {
		return this.session.seesInput() ? LOOK : COSTLY_LOOK;
	}

	private void turn() {
		if (this.listening && this.session.hasInput()) {
			this.session.hearIfIdle();
		}
		campaign();
		this.roles.forEach(this::advance);
		endIfOut();
		this.listening = this.roles.stream().anyMatch(LeaderRole::isListening);
		long pause = this.roles.stream().mapToLong(LeaderRole::pause).min().orElse(LONGEST_PAUSE);
		this.due = System.nanoTime() + Math.max(SHORTEST_PAUSE, Math.min(pause, LONGEST_PAUSE));
	}

	/**
	 * Who is due takes everybody along who will be, so that all of them stay together.
	 */
	private void campaign() {
		if (this.roles.stream().noneMatch(LeaderRole::isDue)) {
			return;
		}
		List<LeaderRole> candidates = this.roles.stream().filter((role) -> role.isListening() || role.isDue()).toList();
		long asked = System.nanoTime();
		try {
			SessionCommand.Campaign campaign = new SessionCommand.Campaign(
					candidates.stream().map(LeaderRole::runForLock).toList());
			this.session.campaign(campaign);
			// the server sends what was announced before it answers
			this.session.hearNow();
			candidates.forEach((candidate) -> candidate.count(campaign, asked));
		}
		catch (Throwable ex) {
			candidates.forEach((candidate) -> candidate.fail(ex));
		}
	}

	private void advance(LeaderRole role) {
		try {
			role.advance();
		}
		catch (Throwable ex) {
			role.fail(ex);
		}
	}

	private void endIfOut() {
		Runnable action = this.whenOut;
		if (action != null && this.roles.stream().allMatch(LeaderRole::isOut)) {
			this.over = true;
			action.run();
		}
	}

}
