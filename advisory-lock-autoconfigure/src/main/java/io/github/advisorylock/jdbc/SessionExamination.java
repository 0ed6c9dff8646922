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

package io.github.advisorylock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import io.github.advisorylock.doctor.DoctorCheck;
import io.github.advisorylock.doctor.Finding;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Looks at what a connection of the lock session leads to, on connections of its own that
 * are opened the same way.
 */
final class SessionExamination {

	private static final Log logger = LogFactory.getLog(SessionExamination.class);

	private final LockSession session;

	private final List<String> properties;

	SessionExamination(LockSession session, List<String> properties) {
		this.session = session;
		this.properties = properties;
	}

	void examine(List<String> seen, List<Finding> findings) {
		try (Connection connection = open()) {
			Finding unsuitable = ServerExamination.findingOn(connection, "The server of the session locks", property());
			if (unsuitable != null) {
				findings.add(unsuitable);
				return;
			}
			examinePooler(connection, seen, findings);
		}
		catch (SQLException ex) {
			logger.debug("The lock session could not be examined", ex);
			findings.add(refusal(ex));
		}
	}

	private void examinePooler(Connection connection, List<String> seen, List<Finding> findings) throws SQLException {
		if (!Pooler.isBefore(connection)) {
			seen.add("session locks straight to the server");
			return;
		}
		try (Connection second = open()) {
			if (Pooler.between(connection, second) == Pooler.TRANSACTION_MODE) {
				findings.add(new Finding(DoctorCheck.TRANSACTION_POOLER,
						"A pooler in transaction mode stands between the lock session and the server, and session "
								+ "locks taken through it guard nothing, because each statement may reach another server process",
						"set 'advisory-lock.session.url' to a URL that leads straight to the server, or use 'scope' "
								+ "TRANSACTION"));
				return;
			}
		}
		seen.add("session locks through a pooler that keeps sessions");
	}

	private Connection open() throws SQLException {
		Connection connection = new ConnectionOpening(this.session.settings()).open(this.session.connectionSource());
		return connection;
	}

	/**
	 * What the configuration is to blame for does not go away by waiting.
	 */
	private Finding refusal(SQLException ex) {
		if (!this.properties.isEmpty() && SqlState.refusesLogin(ex)) {
			return new Finding(DoctorCheck.SESSION_LOGIN,
					"The connection of the session locks is refused (" + ex.getMessage() + ")",
					"correct '" + String.join("', '", this.properties) + "'");
		}
		return new Finding(DoctorCheck.UNREACHABLE,
				"The server of the session locks can't be examined, methods of scope SESSION will fail until it is there ("
						+ ex.getMessage() + ")",
				"check '" + property() + "' if that does not change");
	}

	private String property() {
		return this.properties.isEmpty() ? "spring.datasource.url" : this.properties.get(0);
	}

}
