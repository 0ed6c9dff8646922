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
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;

import org.springframework.util.ClassUtils;

/**
 * What PostgreSQL's own driver tells the doctor of a connection. The driver need not be
 * there.
 */
final class DriverAnswers {

	private static final boolean PRESENT = ClassUtils.isPresent("org.postgresql.PGConnection",
			DriverAnswers.class.getClassLoader());

	private static final String DRIVER_NAME_PREFIX = "S_";

	private DriverAnswers() {
	}

	/**
	 * Return whether the driver can be asked: not where another copy of it, in another
	 * class loader, has opened the connection, and not behind a wrapper that hides it.
	 */
	static boolean isOwnerOf(Connection connection) {
		try {
			return PRESENT && connection.isWrapperFor(PGConnection.class)
					&& connection.unwrap(PGConnection.class) != null;
		}
		catch (SQLException | RuntimeException | AbstractMethodError ex) {
			return false;
		}
	}

	/**
	 * Return the process that answered when the connection was opened.
	 */
	static int greetedBy(Connection connection) throws SQLException {
		return connection.unwrap(PGConnection.class).getBackendPID();
	}

	/**
	 * Return after how many executions the driver prepares a statement on the server,
	 * zero for never.
	 */
	static int prepareThreshold(Connection connection) throws SQLException {
		return connection.unwrap(PGConnection.class).getPrepareThreshold();
	}

	/**
	 * Prepare a statement on what is behind the connection, and see whether it goes by
	 * the name that the driver gave it: a pooler that keeps prepared statements for its
	 * clients has to rename them. All of it happens in one transaction, and nothing is
	 * left behind.
	 */
	static boolean isPreparedUnderAnotherName(Connection connection) throws SQLException {
		PGConnection driver = connection.unwrap(PGConnection.class);
		int threshold = driver.getPrepareThreshold();
		boolean autoCommit = connection.getAutoCommit();
		driver.setPrepareThreshold(0);
		connection.setAutoCommit(false);
		try {
			String name = prepare(connection);
			return name != null && !name.startsWith(DRIVER_NAME_PREFIX);
		}
		finally {
			connection.rollback();
			connection.setAutoCommit(autoCommit);
			driver.setPrepareThreshold(threshold);
		}
	}

	private static @Nullable String prepare(Connection connection) throws SQLException {
		try (Statement begin = connection.createStatement()) {
			begin.execute(DoctorQueries.BACKEND_PID);
		}
		String name = null;
		try (PreparedStatement statement = connection.prepareStatement(DoctorQueries.NAME_OF_THIS_STATEMENT)) {
			statement.unwrap(PGStatement.class).setPrepareThreshold(1);
			try (ResultSet row = statement.executeQuery()) {
				name = row.next() ? row.getString(1) : null;
			}
		}
		if (name != null && name.startsWith(DRIVER_NAME_PREFIX)) {
			try (Statement deallocate = connection.createStatement()) {
				deallocate.execute(DoctorQueries.deallocate(name));
			}
		}
		return name;
	}

}
