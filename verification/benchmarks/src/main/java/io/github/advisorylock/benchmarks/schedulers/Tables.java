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

package io.github.advisorylock.benchmarks.schedulers;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.core.io.Resource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

/**
 * The tables of schedulers that do not create their own.
 */
final class Tables {

	private Tables() {
	}

	/**
	 * Create what a script says.
	 */
	static void create(String url, Resource script) throws SQLException {
		try (Connection connection = DriverManager.getConnection(url)) {
			ScriptUtils.executeSqlScript(connection, script);
		}
	}

	/**
	 * Open the pool of a scheduler, as HikariCP has it by default.
	 */
	static HikariDataSource pool(String url) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		return pool;
	}

}
