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
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * What a server says of itself, and whether its advisory locks mean anything: the one
 * judge of servers, at start-up and whenever a connection of session locks is opened.
 *
 * @param product what the driver takes it for
 * @param version what it says it is, empty if it was not asked
 * @param standby whether it follows another server
 * @param answeredBy the process that has answered
 * @param settings how it is set, {@code null} if it was not asked or does not tell
 */
record PostgresServer(String product, String version, boolean standby, int answeredBy,
		SettingsExamination.@Nullable ServerSettings settings) {

	private static final String POSTGRESQL = "PostgreSQL";

	private static final Pattern YUGABYTE_VERSION = Pattern.compile("-YB-(\\d+)\\.(\\d+)");

	private static final int FIRST_YUGABYTE_YEAR = 2025;

	static PostgresServer ask(Connection connection) throws SQLException {
		String product = productOf(connection);
		if (!POSTGRESQL.equals(product)) {
			return new PostgresServer(product, "", false, 0, null);
		}
		try (Statement statement = connection.createStatement();
				ResultSet server = statement.executeQuery(DoctorQueries.DESCRIBE_SERVER)) {
			return read(product, server, false);
		}
	}

	/**
	 * Ask what it is and how it is set, in one round trip. What is no PostgreSQL may know
	 * none of the settings, and then is asked what it is again, alone.
	 */
	static PostgresServer askWithSettings(Connection connection) throws SQLException {
		String product = productOf(connection);
		if (!POSTGRESQL.equals(product)) {
			return new PostgresServer(product, "", false, 0, null);
		}
		try (Statement statement = connection.createStatement();
				ResultSet server = statement.executeQuery(DoctorQueries.DESCRIBE_SERVER_AND_SETTINGS)) {
			return read(product, server, true);
		}
		catch (SQLException ex) {
			return askAgain(connection, ex);
		}
	}

	/**
	 * PostgreSQL's own driver says the same of each server, and loads much for that.
	 */
	private static String productOf(Connection connection) throws SQLException {
		return DriverAnswers.isOwnerOf(connection) ? POSTGRESQL : connection.getMetaData().getDatabaseProductName();
	}

	private static PostgresServer askAgain(Connection connection, SQLException failure) throws SQLException {
		try {
			if (!connection.getAutoCommit()) {
				connection.rollback();
			}
			PostgresServer server = ask(connection);
			if (lookAlike(server.version()) != null) {
				return server;
			}
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
		}
		throw failure;
	}

	private static PostgresServer read(String product, ResultSet server, boolean settings) throws SQLException {
		server.next();
		return new PostgresServer(product, server.getString(1), server.getBoolean(2), server.getInt(3),
				settings ? SettingsExamination.ServerSettings.read(server) : null);
	}

	/**
	 * Return why this server can't guard anything.
	 * @param name how to call it
	 * @param property the property that leads to it
	 */
	@Nullable Finding finding(String name, String property) {
		if (!POSTGRESQL.equals(this.product)) {
			return new Finding(DoctorCheck.NOT_POSTGRESQL,
					name + " can't guard anything with advisory locks, it is '" + this.product + "' and not PostgreSQL",
					"point '" + property + "' at PostgreSQL; in a test, annotate its class with "
							+ "@AutoConfigureInMemoryLocks of advisory-lock-test, or set 'advisory-lock.enabled' to false to "
							+ "run methods without locks");
		}
		String problem = lookAlike(this.version);
		if (problem != null) {
			return new Finding(DoctorCheck.LOOK_ALIKE, name + " can't guard anything with advisory locks, " + problem,
					"point '" + property + "' at PostgreSQL");
		}
		return this.standby ? new Finding(DoctorCheck.STANDBY,
				name + " is a standby, which grants the same locks as its primary, so that two could run at once",
				"point '" + property + "' at the primary, for example with 'targetServerType=primary' in the URL")
				: null;
	}

	/**
	 * Return whether another process has answered than the one that greeted the driver:
	 * there is a pooler of some mode.
	 */
	boolean isBehindPooler(Connection connection) throws SQLException {
		return POSTGRESQL.equals(this.product) && DriverAnswers.isOwnerOf(connection)
				&& DriverAnswers.greetedBy(connection) != this.answeredBy;
	}

	/**
	 * Return what is wrong with the locks of a database that speaks PostgreSQL's protocol
	 * and is another one, by what it says of itself.
	 */
	static @Nullable String lookAlike(String version) {
		if (version.contains("CockroachDB")) {
			return "it is CockroachDB, whose session locks lock nothing, and whose locks of transactions, new in 2026, are "
					+ "untried";
		}
		if (version.contains("-YB-") && !hasYugabyteLocks(version)) {
			return "it is YugabyteDB before 2025.1, which has no advisory locks to rely on";
		}
		return null;
	}

	/**
	 * Stable releases are numbered by year; others, such as 2.25, are older or previews.
	 */
	private static boolean hasYugabyteLocks(String version) {
		Matcher matcher = YUGABYTE_VERSION.matcher(version);
		if (!matcher.find()) {
			return false;
		}
		int year = Integer.parseInt(matcher.group(1));
		int release = Integer.parseInt(matcher.group(2));
		return year > FIRST_YUGABYTE_YEAR || (year == FIRST_YUGABYTE_YEAR && release >= 1);
	}

}
