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

package io.github.advisorylock.faults.rivals;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.faults.ContestantSettings;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

/**
 * The tables of contestants that do not create their own: by the first instance, while
 * the others wait.
 */
final class Tables {

	private Tables() {
	}

	/**
	 * Create what one or more statements say, unless the table is there.
	 */
	static void create(ContestantSettings settings, String table, String sql) throws SQLException {
		create(settings, table, new ByteArrayResource(sql.getBytes(StandardCharsets.UTF_8)));
	}

	/**
	 * Create what a script on the class path says, unless the table is there.
	 */
	static void createFrom(ContestantSettings settings, String table, String script) throws SQLException {
		create(settings, table, new ClassPathResource(script));
	}

	private static void create(ContestantSettings settings, String table, Resource script) throws SQLException {
		try (Connection connection = DriverManager.getConnection(settings.url(), settings.user(), settings.password());
				Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			statement.execute("LOCK TABLE pg_catalog.pg_class IN SHARE ROW EXCLUSIVE MODE");
			if (!exists(connection, table)) {
				ScriptUtils.executeSqlScript(connection, script);
			}
			connection.commit();
		}
	}

	private static boolean exists(Connection connection, String table) throws SQLException {
		try (PreparedStatement query = connection.prepareStatement("SELECT to_regclass(?) IS NOT NULL")) {
			query.setString(1, table);
			try (ResultSet row = query.executeQuery()) {
				row.next();
				return row.getBoolean(1);
			}
		}
	}

	/**
	 * Open the pool of a contestant without Spring, as HikariCP has it by default.
	 */
	static HikariDataSource pool(ContestantSettings settings) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(settings.url());
		pool.setUsername(settings.user());
		pool.setPassword(settings.password());
		return pool;
	}

}
