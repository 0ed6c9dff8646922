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

package com.example.reports.web;

import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.testsupport.TestPostgres;

/**
 * A database of its own for the instances of one test, looked at from outside: on
 * connections that no pool knows.
 */
final class Database {

	private static final String ORIGINAL = "/postgres?";

	private static int number;

	private final String url;

	private Database(String url) {
		this.url = url;
	}

	static Database create() {
		number++;
		TestPostgres.execute("CREATE DATABASE reports" + number);
		Database database = new Database(TestPostgres.url().replace(ORIGINAL, "/reports" + number + "?"));
		TestPostgres.execute(database.url,
				"CREATE TABLE journal (id bigserial PRIMARY KEY, job text, tick timestamptz, instance text)");
		return database;
	}

	String url() {
		return this.url;
	}

	/**
	 * Return the number of the last row.
	 */
	long now() {
		return Long.parseLong(query("SELECT coalesce(max(id), 0) FROM journal").get(0));
	}

	/**
	 * Return for how many ticks a job was run since a row.
	 */
	int ticks(String job, long since) {
		return Integer.parseInt(
				query("SELECT count(DISTINCT tick) FROM journal WHERE job = '" + job + "' AND id > " + since).get(0));
	}

	/**
	 * Return the ticks that a job was run for more than once.
	 */
	List<String> doubles(String job) {
		return query("SELECT concat(tick, ' by ', string_agg(instance, ', ' ORDER BY id)) FROM journal WHERE job = '"
				+ job + "' GROUP BY tick HAVING count(*) > 1");
	}

	/**
	 * Return the instances that have run a job since a row.
	 */
	List<String> instances(String job, long since) {
		return query(
				"SELECT DISTINCT instance FROM journal WHERE job = '" + job + "' AND id > " + since + " ORDER BY 1");
	}

	/**
	 * Return how often something was written down.
	 */
	int count(String job) {
		return Integer.parseInt(query("SELECT count(*) FROM journal WHERE job = '" + job + "'").get(0));
	}

	/**
	 * Return the server processes that hold a key of the application.
	 */
	List<String> holders(String name) {
		AdvisoryLockKey key = AdvisoryLockKey.of("reports", name);
		return query("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND database = "
				+ "(SELECT oid FROM pg_database WHERE datname = current_database()) AND classid::bigint = "
				+ Integer.toUnsignedLong(key.classId()) + " AND objid::bigint = "
				+ Integer.toUnsignedLong(key.objectId()));
	}

	/**
	 * Return the connections that carry session locks of the application.
	 */
	List<String> lockSessions() {
		return query("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'al:reports@%' AND datname = "
				+ "current_database()");
	}

	private List<String> query(String sql) {
		return TestPostgres.query(this.url, sql);
	}

}
