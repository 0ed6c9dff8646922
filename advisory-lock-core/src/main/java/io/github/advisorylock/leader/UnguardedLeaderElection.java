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

import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.advisorylock.LeaderElection;

import org.springframework.util.Assert;

/**
 * Makes every instance the leader, for {@code advisory-lock.enabled=false}.
 *
 * @since 0.1.0
 */
public final class UnguardedLeaderElection implements LeaderElection {

	@Override
	public boolean isLeader(String role) {
		Assert.isTrue(LeaderElection.isRole(LeaderOnlyGate.undivided(role)),
				() -> "'role' must be the name of a role, and is '" + role + "'");
		return true;
	}

	@Override
	public OptionalLong term(String role) {
		return isLeader(role) ? OptionalLong.of(0) : OptionalLong.empty();
	}

	@Override
	public Set<Integer> shards(String role, int number) {
		LeaderOnlyGate.checkShards(role, number);
		return IntStream.range(0, number).boxed().collect(Collectors.toCollection(TreeSet::new));
	}

	/**
	 * Changes nothing, since nobody else would lead instead.
	 */
	@Override
	public void resign(String role) {
	}

}
