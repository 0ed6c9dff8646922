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

package io.github.advisorylock.interceptor;

import io.github.advisorylock.LeaderElection;

/**
 * Lets calls begin that only the leader of a role makes, and knows when they have ended:
 * a role is not handed over in between.
 *
 * @since 0.1.0
 */
public interface LeaderOnlyGate {

	/**
	 * Begin a call on the current thread.
	 * @param role the role
	 * @return whether this instance is the leader; if so {@link #leave} must follow
	 */
	boolean enter(String role);

	/**
	 * End a call on the thread that has begun it.
	 * @param role the role
	 */
	void leave(String role);

	/**
	 * Return the gate of an election that does not mind what is running.
	 * @param election knows who leads
	 * @return the gate
	 */
	static LeaderOnlyGate of(LeaderElection election) {
		return new LeaderOnlyGate() {

			@Override
			public boolean enter(String role) {
				return election.isLeader(role);
			}

			@Override
			public void leave(String role) {
			}

		};
	}

}
