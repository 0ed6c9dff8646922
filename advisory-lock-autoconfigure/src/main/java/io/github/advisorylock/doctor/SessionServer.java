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

package io.github.advisorylock.doctor;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;

import io.github.advisorylock.jdbc.ServerJudge;
import io.github.advisorylock.jdbc.UnsupportedDatabaseException;
import org.jspecify.annotations.Nullable;

/**
 * What a connection of session locks leads to: judged at start-up, and each time the lock
 * session is opened. Costs one round trip, and a second connection only where there is a
 * pooler.
 *
 * @param finding why session locks guard nothing there, or {@code null}
 * @param pooler whether there is a pooler in between
 */
record SessionServer(@Nullable Finding finding, boolean pooler) {

	/**
	 * Look at a connection, whose statements must be transactions of their own.
	 * @param another opens another one of the same kind
	 * @param property the property that leads to the server
	 */
	static SessionServer of(Connection connection, ServerJudge.Opening another, String property) throws SQLException {
		PostgresServer server = PostgresServer.ask(connection);
		Finding unsuitable = server.finding("The server of the session locks", property);
		if (unsuitable != null || !server.isBehindPooler(connection)) {
			return new SessionServer(unsuitable, false);
		}
		try (Connection second = another.open()) {
			boolean shared = Pooler.between(connection, second) == Pooler.TRANSACTION_MODE;
			return new SessionServer(shared ? sharedServers() : null, true);
		}
	}

	/**
	 * Return a judge that refuses each server on which session locks guard nothing.
	 */
	static ServerJudge judge(Collection<DoctorCheck> switchedOff) {
		Set<DoctorCheck> tolerated = EnumSet.of(DoctorCheck.LOOK_ALIKE, DoctorCheck.TRANSACTION_POOLER);
		tolerated.retainAll(switchedOff);
		return (connection, another) -> {
			Finding finding = of(connection, another, "advisory-lock.session.url").finding();
			if (finding != null && !tolerated.contains(finding.check())) {
				throw new UnsupportedDatabaseException(finding.problem() + "; " + finding.action());
			}
		};
	}

	private static Finding sharedServers() {
		return new Finding(DoctorCheck.TRANSACTION_POOLER,
				"A pooler in transaction mode stands between the lock session and the server, and session locks taken "
						+ "through it guard nothing, because each statement may reach another server process",
				"set 'advisory-lock.session.url' to a URL that leads straight to the server, or use 'scope' "
						+ "TRANSACTION");
	}

}
