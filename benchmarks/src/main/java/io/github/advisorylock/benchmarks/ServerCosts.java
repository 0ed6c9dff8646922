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

package io.github.advisorylock.benchmarks;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.testsupport.CountingSocketFactory;

/**
 * What a call costs the network and the server: round trips, bytes of WAL, transaction
 * ids. Without a WAL record there is nothing to commit durably and nothing to fsync.
 */
final class ServerCosts implements AutoCloseable {

	private static final int ATTEMPTS = 5;

	private static final int WARM_UP = 50;

	private static final String POSITION = "SELECT pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_insert_lsn(), '0/0')::bigint, "
			+ "pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint";

	private final ApplicationState application = new ApplicationState();

	private final ThreadState thread = new ThreadState();

	private final Connection observer;

	private final int calls;

	ServerCosts(String url, int calls) throws SQLException {
		System.setProperty("postgres", CountingSocketFactory.addTo(url));
		this.application.start();
		this.thread.open(this.application);
		this.observer = this.application.open();
		this.calls = calls;
		execute("DROP TABLE IF EXISTS advisory_lock_benchmark");
		execute("CREATE TABLE advisory_lock_benchmark (id bigint)");
	}

	/**
	 * Return the calls by name; the last is there to see that a write is noticed.
	 */
	private Map<String, Call> subjects() {
		GuardedCalls calls = new GuardedCalls();
		Map<String, Call> subjects = new LinkedHashMap<>();
		subjects.put("TRANSACTION, plain JDBC", () -> calls.transactionPlain(this.application, this.thread));
		subjects.put("TRANSACTION, execute", () -> calls.transactionLibrary(this.application, this.thread));
		subjects.put("TRANSACTION, @SingleRunner", () -> calls.transactionAnnotation(this.application));
		subjects.put("TRANSACTION, @SingleRunner @Transactional",
				() -> calls.transactionAnnotationTransactional(this.application));
		subjects.put("SESSION, plain JDBC", () -> calls.sessionPlain(this.thread));
		subjects.put("SESSION, execute", () -> calls.sessionLibrary(this.application, this.thread));
		subjects.put("SESSION, @SingleRunner", () -> calls.sessionAnnotation(this.application));
		subjects.put("busy elsewhere, @SingleRunner", () -> calls.busyAnnotation(this.application));
		subjects.put("busy here, @SingleRunner", () -> calls.localAnnotation(this.application));
		LedgerCalls ledger = new LedgerCalls(this.application);
		subjects.put("PER_TICK, empty", ledger::perTick);
		subjects.put("PER_TICK in SESSION, empty", ledger::perTickInSession);
		subjects.put("ShedLock, empty", new RivalCalls(this.application.jdbcTemplate())::empty);
		subjects.put("PER_KEY, empty", ledger::perKey);
		subjects.put("ALREADY_RAN", ledger::alreadyRan);
		subjects.put("unrecorded, inserts a row", ledger::unrecordedInsert);
		subjects.put("PER_TICK, inserts a row", ledger::perTickInsert);
		subjects.put("control: INSERT of one row",
				() -> this.application.jdbcTemplate().update("INSERT INTO advisory_lock_benchmark VALUES (1)"));
		return subjects;
	}

	Map<String, Double> measureRoundTrips() throws Exception {
		Map<String, Double> result = new LinkedHashMap<>();
		for (Map.Entry<String, Call> subject : subjects().entrySet()) {
			subject.getValue().repeat(WARM_UP);
			long before = CountingSocketFactory.roundTrips();
			subject.getValue().repeat(this.calls);
			result.put(subject.getKey(), (double) (CountingSocketFactory.roundTrips() - before) / this.calls);
		}
		return result;
	}

	Map<String, WalCost> measureWal() throws Exception {
		Map<String, WalCost> result = new LinkedHashMap<>();
		for (Map.Entry<String, Call> subject : subjects().entrySet()) {
			result.put(subject.getKey(), measureWal(subject.getValue()));
		}
		return result;
	}

	private WalCost measureWal(Call call) throws Exception {
		call.repeat(WARM_UP);
		List<Double> busy = new ArrayList<>();
		List<Double> idle = new ArrayList<>();
		List<Double> transactionIds = new ArrayList<>();
		for (int i = 0; i < ATTEMPTS; i++) {
			Position before = position();
			long started = System.nanoTime();
			call.repeat(this.calls);
			long duration = System.nanoTime() - started;
			Position after = position();
			LockSupport.parkNanos(duration);
			busy.add((double) (after.wal() - before.wal()) / this.calls);
			transactionIds.add((double) (after.transactionId() - before.transactionId()) / this.calls);
			idle.add((double) (position().wal() - after.wal()) / this.calls);
		}
		return new WalCost(Spread.of(busy), Spread.of(idle), Spread.of(transactionIds));
	}

	private Position position() throws SQLException {
		try (Statement statement = this.observer.createStatement(); ResultSet row = statement.executeQuery(POSITION)) {
			row.next();
			return new Position(row.getLong(1), row.getLong(2));
		}
	}

	private void execute(String sql) throws SQLException {
		try (Statement statement = this.observer.createStatement()) {
			statement.execute(sql);
		}
	}

	@Override
	public void close() throws SQLException {
		execute("DROP TABLE advisory_lock_benchmark");
		this.observer.close();
		this.thread.close();
		this.application.stop();
	}

	/**
	 * How far the server has come.
	 */
	private record Position(long wal, long transactionId) {

	}

	/**
	 * Bytes of WAL for each call, those of an idle time of the same length divided by the
	 * same number, and transaction ids for each call.
	 */
	record WalCost(Spread bytes, Spread idleBytes, Spread transactionIds) {

		Map<String, Object> toMap() {
			return Map.of("bytesPerCall", this.bytes.toMap(), "idleBytesPerCall", this.idleBytes.toMap(),
					"transactionIdsPerCall", this.transactionIds.toMap());
		}

	}

}
