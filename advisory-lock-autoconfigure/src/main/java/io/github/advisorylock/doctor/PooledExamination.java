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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.jdbc.server.JdbcUrl;
import io.github.advisorylock.jdbc.server.ServerJudge;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Looks at what a connection of the application's pool leads to.
 */
final class PooledExamination {

	private static final Log logger = LogFactory.getLog(PooledExamination.class);

	private static final long PATIENCE_MILLIS = 1000;

	private static final String URL_PROPERTY = "spring.datasource.url";

	private PooledExamination() {
	}

	/**
	 * Look at it, as far as it matters to the application.
	 */
	static void examine(CheckContext context, Findings findings) {
		ServerJudge.Opening pool = ServerJudge.Opening.checked(context.dataSource()::getConnection);
		try (Connection connection = pool.open()) {
			// the pool may wait for ever
			int timeout = connection.getNetworkTimeout();
			connection.setNetworkTimeout(Runnable::run, context.settings().answerTimeoutMillis());
			examine(connection, pool, context, findings);
			connection.setNetworkTimeout(Runnable::run, timeout);
		}
		catch (SQLException ex) {
			logger.debug("The database could not be examined", ex);
			findings.found(DoctorCheck.UNREACHABLE,
					"The database of the advisory locks can't be examined, methods will fail until it is there ("
							+ JdbcUrl.redact(String.valueOf(ex.getMessage())) + ")",
					(ex.getCause() instanceof RuntimeException)
							? "check the DataSource, a " + context.dataSource().getClass().getName()
									+ ", if that does not change"
							: "check '" + URL_PROPERTY + "', user and password if that does not change");
		}
	}

	private static void examine(Connection connection, ServerJudge.Opening pool, CheckContext context,
			Findings findings) throws SQLException {
		PostgresServer asked = PostgresServer.askWithSettings(connection);
		SettingsExamination.ServerSettings server = asked.settings();
		Finding unsuitable = asked.finding("The application's database", URL_PROPERTY);
		if (unsuitable != null) {
			findings.found(unsuitable);
		}
		if (unsuitable != null || server == null) {
			return;
		}
		findings.seen("PostgreSQL " + server.version());
		findings.seen("room for about " + server.lockTableSize() + " locks");
		checkDriver(connection, findings);
		checkAutoCommit(connection, context, findings);
		endTransaction(connection);
		boolean pooler = asked.isBehindPooler(connection);
		SettingsExamination.examine(server, !pooler, context, findings);
		boolean compares = context.usesTransactions() && context.route().mayLeadToSeveral(pooler);
		try (Connection second = (pooler || compares) ? second(pool, context) : null) {
			boolean begins = !pooler || examinePooler(connection, second, context, findings);
			if (second != null && compares && begins) {
				compare(connection, second, findings);
			}
		}
	}

	/**
	 * Behind a proxy to several servers, each may grant the lock that another one has
	 * granted.
	 */
	private static void compare(Connection one, Connection other, Findings findings) throws SQLException {
		long key = ThreadLocalRandom.current().nextLong();
		boolean autoCommit = one.getAutoCommit();
		one.setAutoCommit(false);
		try {
			String first = tryLock(one, key);
			String second = (first != null) ? tryLock(other, key) : null;
			if (second != null) {
				findings.found(DoctorCheck.LOOK_ALIKE,
						"Two connections of the application's pool get one lock at a time, in " + first + " and in "
								+ second + ", so that locks guard nothing",
						"set '" + URL_PROPERTY + "' to a URL that leads to one server: a proxy to several (PgDog with "
								+ "shards) sends each statement to another one");
			}
		}
		finally {
			one.rollback();
			one.setAutoCommit(autoCommit);
		}
		endTransaction(other);
	}

	private static @Nullable String tryLock(Connection connection, long key) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(DoctorQueries.TRY_LOCK)) {
			statement.setLong(1, key);
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				return row.getBoolean(1) ? row.getString(2) : null;
			}
		}
	}

	private static void checkDriver(Connection connection, Findings findings) {
		if (!DriverAnswers.isOwnerOf(connection)) {
			findings.found(DoctorCheck.FOREIGN_DRIVER, "The driver of the pool's connections can't be asked ("
					+ connection.getClass().getName()
					+ "), so that the server is asked before each commit under a lock whether PostgreSQL has aborted "
					+ "the transaction, and a pooler in front of it goes unnoticed",
					"leave the driver to one class loader: where the container has it, keep 'org.postgresql:postgresql' "
							+ "out of the application, or give the pool to the application; a wrapper around the "
							+ "connections has to answer isWrapperFor and unwrap for PGConnection");
		}
	}

	private static void checkAutoCommit(Connection connection, CheckContext context, Findings findings)
			throws SQLException {
		if (context.usesSession() && !connection.getAutoCommit()) {
			findings.found(DoctorCheck.AUTO_COMMIT,
					"Connections of the pool do not commit by themselves, and what a method of scope SESSION writes "
							+ "outside a transaction is rolled back in silence",
					"add @Transactional to what writes, or set 'auto-commit' of the pool to true");
		}
	}

	/**
	 * Return whether transactions can be begun through the pooler.
	 */
	private static boolean examinePooler(Connection connection, @Nullable Connection second, CheckContext context,
			Findings findings) throws SQLException {
		Pooler pooler = Pooler.between(connection, second);
		findings.seen("pool behind a " + pooler.text());
		if (pooler == Pooler.STATEMENT_MODE && context.usesTransactions()) {
			findings.found(DoctorCheck.TRANSACTION_POOLER,
					"A pooler in statement mode stands in front of the application's database and refuses transactions, so "
							+ "that each method of scope TRANSACTION fails",
					"set 'pool_mode' of the pooler to transaction or session, or '" + URL_PROPERTY
							+ "' to a URL that leads straight to the server");
			return false;
		}
		if (pooler.sharesServers() && context.sessionProperties().isEmpty()) {
			SessionExamination.forgetsTicks("A " + pooler.text() + " stands in front of the application's database",
					context, findings);
		}
		boolean prepares = context.usesTransactions() && DriverAnswers.prepareThreshold(connection) != 0;
		if (pooler == Pooler.TRANSACTION_MODE && prepares && !keepsPreparedStatements(connection)) {
			findings.found(DoctorCheck.PREPARED_STATEMENTS,
					"The driver prepares statements on the server (prepareThreshold="
							+ DriverAnswers.prepareThreshold(connection)
							+ "), and the pooler in front of it does not keep them, so that transactions fail now and then",
					"add 'prepareThreshold=0' to '" + URL_PROPERTY + "', or let the pooler keep prepared statements "
							+ "(PgBouncer 1.21 and 'max_prepared_statements')");
		}
		return pooler != Pooler.STATEMENT_MODE;
	}

	/**
	 * The second connection must not be waited for: somebody may have all others, and a
	 * pool of one has none. One that comes too late is given back.
	 */
	private static @Nullable Connection second(ServerJudge.Opening pool, CheckContext context) {
		Integer poolSize = context.poolSize();
		if (poolSize != null && poolSize < 2) {
			return null;
		}
		CompletableFuture<@Nullable Connection> opening = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				Connection opened = pool.open();
				if (!opening.complete(opened)) {
					opened.close();
				}
			}
			catch (SQLException ex) {
				logger.debug("The pool gave no second connection", ex);
				opening.complete(null);
			}
		}, "advisory-lock-doctor");
		thread.setDaemon(true);
		thread.start();
		Connection second = opening.completeOnTimeout(null, PATIENCE_MILLIS, TimeUnit.MILLISECONDS).join();
		thread.interrupt();
		return second;
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
