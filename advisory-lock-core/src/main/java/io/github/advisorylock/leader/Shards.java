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

import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.LockSession;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The share of this instance in a role that is led in shards, worked out from the number
 * of instances that run for it, which their sessions tell: nobody talks about it. Free
 * shards are taken up to the share, each instance beginning with another one; what is
 * above the share is given up as soon as no work relies on it. Who has left a shard to
 * others is not counted. Belongs to the thread of the lock session.
 */
final class Shards {

	private static final Log logger = LogFactory.getLog(Shards.class);

	/**
	 * How many looks the server may leave the members untold.
	 */
	private static final int PATIENCE = 3;

	private final LeaderRole undivided;

	private final String role;

	private final String work;

	private final List<LeaderRole> roles;

	private final LockSession session;

	private int members;

	private int looks;

	private boolean told;

	/**
	 * Create it.
	 * @param undivided the role as a whole, which is only looked at
	 * @param role the name of the role
	 * @param roles its shards
	 * @param session counts the members
	 */
	Shards(LeaderRole undivided, String role, List<LeaderRole> roles, LockSession session) {
		this.undivided = undivided;
		this.role = role;
		this.work = work(roles.size());
		this.roles = roles;
		this.session = session;
	}

	List<LeaderRole> roles() {
		return this.roles;
	}

	LeaderRole undivided() {
		return this.undivided;
	}

	private String work(int number) {
		return this.role + "/" + number;
	}

	/**
	 * Give up what is above the share, begun terms last, and have a look where there is
	 * room for a shard that is known to be free.
	 */
	void share() {
		this.session.share(this.work, this.roles.stream().noneMatch(LeaderRole::isLeftToOthers));
		OptionalInt counted = this.session.members(this.work);
		this.members = counted.isPresent() ? Math.max(1, counted.getAsInt()) : this.members;
		compare();
		int above = (int) held().count() - limit();
		held().sorted(Comparator.comparing(LeaderRole::isLeading))
			.limit(Math.max(0, above))
			.forEach((shard) -> shard.leadership().giveUp());
		if (above < 0) {
			this.roles.stream().filter(LeaderRole::isFree).forEach(LeaderRole::invite);
		}
	}

	/**
	 * Return the locks that a look at all must not take. Who has just given one back may
	 * have gone: members are counted along.
	 */
	List<AdvisoryLockKey> leftToOthers() {
		this.session.recount();
		if (this.members == 0 && ++this.looks == PATIENCE) {
			logger.warn("Leading role '" + this.role
					+ "' without a share, so that one instance may lead all its shards: "
					+ "the server does not tell how many instances run for it. Look whether its lock table is full, and "
					+ "let the session's user call the server's functions as any user may by default");
		}
		return Stream.concat(Stream.of(this.undivided.key()),
				inOrder().filter(LeaderRole::isOut)
					.sorted(Comparator.comparing(LeaderRole::isFree).reversed())
					.skip(Math.max(0, limit() - held().count()))
					.map(LeaderRole::key))
			.toList();
	}

	/**
	 * The first answer comes with the number of members, if the server tells it at all.
	 */
	private int limit() {
		if (this.members == 0) {
			return (this.looks < PATIENCE) ? 0 : this.roles.size();
		}
		return (this.roles.size() + this.members - 1) / this.members;
	}

	private void compare() {
		this.undivided.tellDivided();
		if (this.told) {
			return;
		}
		String others = this.undivided.isTaken() ? "undivided"
				: IntStream.rangeClosed(1, LeaderOnlyGate.MOST_SHARDS)
					.filter((number) -> number != this.roles.size() && this.session.members(work(number)).orElse(0) > 0)
					.mapToObj((number) -> "in " + number + " shards")
					.findFirst()
					.orElse(null);
		if (others != null) {
			this.told = true;
			logger.warn("Another instance leads role '" + this.role + "' " + others + ", and this one in "
					+ this.roles.size() + ": no shard has two leaders, but work may be done for both, or for none. Use "
					+ "the same 'shards' of @LeaderOnly on all instances");
		}
	}

	private Stream<LeaderRole> held() {
		return inOrder().filter((shard) -> shard.hasLock() && !shard.leadership().isLeaving());
	}

	/**
	 * Begin where the members before this one end.
	 */
	private Stream<LeaderRole> inOrder() {
		int first = this.session.place(this.work) * limit();
		return IntStream.range(0, this.roles.size())
			.mapToObj((shard) -> this.roles.get((first + shard) % this.roles.size()));
	}

}
