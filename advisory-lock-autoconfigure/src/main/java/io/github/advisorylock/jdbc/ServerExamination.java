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
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import io.github.advisorylock.doctor.DoctorCheck;
import io.github.advisorylock.doctor.Finding;
import io.github.advisorylock.doctor.LookAlike;
import org.jspecify.annotations.Nullable;

/**
 * Looks whether a server's advisory locks mean anything at all.
 */
final class ServerExamination {

	private ServerExamination() {
	}

	/**
	 * Return what is wrong with a server.
	 * @param name how to call it
	 * @param property the property that leads to it
	 */
	static @Nullable Finding findingOn(Connection connection, String name, String property) throws SQLException {
		String product = connection.getMetaData().getDatabaseProductName();
		if (!"PostgreSQL".equals(product)) {
			return new Finding(DoctorCheck.NOT_POSTGRESQL,
					name + " can't guard anything with advisory locks, it is '" + product + "' and not PostgreSQL",
					"point '" + property + "' at PostgreSQL, or set 'advisory-lock.enabled' to false to run methods "
							+ "without locks, for example in a test");
		}
		try (Statement statement = connection.createStatement();
				ResultSet server = statement.executeQuery(PostgresAdvisoryLockFunctions.DESCRIBE_SERVER)) {
			server.next();
			return findingOn(server.getString(1), server.getBoolean(2), name, property);
		}
	}

	private static @Nullable Finding findingOn(String version, boolean standby, String name, String property) {
		String problem = LookAlike.problemOf(version);
		if (problem != null) {
			return new Finding(DoctorCheck.LOOK_ALIKE, name + " can't guard anything with advisory locks, " + problem,
					"point '" + property + "' at PostgreSQL");
		}
		return standby ? new Finding(DoctorCheck.STANDBY,
				name + " is a standby, which grants the same locks as its primary, so that two could run at once",
				"point '" + property + "' at the primary, for example with 'targetServerType=primary' in the URL")
				: null;
	}

}
