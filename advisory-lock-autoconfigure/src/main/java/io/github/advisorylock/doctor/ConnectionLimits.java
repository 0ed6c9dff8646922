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

import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * How many connections a server allows, of a role, to a database and in all, negative
 * where there is no limit. PostgreSQL does not apply the limits of role and database to
 * superusers.
 *
 * @param role the role that has logged in, quoted as an identifier
 * @param ofRole the limit of that role
 * @param database the database of the connection, quoted as an identifier
 * @param ofDatabase the limit of that database
 * @param ofServer the limit of the server
 * @param reserved how many of those are reserved for others than that role
 */
record ConnectionLimits(String role, long ofRole, String database, long ofDatabase, long ofServer, long reserved) {

	static ConnectionLimits read(ResultSet row, int first) throws SQLException {
		return new ConnectionLimits(row.getString(first), row.getLong(first + 1), row.getString(first + 2),
				row.getLong(first + 3), row.getLong(first + 4), row.getLong(first + 5));
	}

	/**
	 * Look whether one instance may open all its connections.
	 */
	void examine(CheckContext context, Findings findings) {
		Integer poolSize = context.poolSize();
		if (poolSize == null || poolSize < 1) {
			return;
		}
		boolean session = context.opensSessionAsThePool();
		long needed = (long) poolSize + (session ? 1 : 0);
		String use = "the pool opens up to " + poolSize + (session ? " and the library 1 more for session locks" : "");
		check("The role " + this.role, this.ofRole, use, needed,
				"'ALTER ROLE " + this.role + " CONNECTION LIMIT " + needed + "'", findings);
		check("The database " + this.database, this.ofDatabase, use, needed,
				"'ALTER DATABASE " + this.database + " CONNECTION LIMIT " + needed + "'", findings);
		check("The server", this.ofServer - this.reserved, use, needed,
				"'max_connections = " + (needed + this.reserved) + "'", findings);
	}

	private static void check(String name, long limit, String use, long needed, String remedy, Findings findings) {
		if (limit >= 0 && limit < needed) {
			findings.found(DoctorCheck.POOL_SIZE,
					name + " has a limit of " + limit + " connections, and " + use
							+ ", so that runs fail when the server refuses the next one",
					"raise the limit to at least " + needed + " for each instance (" + remedy
							+ "), or lower the size of the pool ('spring.datasource.hikari.maximum-pool-size')");
		}
	}

}
