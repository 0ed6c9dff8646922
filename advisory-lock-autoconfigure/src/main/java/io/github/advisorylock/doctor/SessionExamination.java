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
import java.util.List;

import io.github.advisorylock.jdbc.JdbcUrl;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.UnsupportedDatabaseException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Looks at what a connection of the lock session leads to, on connections of its own that
 * are opened the same way.
 */
final class SessionExamination implements Examination {

	private static final Log logger = LogFactory.getLog(SessionExamination.class);

	private static final List<String> APPLICATION = List.of("spring.datasource.url", "spring.datasource.username",
			"spring.datasource.password");

	@Override
	public void examine(Subject subject, Diagnosis diagnosis) {
		LockSession session = subject.session();
		if (session != null && subject.usesSession()) {
			List<String> properties = subject.sessionProperties().isEmpty() ? APPLICATION : subject.sessionProperties();
			examine(session, properties, diagnosis);
		}
	}

	private static void examine(LockSession session, List<String> properties, Diagnosis diagnosis) {
		try (Connection connection = session.openAnother()) {
			SessionServer server = SessionServer.of(connection, session::openAnother, properties.get(0));
			if (server.finding() != null) {
				diagnosis.found(server.finding());
				session.failed(new UnsupportedDatabaseException(server.finding().problem()));
			}
			else {
				diagnosis.seen(server.pooler() ? "session locks through a pooler that keeps sessions"
						: "session locks straight to the server");
			}
		}
		catch (SQLException ex) {
			logger.debug("The lock session could not be examined", ex);
			diagnosis.found(refusal(ex, properties));
			session.failed(ex);
		}
	}

	/**
	 * What the configuration is to blame for does not go away by waiting.
	 */
	private static Finding refusal(SQLException ex, List<String> properties) {
		String message = JdbcUrl.redact(String.valueOf(ex.getMessage()));
		if (isLoginRefused(ex)) {
			return new Finding(DoctorCheck.SESSION_LOGIN,
					"The connection of the session locks is refused (" + message + ")",
					"correct '" + String.join("', '", properties) + "'");
		}
		return new Finding(DoctorCheck.UNREACHABLE,
				"The server of the session locks can't be examined, methods of scope SESSION will fail until it is there ("
						+ message + ")",
				"check '" + properties.get(0) + "' if that does not change");
	}

	/**
	 * Return whether a server refuses a connection because of what it was told: wrong
	 * user or password, or a database that does not exist.
	 */
	private static boolean isLoginRefused(SQLException ex) {
		String state = ex.getSQLState();
		return state != null && (state.startsWith("28") || state.equals("3D000"));
	}

}
