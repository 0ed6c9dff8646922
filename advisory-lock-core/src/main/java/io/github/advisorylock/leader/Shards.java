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
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.LockSession;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The share of this instance in a role that is led in shards, worked out from the number
 * of instances, which their sessions tell: nobody talks about it. Free shards are taken
 * up to the share, each instance beginning with another one; what is above the share is
 * given up as soon as no work relies on it. Not each member may run for the role: a shard
 * that stays free is taken above the share. Belongs to the thread of the lock session.
 */
final class Shards {

	/**
	 * How long a shard is left to those who have less than their share.
	 */
	private static final long PATIENCE = TimeUnit.SECONDS.toNanos(15);

	private static final Log logger = LogFactory.getLog(Shards.class);

	private final String role;

	private final List<LeaderRole> roles;

	private final LockSession session;

	private int members;

	private int looks;

	private int extra;

	/**
	 * Create it.
	 * @param role the name of the role
	 * @param roles its shards
	 * @param session counts the members
	 */
	Shards(String role, List<LeaderRole> roles, LockSession session) {
		this.role = role;
		this.roles = roles;
		this.session = session;
	}

	List<LeaderRole> roles() {
		return this.roles;
	}

	/**
	 * Give up what is above the share, begun terms last, and have a look where there is
	 * room for a shard that is known to be free.
	 */
	void share() {
		int counted = this.session.members().orElse(this.members);
		if (counted != this.members) {
			this.members = counted;
			this.extra = 0;
		}
		int above = (int) held().count() - limit();
		this.extra = Math.max(0, Math.min(this.extra, above));
		held().sorted(Comparator.comparing(LeaderRole::isLeading))
			.limit(Math.max(0, above - this.extra))
			.forEach((shard) -> shard.leadership().giveUp());
		if (above < 0) {
			this.roles.stream().filter(LeaderRole::isFree).forEach(LeaderRole::invite);
		}
	}

	/**
	 * Return the locks that a look at all must not take.
	 */
	List<AdvisoryLockKey> leftToOthers() {
		long room = Math.max(0, limit() - held().count());
		List<LeaderRole> others = inOrder().filter(LeaderRole::isOut)
			.sorted(Comparator.comparing(LeaderRole::isFree).reversed())
			.skip(room)
			.toList();
		this.looks++;
		LeaderRole leftover = others.stream()
			.filter((shard) -> shard.isListening() && shard.freeFor() > PATIENCE)
			.findFirst()
			.orElse(null);
		if (leftover != null) {
			this.extra++;
		}
		return others.stream().filter((shard) -> shard != leftover).map(LeaderRole::key).toList();
	}

	/**
	 * The first answer comes with the number of members, if there is one.
	 */
	private int limit() {
		if (this.members > 0) {
			return (this.roles.size() + this.members - 1) / this.members;
		}
		if (this.looks == 3) {
			this.looks++;
			logger
				.warn("Leading role '" + this.role + "' without a share, whose shards one instance may lead alone: it "
						+ "is not known how many instances there are. Set 'advisory-lock.session.url' to where the "
						+ "session reaches the server, not a pooler");
		}
		return (this.looks > 2) ? this.roles.size() : 0;
	}

	private Stream<LeaderRole> held() {
		return inOrder().filter((shard) -> shard.hasLock() && !shard.leadership().isLeaving());
	}

	/**
	 * Begin where the members before this one end.
	 */
	private Stream<LeaderRole> inOrder() {
		int first = this.session.place() * Math.max(0, limit());
		return IntStream.range(0, this.roles.size())
			.mapToObj((shard) -> this.roles.get((first + shard) % this.roles.size()));
	}

}
