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

import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * An application with a main database, that of {@link TestPostgres}, and one for
 * reporting on the same server.
 */
public final class ReportingDatabase {

	private static final String NAME = "reporting";

	private static final String URL = create();

	private ReportingDatabase() {
	}

	/**
	 * Return the JDBC URL of the database for reporting.
	 */
	public static String url() {
		return URL;
	}

	/**
	 * Create an application on both.
	 */
	public static ApplicationContextRunner application() {
		return LockContextRunner.create().withUserConfiguration(TwoDatabases.class);
	}

	/**
	 * Return the names of the databases in which somebody holds a key, seen from outside.
	 */
	public static List<String> databasesWith(AdvisoryLockKey key) {
		return TestPostgres.query("SELECT d.datname FROM pg_locks l JOIN pg_database d ON d.oid = l.database "
				+ "WHERE locktype = 'advisory' AND granted AND classid = " + Integer.toUnsignedString(key.classId())
				+ " AND objid = " + Integer.toUnsignedString(key.objectId()) + " ORDER BY 1");
	}

	private static String create() {
		if (TestPostgres.query("SELECT 1 FROM pg_database WHERE datname = '" + NAME + "'").isEmpty()) {
			TestPostgres.execute("CREATE DATABASE " + NAME);
		}
		return TestPostgres.url().replaceFirst("(jdbc:postgresql://[^/]*/)[^?]*", "$1" + NAME);
	}

	/**
	 * The usual way to have two.
	 */
	@Configuration(proxyBeanMethods = false)
	public static class TwoDatabases {

		@Bean
		@Primary
		HikariDataSource mainDataSource() {
			return pool(TestPostgres.url());
		}

		@Bean
		@Primary
		JdbcTransactionManager mainTx(HikariDataSource mainDataSource) {
			return new JdbcTransactionManager(mainDataSource);
		}

		@Bean
		HikariDataSource reportingDataSource() {
			return pool(url());
		}

		@Bean
		JdbcTransactionManager reportingTx(@Qualifier("reportingDataSource") DataSource reporting) {
			return new JdbcTransactionManager(reporting);
		}

		private static HikariDataSource pool(String url) {
			HikariDataSource pool = TestPostgres.pool(url, 4);
			pool.setMinimumIdle(0);
			return pool;
		}

	}

}
