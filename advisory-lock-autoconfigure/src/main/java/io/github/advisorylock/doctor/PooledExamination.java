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
import java.sql.SQLException;
import java.util.List;

import javax.sql.DataSource;

import io.github.advisorylock.jdbc.JdbcUrl;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Looks at what a connection of the application's pool leads to.
 */
final class PooledExamination {

	private static final Log logger = LogFactory.getLog(PooledExamination.class);

	private static final String URL_PROPERTY = "spring.datasource.url";

	private final DataSource dataSource;

	private final @Nullable Integer poolSize;

	private final SettingsExamination settings;

	private final int answerTimeoutMillis;

	/**
	 * Create an examination.
	 * @param answerTimeoutMillis how long the server may take to answer; the pool may
	 * wait for ever
	 */
	PooledExamination(DataSource dataSource, @Nullable Integer poolSize, SettingsExamination settings,
			int answerTimeoutMillis) {
		this.answerTimeoutMillis = answerTimeoutMillis;
		this.dataSource = dataSource;
		this.poolSize = poolSize;
		this.settings = settings;
	}

	void examine(LockDemand demand, List<String> seen, List<Finding> findings) {
		try (Connection connection = this.dataSource.getConnection()) {
			int timeout = connection.getNetworkTimeout();
			connection.setNetworkTimeout(Runnable::run, this.answerTimeoutMillis);
			examine(connection, demand, seen, findings);
			connection.setNetworkTimeout(Runnable::run, timeout);
		}
		catch (SQLException ex) {
			logger.debug("The database could not be examined", ex);
			findings.add(new Finding(DoctorCheck.UNREACHABLE,
					"The database of the advisory locks can't be examined, methods will fail until it is there ("
							+ JdbcUrl.redact(String.valueOf(ex.getMessage())) + ")",
					"check '" + URL_PROPERTY + "', user and password if that does not change"));
		}
	}

	private void examine(Connection connection, LockDemand demand, List<String> seen, List<Finding> findings)
			throws SQLException {
		PostgresServer asked = PostgresServer.ask(connection);
		Finding unsuitable = asked.finding("The application's database", URL_PROPERTY);
		if (unsuitable != null) {
			findings.add(unsuitable);
			return;
		}
		ServerSettings server = ServerSettings.of(connection);
		seen.add("PostgreSQL " + server.version());
		seen.add("room for about " + server.lockTableSize() + " locks");
		checkAutoCommit(connection, demand, findings);
		endTransaction(connection);
		boolean pooler = asked.isBehindPooler(connection);
		this.settings.examine(server, demand, !pooler, findings);
		if (pooler) {
			examinePooler(connection, demand, seen, findings);
		}
	}

	private static void checkAutoCommit(Connection connection, LockDemand demand, List<Finding> findings)
			throws SQLException {
		if (demand.sessionScope() && !connection.getAutoCommit()) {
			findings.add(new Finding(DoctorCheck.AUTO_COMMIT,
					"Connections of the pool do not commit by themselves, and what a method of scope SESSION writes "
							+ "outside a transaction is rolled back in silence",
					"add @Transactional to what writes, or set 'auto-commit' of the pool to true"));
		}
	}

	private void examinePooler(Connection connection, LockDemand demand, List<String> seen, List<Finding> findings)
			throws SQLException {
		Pooler pooler = kindOf(connection);
		seen.add((pooler == Pooler.TRANSACTION_MODE) ? "pool behind a pooler in transaction mode"
				: "pool behind a pooler");
		boolean prepares = demand.transactionScope() && DriverAnswers.prepareThreshold(connection) != 0;
		if (pooler == Pooler.TRANSACTION_MODE && prepares && !keepsPreparedStatements(connection)) {
			findings.add(new Finding(DoctorCheck.PREPARED_STATEMENTS,
					"The driver prepares statements on the server (prepareThreshold="
							+ DriverAnswers.prepareThreshold(connection)
							+ "), and the pooler in front of it does not keep them, so that transactions fail now and then",
					"add 'prepareThreshold=0' to '" + URL_PROPERTY + "', or let the pooler keep prepared statements "
							+ "(PgBouncer 1.21 and 'max_prepared_statements')"));
		}
	}

	/**
	 * The second connection must not be waited for: somebody may have all others, and a
	 * pool of one has none.
	 */
	private Pooler kindOf(Connection connection) throws SQLException {
		if (this.poolSize == null || this.poolSize < 2) {
			return Pooler.between(connection, null);
		}
		try (Connection second = this.dataSource.getConnection()) {
			return Pooler.between(connection, second);
		}
	}

	private static boolean keepsPreparedStatements(Connection connection) {
		try {
			return DriverAnswers.isPreparedUnderAnotherName(connection);
		}
		catch (SQLException ex) {
			logger.debug("Preparing a statement failed", ex);
			return false;
		}
	}

	private static void endTransaction(Connection connection) throws SQLException {
		if (!connection.getAutoCommit()) {
			connection.rollback();
		}
	}

}
