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

package io.github.advisorylock.monitor;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockHolders}.
 */
class LockHoldersTests {

	private static final LockNumber NUMBER = LockNumber.of(AdvisoryLockKey.ofValue(4711));

	private final LockHolders holders = new LockHolders(
			new JdbcTemplate(new DriverManagerDataSource(TestPostgres.url())));

	private Connection connection;

	@BeforeEach
	void hold() throws SQLException {
		this.connection = TestPostgres.open();
		execute("SET application_name = 'al:shop@other-host:77'");
		execute("SELECT pg_advisory_lock(4711), pg_advisory_lock(12)");
	}

	@AfterEach
	void close() throws SQLException {
		this.connection.close();
	}

	@Test
	void holderIsFoundWithItsInstance() {
		assertThat(find().instance()).isEqualTo("other-host:77");
	}

	@Test
	void lockWithTheSameNumberInAnotherDatabaseIsAnother() {
		LockHolders other = new LockHolders(new JdbcTemplate(new DriverManagerDataSource(ReportingDatabase.url())));
		assertThat(other.find(NUMBER, "shop")).isEmpty();
		assertThat(this.holders.find(NUMBER, "shop")).hasSize(1);
	}

	@Test
	void statementOfALockSessionMakesNoOtherHolderOfIt() throws SQLException {
		LockHolders.Holder idle = find();
		execute("BEGIN");
		assertThat(find()).isEqualTo(idle);
		execute("SET application_name = 'al:shop-report@other-host:77'");
		assertThat(find().transactionStart()).isNotNull();
	}

	private LockHolders.Holder find() {
		assertThat(this.holders.find(NUMBER, "shop")).hasSize(1);
		return this.holders.find(NUMBER, "shop").get(0);
	}

	private void execute(String sql) throws SQLException {
		try (Statement statement = this.connection.createStatement()) {
			statement.execute(sql);
		}
	}

}
