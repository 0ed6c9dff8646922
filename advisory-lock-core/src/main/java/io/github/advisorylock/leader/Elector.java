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

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.jspecify.annotations.Nullable;

/**
 * Advances all roles, on the thread of the lock session, when something is due or a
 * notification has arrived. Followers ask for all their locks in one statement, seldom,
 * and have the session look in between for the word that one is free. Leaders cost
 * nothing here: the heartbeat confirms their terms.
 * <p>
 * No failure ends it, errors included.
 */
final class Elector {

	private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(500);

	private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

	private final SafeTask turn = new SafeTask("Failed to elect leaders, will try again", this::turn);

	private final SafeTask watch = new SafeTask("Failed to see who leads no more, will try again", this::watch);

	private final LockScheduler scheduler;

	private final LockScheduler watcher;

	private final Collection<LeaderRole> roles;

	private final Collection<Shards> shards;

	private final LockSession session;

	private volatile boolean active;

	private final List<Runnable> whenOut = new ArrayList<>();

	/**
	 * Create an elector that has not begun.
	 * @param roles the roles, which others may add to
	 * @param shards those of them that are shared with other instances, which others may
	 * add to
	 * @param session carries their locks
	 */
	Elector(Collection<LeaderRole> roles, Collection<Shards> shards, LockSession session) {
		this.roles = roles;
		this.shards = shards;
		this.session = session;
		this.scheduler = LockScheduler.on(session.executor(), session.threads());
		this.watcher = LockScheduler.onTimer(session.threads());
	}

	/**
	 * Begin, or go on after all: whoever waits for the end waits no longer.
	 */
	synchronized void begin() {
		this.active = true;
		ended();
		// what is due next is decided after each turn; this is for a turn that could not
		this.scheduler.every(LONGEST_PAUSE, LONGEST_PAUSE, this.turn);
		wake();
	}

	/**
	 * End when this application has nothing to do with any role any more.
	 * @param action what to do then, or when this goes on after all; must be quick
	 * @return whether that has begun
	 */
	synchronized boolean endWhenOut(Runnable action) {
		if (this.active) {
			this.whenOut.add(action);
			wake();
		}
		return this.active;
	}

	/**
	 * Look soon what is due.
	 */
	void wake() {
		if (this.active) {
			this.turn.handTo(this.scheduler);
		}
	}

	private void turn() {
		if (!this.active) {
			return;
		}
		this.scheduler.next(PAUSE_AFTER_FAILURE, this.turn);
		this.shards.forEach(Shards::share);
		campaign();
		this.shards.forEach(Shards::share);
		this.roles.forEach(this::advance);
		if (this.roles.stream().anyMatch((role) -> role.leadership().isLeader())) {
			this.watcher.execute(this.watch);
		}
		if (endIfOut()) {
			// the end may have come since these were told
			this.shards.forEach(Shards::share);
			return;
		}
		this.session.notifications().poll(this.roles.stream().anyMatch(LeaderRole::isListening));
		long pause = this.roles.stream().mapToLong(LeaderRole::pause).min().orElse(Long.MAX_VALUE);
		this.scheduler.next(Duration.ofNanos(Math.max(SHORTEST_PAUSE, pause)), this.turn);
	}

	/**
	 * Who is due takes everybody along who will be, so that all of them stay together.
	 * Who leads all shards looks again when somebody leads the role as a whole.
	 */
	private void campaign() {
		if (this.roles.stream().noneMatch(LeaderRole::isDue)
				&& this.shards.stream().noneMatch((role) -> role.undivided().isInvited())) {
			return;
		}
		List<LeaderRole> candidates = this.roles.stream()
			.filter((role) -> role.isListening() || role.isDue())
			.collect(Collectors.toCollection(ArrayList::new));
		Set<AdvisoryLockKey> seen = new HashSet<>();
		this.shards.forEach((role) -> {
			seen.addAll(role.leftToOthers());
			candidates.add(role.undivided());
		});
		List<AdvisoryLockKey> keys = candidates.stream().map(LeaderRole::key).toList();
		long asked = this.session.ticker().nanoTime();
		try {
			List<Hold> holds = candidates.stream().map(LeaderRole::runForLock).toList();
			List<@Nullable String> holders = this.session.tryLocks(holds, PostgresLeaderStatements.campaign(keys, seen),
					PostgresLeaderStatements.candidacies(keys));
			for (int i = 0; i < candidates.size(); i++) {
				candidates.get(i).count(holders.get(i), asked);
			}
		}
		catch (Throwable ex) {
			candidates.forEach(LeaderRole::beginAnew);
			candidates.get(0).fail(ex, candidates.size() - 1);
		}
	}

	private void advance(LeaderRole role) {
		try {
			role.advance();
		}
		catch (Throwable ex) {
			role.fail(ex, 0);
		}
	}

	/**
	 * What is over because its time is must not wait for a server that is silent, as a
	 * turn may. Goes on as long as any term is running.
	 */
	private void watch() {
		long left = PAUSE_AFTER_FAILURE.toNanos();
		try {
			left = this.roles.stream()
				.mapToLong((role) -> role.leadership().check())
				.filter((time) -> time > 0)
				.min()
				.orElse(0);
		}
		finally {
			if (left > 0) {
				this.watcher.next(Duration.ofNanos(left), this.watch);
			}
		}
	}

	private synchronized boolean endIfOut() {
		if (this.whenOut.isEmpty() || !this.roles.stream().allMatch(LeaderRole::isOut)) {
			return false;
		}
		this.active = false;
		this.session.notifications().poll(false);
		this.scheduler.stop();
		this.watcher.stop();
		ended();
		return true;
	}

	private void ended() {
		this.whenOut.forEach(Runnable::run);
		this.whenOut.clear();
	}

}
