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

import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.SettableTicker;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * A candidate in a process of its own, with the default settings. Its clock is fast until
 * it leads.
 */
public final class LeaderInstance {

	/**
	 * Is printed when this instance leads.
	 */
	static final String LEADS = "This instance leads";

	private LeaderInstance() {
	}

	/**
	 * Lead until killed.
	 * @param arguments the JDBC URL
	 */
	public static void main(String[] arguments) {
		SettableTicker ticker = new SettableTicker();
		LeaderCandidate candidate = new LeaderCandidate(new DriverManagerDataSource(arguments[0]),
				LockSessionSettings.DEFAULT, ticker.threads());
		LeaderReplacementTests.awaitLeader(candidate, ticker);
		System.out.println(LEADS);
		while (true) {
			Pause.of(Duration.ofMillis(100));
			ticker.advance(Duration.ofMillis(100));
		}
	}

}
