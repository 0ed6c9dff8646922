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

package io.github.advisorylock;

import java.util.OptionalLong;
import java.util.Set;

/**
 * Tells whether this instance of the application leads a role. Each role has at most one
 * leader among all instances at any time, and a leader that vanishes is replaced after
 * the time for which it could still believe in itself.
 * <p>
 * Asking costs no query. The answer holds for the moment: work that goes on for long asks
 * again in between, or listens to {@link LeadershipLostEvent}, while that of
 * {@code @LeaderOnly} methods is told by itself. Writes to other systems carry the
 * {@link #term(String) term}. A machine that was suspended together with its clock
 * believes for a moment what was true before; the term tells its writes apart, too.
 *
 * @since 0.1.0
 */
public interface LeaderElection {

	/**
	 * What the key of a role begins with, before its name.
	 */
	String KEY_PREFIX = "leader:";

	/**
	 * Return whether this instance leads a role. Who asks for a role takes part in its
	 * elections from then on, for as long as it lives, and does not lead it yet. An
	 * instance takes part in at most 100 roles, so their names must not be made of data.
	 * @param role the name of the role: 1 to 64 letters, digits, dots, underscores or
	 * hyphens
	 * @return whether this instance is the leader
	 * @throws IllegalArgumentException if that is no name of a role
	 * @throws IllegalStateException if it would be one role too many
	 */
	boolean isLeader(String role);

	/**
	 * Return the number of the term in which this instance leads a role. A later leader
	 * has a higher number, in one database, whatever becomes of the server in between: a
	 * crash, or the promotion of a standby that had not received everything. Of two
	 * primaries at once, the one that was promoted has the higher numbers. On Amazon
	 * Aurora the number depends on what its storage keeps.
	 * @param role the name of the role
	 * @return the term, empty when this instance is not the leader
	 * @throws IllegalArgumentException if that is no name of a role
	 */
	OptionalLong term(String role);

	/**
	 * Hand a role over: if this instance leads it, it resigns as soon as no
	 * {@code @LeaderOnly} method of the role is running, and begins none meanwhile. If
	 * none is running, it leads no more when this method returns. From then on it leaves
	 * the role to others for 30 seconds, and then runs for it again, whether or not
	 * another instance has taken it. An instance that does not lead the role leaves it to
	 * others for as long. Returns at once.
	 * @param role the name of the role
	 * @throws IllegalArgumentException if that is no name of a role
	 */
	void resign(String role);

	/**
	 * Return the shards of a role that this instance leads. A role in shards is that many
	 * roles, <code>outbox#0</code>, <code>outbox#1</code> and so on: once it was asked
	 * for here, {@link #isLeader}, {@link #term} and {@link #resign} take the name of
	 * one, too, and {@link #resign} that of the whole role. An instance takes no more
	 * than its share, the number of shards by that of the instances, rounded up, and
	 * gives up what is above when one joins; a shard that nobody has taken for a while is
	 * led above the share.
	 * @param role the name of the role
	 * @param number in how many shards it is led, 1 to 64, on each instance the same
	 * @return the numbers of the shards, from 0, in order
	 * @throws IllegalArgumentException if that is no name of a role, or no such number
	 * @throws IllegalStateException if this instance runs for the role in another number
	 * of shards or undivided, or for too many roles
	 */
	Set<Integer> shards(String role, int number);

	/**
	 * Return whether a text is the name of a role: 1 to 64 letters, digits, dots,
	 * underscores or hyphens.
	 * @param text the text
	 * @return whether a role may be called so
	 */
	static boolean isRole(String text) {
		return text.length() <= 64 && !text.isEmpty()
				&& text.chars()
					.allMatch((character) -> (character >= 'a' && character <= 'z')
							|| (character >= 'A' && character <= 'Z') || (character >= '0' && character <= '9')
							|| "._-".indexOf(character) >= 0);
	}

}
