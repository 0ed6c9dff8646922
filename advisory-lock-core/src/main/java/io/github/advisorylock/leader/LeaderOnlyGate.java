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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.jdbc.WorkContext;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Lets calls begin that only the leader of a role makes, and knows when they have ended:
 * a role is not handed over in between.
 */
interface LeaderOnlyGate {

	/**
	 * Begin work that only the leader of a role does, on the current thread, or a part of
	 * such work.
	 * @param role the name of the role
	 * @return the work, which has to end on this thread, or {@code null} if this instance
	 * is not the leader
	 * @throws LockLostException if the current thread is in such work already, and the
	 * role was lost meanwhile
	 */
	@Nullable Work beginWork(String role) throws LockLostException;

	/**
	 * The most shards that a role may have.
	 */
	int MOST_SHARDS = 64;

	/**
	 * Return the name of a shard, which is a role of its own.
	 */
	static String shard(String role, int number) {
		return role + "#" + number;
	}

	/**
	 * Return the name of the role that a shard belongs to.
	 */
	static String undivided(String shard) {
		return shard.replaceFirst("#\\d{1,2}$", "");
	}

	/**
	 * Make sure that a role may be led in so many shards.
	 */
	static void checkShards(String role, int number) {
		checkRole(role);
		Assert.isTrue(number >= 1 && number <= MOST_SHARDS,
				() -> "The number of shards of role '" + role + "' must be 1 to " + MOST_SHARDS + ", and is " + number);
	}

	/**
	 * Make sure that a role may be called so.
	 */
	static void checkRole(String role) {
		Assert.isTrue(LeaderElection.isRole(role), () -> "'role' must be 1 to 64 letters, digits, dots, underscores "
				+ "or hyphens, and is '" + role + "'");
	}

	/**
	 * Return the gate of an election, which is one itself if it minds what is running.
	 * @param election knows who leads
	 * @return the gate
	 */
	static LeaderOnlyGate of(LeaderElection election) {
		return (election instanceof LeaderOnlyGate gate) ? gate : (role) -> begin(election, role);
	}

	/**
	 * Nobody but that election knows what it locks, if anything.
	 */
	private static @Nullable Work begin(LeaderElection election, String role) {
		if (!election.isLeader(role)) {
			return null;
		}
		AdvisoryLockKey key = AdvisoryLockKey.of(LeaderElection.KEY_PREFIX + role);
		WorkContext context = WorkContext.begin(key, election.term(role), () -> election.isLeader(role), () -> {
		});
		return new Work(context, () -> {
		});
	}

	/**
	 * Work that was begun, and has to end in one way.
	 *
	 * @param context what it knows of its role, {@code null} if it is a part of other
	 * work
	 * @param end is told that it has ended
	 */
	record Work(@Nullable WorkContext context, Runnable end) {

		/**
		 * End the work, which has come to its end.
		 * @throws LockLostException if the role was lost meanwhile
		 */
		void complete() throws LockLostException {
			try {
				if (this.context != null) {
					this.context.complete();
				}
			}
			finally {
				this.end.run();
			}
		}

		/**
		 * End the work, which has failed. The loss of the role is only added to that.
		 */
		void fail(Throwable failure) {
			try {
				if (this.context != null) {
					this.context.fail(failure);
				}
			}
			finally {
				this.end.run();
			}
		}

	}

}
