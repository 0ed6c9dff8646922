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
 * Judges what connections of session locks lead to, at start-up and each time the lock
 * session is opened. Costs one round trip, and a second connection only where there is a
 * pooler.
 *
 * @since 0.1.0
 */
public final class SessionServerJudge implements ServerJudge {

	private static final String PROPERTY = "advisory-lock.session.url";

	private final Set<DoctorCheck> tolerated = EnumSet.of(DoctorCheck.LOOK_ALIKE, DoctorCheck.TRANSACTION_POOLER);

	/**
	 * Create a judge.
	 * @param switchedOff the checks whose findings are no reason to refuse a server,
	 * because the application has said that it knows better. A standby, and what is no
	 * PostgreSQL at all, is always refused
	 */
	public SessionServerJudge(Collection<DoctorCheck> switchedOff) {
		this.tolerated.retainAll(switchedOff);
	}

	@Override
	public void judge(Connection connection, Opening another) throws SQLException {
		Finding finding = look(connection, another, PROPERTY).finding();
		if (finding != null && !this.tolerated.contains(finding.check())) {
			throw new UnsupportedDatabaseException(finding.problem() + "; " + finding.action());
		}
	}

	/**
	 * Look at a connection, whose statements must be transactions of their own.
	 * @param another opens another one of the same kind
	 * @param property the property that leads to the server
	 */
	static Verdict look(Connection connection, Opening another, String property) throws SQLException {
		PostgresServer server = PostgresServer.ask(connection);
		Finding unsuitable = server.finding("The server of the session locks", property);
		if (unsuitable != null || !server.isBehindPooler(connection)) {
			return new Verdict(unsuitable, false);
		}
		try (Connection second = another.open()) {
			boolean shared = Pooler.between(connection, second) == Pooler.TRANSACTION_MODE;
			return new Verdict(shared ? sharedServers() : null, true);
		}
	}

	private static Finding sharedServers() {
		return new Finding(DoctorCheck.TRANSACTION_POOLER,
				"A pooler in transaction mode stands between the lock session and the server, and session locks taken "
						+ "through it guard nothing, because each statement may reach another server process",
				"set 'advisory-lock.session.url' to a URL that leads straight to the server, or use 'scope' "
						+ "TRANSACTION");
	}

	/**
	 * What was seen of a server.
	 *
	 * @param finding why session locks guard nothing there, or {@code null}
	 * @param pooler whether there is a pooler in between
	 */
	record Verdict(@Nullable Finding finding, boolean pooler) {

	}

}
