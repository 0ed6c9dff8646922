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

import io.github.advisorylock.LeaderElection;

/**
 * Lets calls begin that only the leader of a role makes, and knows when they have ended:
 * a role is not handed over in between.
 */
interface LeaderOnlyGate {

	/**
	 * Begin work that only the leader of a role does, on the current thread.
	 * @param role the name of the role
	 * @return whether this instance is the leader; if so {@link #endWork} must follow
	 */
	boolean beginWork(String role);

	/**
	 * End work on the thread that has begun it.
	 * @param role the name of the role
	 */
	void endWork(String role);

	/**
	 * Return the gate of an election, which is one itself if it minds what is running.
	 * @param election knows who leads
	 * @return the gate
	 */
	static LeaderOnlyGate of(LeaderElection election) {
		return (election instanceof LeaderOnlyGate gate) ? gate : new LeaderOnlyGate() {

			@Override
			public boolean beginWork(String role) {
				return election.isLeader(role);
			}

			@Override
			public void endWork(String role) {
			}

		};
	}

}
