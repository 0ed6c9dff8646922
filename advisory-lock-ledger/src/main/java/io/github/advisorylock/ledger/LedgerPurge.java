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

package io.github.advisorylock.ledger;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.AdvisoryLockKey;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.util.Assert;

/**
 * Forgets, in batches, what whoever wrote it has not promised to remember any longer.
 * Each batch is one statement and a transaction of its own, and one instance at a time
 * has one, of all applications that have the same database.
 */
final class LedgerPurge {

	private static final Log logger = LogFactory.getLog(LedgerPurge.class);

	private static final String CANCELLED = "57014";

	/**
	 * The lock of whoever keeps house, or changes the tables.
	 */
	static final long LOCK = AdvisoryLockKey.of(PostgresAdvisoryLockLedger.HOUSEKEEPING_KEY).value();

	/**
	 * A row that is deleted costs three pages, a job that must be asked for its last run
	 * three times, and a run that is ended, with its indexes and its job, ten times as
	 * many.
	 */
	private static final int MOST_ROWS = 1000;

	private static final int MOST_LOST_RUNS = 100;

	private static final long LONGEST_CANCEL = TimeUnit.SECONDS.toNanos(1);

	private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

	private final LedgerConnections connections;

	private final LedgerStatements statements;

	private volatile @Nullable PreparedStatement running;

	LedgerPurge(LedgerConnections connections, LedgerStatements statements) {
		this.connections = connections;
		this.statements = statements;
	}

	/**
	 * Take a round, unless somebody has had one lately.
	 * @param period until when nobody else gets one
	 */
	boolean claimRound(Duration period) {
		MapSqlParameterSource parameters = new MapSqlParameterSource("round",
				PostgresAdvisoryLockLedger.HOUSEKEEPING_KEY)
			.addValue("period", LedgerSettings.micros(period));
		return Boolean.TRUE.equals(this.connections.apart((apart) -> apart.execute(this.statements.claimRound(),
				parameters, (statement) -> cancellable(statement, () -> statement.executeUpdate() == 1, false))));
	}

	/**
	 * Give up runs whose lock nobody has.
	 */
	Work lostRuns() {
		return new Work(this.statements.abandonRuns(), Map.of(), 0L, MOST_LOST_RUNS);
	}

	/**
	 * Forget what is older than was promised.
	 */
	List<Work> outdated() {
		return List.of(new Work(this.statements.purgeCompletions(), Map.of(), OffsetDateTime.MIN, MOST_ROWS),
				new Work(this.statements.purgeRuns(), Map.of(), OffsetDateTime.MIN, MOST_ROWS),
				new Work(this.statements.purgeJobs(), Map.of(), OffsetDateTime.MIN, MOST_ROWS / 2),
				new Work(this.statements.purgeInstances(), Map.of(), OffsetDateTime.MIN, MOST_ROWS));
	}

	/**
	 * Cut the history of a key.
	 */
	Work runsOf(JobName name, int kept) {
		return new Work(this.statements.purgeRunsOfKey(),
				Map.of("namespace", name.namespace(), "key", name.key(), "kept", kept), 0L, MOST_ROWS);
	}

	/**
	 * Do some of it.
	 * @param after where to go on
	 * @param size how many rows at most
	 * @throws QueryTimeoutException if the server thinks that this takes too long
	 */
	Batch execute(Work work, Object after, int size) {
		MapSqlParameterSource parameters = new MapSqlParameterSource(work.parameters()).addValue("after", after)
			.addValue("lock", LOCK)
			.addValue("batch", size);
		Batch batch = this.connections
			.apart((apart) -> apart.execute(work.sql(), parameters, (statement) -> execute(statement, after)));
		Assert.state(batch != null, "'batch' must not be null");
		return batch;
	}

	private Batch execute(PreparedStatement statement, Object after) throws SQLException {
		return cancellable(statement, () -> {
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				Object last = row.getObject(3, after.getClass());
				return new Batch(row.getBoolean(1), row.getInt(2), (last != null) ? last : after);
			}
		}, new Batch(false, 0, after));
	}

	/**
	 * Ask the server, unless that is cancelled.
	 * @param otherwise what is answered where it was before the server is asked
	 */
	private <T> T cancellable(PreparedStatement statement, Answer<T> answer, T otherwise) throws SQLException {
		this.running = statement;
		try {
			// whoever cancels interrupts before
			return Thread.currentThread().isInterrupted() ? otherwise : answer.get();
		}
		catch (SQLException ex) {
			if (CANCELLED.equals(ex.getSQLState())) {
				throw new QueryTimeoutException("Failed to purge the ledger of advisory locks in time", ex);
			}
			throw ex;
		}
		finally {
			this.running = null;
		}
	}

	/**
	 * End the statement that is under way on an interrupted thread, if there is one: it
	 * may wait for whoever changes a table. The driver forgets what is said of one that
	 * is just about to begin, so that is said until it has ended, for a moment at most.
	 */
	void cancel() {
		PreparedStatement statement = this.running;
		long start = System.nanoTime();
		try {
			while (statement != null && statement == this.running && System.nanoTime() - start < LONGEST_CANCEL) {
				statement.cancel();
				LockSupport.parkNanos(PAUSE);
			}
		}
		catch (SQLException ex) {
			logger.debug("The purge of the ledger could not be cancelled", ex);
		}
	}

	/**
	 * Something to do in batches.
	 *
	 * @param sql a statement for one batch
	 * @param parameters those that do not change
	 * @param first where it begins
	 * @param most how many rows at most a batch may have
	 */
	record Work(String sql, Map<String, ?> parameters, Object first, int most) {

	}

	/**
	 * What came of a batch.
	 *
	 * @param mine whether it was this instance's turn
	 * @param rows how many rows it had
	 * @param last where the next batch goes on
	 */
	record Batch(boolean mine, int rows, Object last) {

	}

	/**
	 * Asks the server.
	 *
	 * @param <T> what it answers
	 */
	@FunctionalInterface
	private interface Answer<T> {

		T get() throws SQLException;

	}

}
