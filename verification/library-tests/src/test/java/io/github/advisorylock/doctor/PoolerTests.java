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

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Pooler}, with server processes that change as a pooler changes them.
 */
class PoolerTests {

	private final Connection one = TestPostgres.open();

	private final Connection other = TestPostgres.open();

	@AfterEach
	void close() throws SQLException {
		this.one.close();
		this.other.close();
	}

	@Test
	void connectionsThatKeepTheirServerProcessesShowNoChange() throws SQLException {
		assertThat(Pooler.between(this.one, this.other)).isEqualTo(Pooler.NO_CHANGE_SEEN);
		assertThat(Pooler.between(this.one, null)).isEqualTo(Pooler.NO_CHANGE_SEEN);
	}

	@Test
	void connectionsThatShareServerProcessAreThoseOfTransactionMode() throws SQLException {
		assertThat(Pooler.between(this.one, this.one)).isEqualTo(Pooler.TRANSACTION_MODE);
	}

	@Test
	void connectionsThatSwapTheirServerProcessesAreThoseOfTransactionMode() throws SQLException {
		assertThat(Pooler.between(changing(this.one, this.other), changing(this.other, this.one)))
			.isEqualTo(Pooler.TRANSACTION_MODE);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4 })
	void connectionThatGetsAnotherServerProcessLateIsOneOfTransactionMode(int same) throws SQLException {
		Connection[] processes = { this.one, this.one, this.one, this.one, this.one };
		processes[same] = this.other;
		assertThat(Pooler.between(changing(processes), null)).isEqualTo(Pooler.TRANSACTION_MODE);
		try (Connection third = TestPostgres.open()) {
			assertThat(Pooler.between(third, changing(processes))).isEqualTo(Pooler.TRANSACTION_MODE);
		}
	}

	/**
	 * In one transaction there is one server process, whatever the mode of a pooler is.
	 */
	@Test
	void eachStatementIsTransactionOfItsOwn() throws SQLException {
		String pid = pid(this.one);
		this.one.setAutoCommit(false);
		assertThat(Pooler.between(this.one, this.other)).isEqualTo(Pooler.NO_CHANGE_SEEN);
		assertThat(TestPostgres.query("SELECT state FROM pg_stat_activity WHERE pid = " + pid)).containsExactly("idle");
		assertThat(this.one.getAutoCommit()).isFalse();
	}

	private static String pid(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
			row.next();
			return row.getString(1);
		}
	}

	/**
	 * Return a connection that has one server process for each statement, in turn.
	 */
	private static Connection changing(Connection... processes) {
		AtomicInteger statements = new AtomicInteger();
		return (Connection) Proxy.newProxyInstance(PoolerTests.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
					int turn = method.getName().equals("createStatement") ? statements.getAndIncrement()
							: statements.get();
					try {
						return method.invoke(processes[turn % processes.length], arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

}
