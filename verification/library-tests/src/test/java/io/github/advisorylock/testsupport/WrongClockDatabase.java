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

package io.github.advisorylock.testsupport;

/**
 * A database on the server of the tests whose clock is wrong. Only the function that
 * tells the time of a statement's moment is: the functions of a database are its own.
 */
public final class WrongClockDatabase implements AutoCloseable {

	private static final String NAME = "wrong_clock";

	private WrongClockDatabase() {
	}

	/**
	 * Create the database.
	 * @param seconds by how much its clock is ahead
	 */
	public static WrongClockDatabase create(int seconds) {
		WrongClockDatabase database = new WrongClockDatabase();
		database.close();
		TestPostgres.execute("CREATE DATABASE " + NAME);
		TestPostgres.execute(database.url(), "SET allow_system_table_mods = on; "
				+ "CREATE OR REPLACE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
				+ "$$ SELECT CAST(pg_catalog.timeofday() AS timestamptz) + interval '" + seconds + " seconds' $$");
		return database;
	}

	/**
	 * Return the JDBC URL of the database.
	 */
	public String url() {
		return TestPostgres.url().replaceFirst("(jdbc:postgresql://[^/]*/)[^?]*", "$1" + NAME);
	}

	@Override
	public void close() {
		TestPostgres.execute("DROP DATABASE IF EXISTS " + NAME + " WITH (FORCE)");
	}

}
