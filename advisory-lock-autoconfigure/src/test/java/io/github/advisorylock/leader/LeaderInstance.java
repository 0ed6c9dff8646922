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

import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.jdbc.LockSessionSettings;

/**
 * A candidate in a process of its own, with the default settings.
 */
public final class LeaderInstance {

	private LeaderInstance() {
	}

	/**
	 * Take part in elections until killed.
	 * @param arguments the JDBC URL
	 */
	public static void main(String[] arguments) {
		LeaderCandidate candidate = new LeaderCandidate(arguments[0], LockSessionSettings.DEFAULT);
		while (true) {
			candidate.isLeader();
			LockSupport.parkNanos(100_000_000);
		}
	}

}
