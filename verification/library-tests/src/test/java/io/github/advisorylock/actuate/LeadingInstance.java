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

package io.github.advisorylock.actuate;

import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.leader.PostgresLeaderElection;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * A process that leads a role, and says when it last did as soon as it does not.
 */
public final class LeadingInstance {

	private LeadingInstance() {
	}

	/**
	 * Lead until that is over.
	 * @param arguments the JDBC URL, and the role
	 */
	public static void main(String[] arguments) {
		LockSession session = new LockSession(new DriverManagerDataSource(arguments[0]), "shop",
				LockSessionSettings.DEFAULT, (event) -> {
				});
		PostgresLeaderElection election = new PostgresLeaderElection(session, "shop", AdvisoryLockKeyFactory.sha256(),
				0, (event) -> {
				});
		election.start();
		while (!election.isLeader(arguments[1])) {
			LockSupport.parkNanos(10_000_000);
		}
		say("leads");
		long last = System.currentTimeMillis();
		for (long now = last; election.isLeader(arguments[1]); now = System.currentTimeMillis()) {
			last = now;
			LockSupport.parkNanos(1_000_000);
		}
		say("led until " + last);
		election.stop();
		session.close();
	}

	private static void say(String text) {
		System.out.println(text);
	}

}
