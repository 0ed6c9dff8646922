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

import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.testsupport.CountingSocketFactory;

/**
 * Measures whether calls cost more than {@link GuardedCost} allows. Counts are the least
 * of several attempts, as heartbeats, a pool that looks after its connections and pages
 * that fill up add to some of them and take away from none. Ratios are of processor time,
 * from short turns, and may differ from their bounds by what the baseline differs from
 * itself.
 */
final class CostGuard implements AutoCloseable {

	private static final int COUNTED_CALLS = 10;

	private static final int COUNTS = 30;

	private static final int CALLS_OF_TURN = 50;

	private static final int TURNS = 60;

	private static final int WARM_UP_TURNS = 200;

	/**
	 * How often in a row something has to look too dear before it is: chance does not
	 * strike each time.
	 */
	private static final int ATTEMPTS = 3;

	private static final String POSITION = "SELECT pg_catalog.pg_wal_lsn_diff("
			+ "pg_catalog.pg_current_wal_insert_lsn(), '0/0')::bigint";

	private final ApplicationState application = new ApplicationState();

	private final ThreadState thread = new ThreadState();

	private final Connection observer;

	private final Map<GuardedCost, Call> calls = new EnumMap<>(GuardedCost.class);

	private final Map<GuardedCost, Call> baselines = new EnumMap<>(GuardedCost.class);

	/**
	 * The same as some baselines once more: what they differ by is noise.
	 */
	private final Map<Call, Call> repeated;

	private final List<Row> rows = new ArrayList<>();

	private final List<String> excesses = new ArrayList<>();

	CostGuard(String url) throws SQLException {
		System.setProperty("postgres", CountingSocketFactory.addTo(url));
		this.application.start();
		this.thread.open(this.application);
		this.observer = this.application.open();
		GuardedCalls guarded = new GuardedCalls();
		LedgerCalls ledger = new LedgerCalls(this.application);
		Call transaction = () -> guarded.transactionPlain(this.application, this.thread);
		Call session = () -> guarded.sessionPlain(this.thread);
		this.repeated = Map.of(() -> guarded.transactionPlain(this.application, this.thread), transaction,
				() -> guarded.sessionPlain(this.thread), session);
		add(GuardedCost.TRANSACTION_EXECUTE, () -> guarded.transactionLibrary(this.application, this.thread),
				transaction);
		add(GuardedCost.TRANSACTION_ANNOTATION, () -> guarded.transactionAnnotation(this.application), transaction);
		add(GuardedCost.TRANSACTION_TRANSACTIONAL, () -> guarded.transactionAnnotationTransactional(this.application),
				transaction);
		add(GuardedCost.SESSION_EXECUTE, () -> guarded.sessionLibrary(this.application, this.thread), session);
		add(GuardedCost.SESSION_ANNOTATION, () -> guarded.sessionAnnotation(this.application), session);
		add(GuardedCost.BUSY_ELSEWHERE, () -> guarded.busyAnnotation(this.application),
				() -> guarded.busyPlain(this.application));
		this.calls.put(GuardedCost.BUSY_HERE, () -> guarded.localAnnotation(this.application));
		this.calls.put(GuardedCost.PER_TICK, ledger::perTick);
		this.calls.put(GuardedCost.PER_TICK_IN_SESSION, ledger::perTickInSession);
		this.calls.put(GuardedCost.PER_KEY, ledger::perKey);
		this.calls.put(GuardedCost.ALREADY_RAN, ledger::alreadyRan);
	}

	private void add(GuardedCost cost, Call call, Call baseline) {
		this.calls.put(cost, call);
		this.baselines.put(cost, baseline);
	}

	void measure() throws Exception {
		Map<GuardedCost, Double> ratios = ProcessorClock.isSupported() ? measureRatios() : Map.of();
		for (GuardedCost cost : GuardedCost.values()) {
			Call call = call(this.calls, cost);
			long trips = least(call, CountingSocketFactory::roundTrips, COUNTED_CALLS);
			long statements = least(call, CountingSocketFactory::statements, COUNTED_CALLS);
			long wal = least(call, this::position, 1);
			compare(cost, "round trips", trips, cost.roundTrips());
			compare(cost, "statements", statements, cost.statements());
			compare(cost, "bytes of WAL", wal, cost.walBytes(InstanceName.get()));
			this.rows.add(new Row(cost, trips, statements, wal, ratios.getOrDefault(cost, 0.0)));
		}
	}

	private void compare(GuardedCost cost, String what, long measured, long bound) {
		if (measured > bound) {
			this.excesses.add("%s: %d %s, and not %d".formatted(cost.description(), measured, what, bound));
		}
	}

	/**
	 * Return by how much a counter goes up with each of some calls.
	 */
	private static long least(Call call, Counter counter, int calls) throws Exception {
		call.repeat(COUNTS);
		long least = Long.MAX_VALUE;
		for (int i = 0; i < COUNTS; i++) {
			long before = counter.count();
			call.repeat(calls);
			least = Math.min(least, counter.count() - before);
		}
		return (least + calls - 1) / calls;
	}

	private long position() throws SQLException {
		try (Statement statement = this.observer.createStatement(); ResultSet row = statement.executeQuery(POSITION)) {
			row.next();
			return row.getLong(1);
		}
	}

	/**
	 * Return the least ratio of each call that has a baseline.
	 */
	private Map<GuardedCost, Double> measureRatios() throws Exception {
		turn(WARM_UP_TURNS);
		Map<GuardedCost, Double> ratios = new EnumMap<>(GuardedCost.class);
		Map<GuardedCost, String> tooDear = new EnumMap<>(GuardedCost.class);
		for (int attempt = 0; attempt == 0 || (attempt < ATTEMPTS && !tooDear.isEmpty()); attempt++) {
			Map<Call, List<Double>> turns = turn(TURNS);
			double noise = noise(turns);
			boolean first = attempt == 0;
			this.baselines.forEach((cost, baseline) -> {
				double ratio = ratio(turns, call(this.calls, cost), baseline);
				ratios.merge(cost, ratio, Math::min);
				if (ratio <= cost.processorRatio() * (1 + noise)) {
					tooDear.remove(cost);
				}
				else if (first || tooDear.containsKey(cost)) {
					tooDear.put(cost, "%s: %.2f times the processor time of plain JDBC, and not %.2f (noise %.2f)"
						.formatted(cost.description(), ratio, cost.processorRatio(), noise));
				}
			});
		}
		this.excesses.addAll(tooDear.values());
		return ratios;
	}

	private double noise(Map<Call, List<Double>> turns) {
		return this.repeated.entrySet()
			.stream()
			.mapToDouble((entry) -> Math.abs(ratio(turns, entry.getKey(), entry.getValue()) - 1))
			.max()
			.orElse(0);
	}

	private static double ratio(Map<Call, List<Double>> turns, Call call, Call baseline) {
		List<Double> own = turns.getOrDefault(call, List.of());
		List<Double> compared = turns.getOrDefault(baseline, List.of());
		List<Double> ratios = new ArrayList<>();
		for (int i = 0; i < own.size(); i++) {
			ratios.add(own.get(i) / compared.get(i));
		}
		return Spread.of(ratios).median();
	}

	/**
	 * Let each have its turns, in another order each time.
	 */
	private Map<Call, List<Double>> turn(int count) throws Exception {
		Map<Call, List<Double>> turns = new LinkedHashMap<>();
		this.baselines.forEach((cost, baseline) -> {
			turns.put(baseline, new ArrayList<>());
			turns.put(call(this.calls, cost), new ArrayList<>());
		});
		this.repeated.keySet().forEach((call) -> turns.put(call, new ArrayList<>()));
		List<Call> order = new ArrayList<>(turns.keySet());
		for (int i = 0; i < count; i++) {
			// The library may have opened another connection meanwhile
			ProcessorClock clock = new ProcessorClock(this.observer);
			Collections.shuffle(order);
			for (Call call : order) {
				turns.getOrDefault(call, List.of()).add(time(call, clock));
			}
		}
		return turns;
	}

	private static double time(Call call, ProcessorClock clock) throws Exception {
		long before = clock.nanos();
		call.repeat(CALLS_OF_TURN);
		return clock.nanos() - before;
	}

	private static Call call(Map<GuardedCost, Call> calls, GuardedCost cost) {
		Call call = calls.get(cost);
		if (call == null) {
			throw new IllegalStateException("Nothing is measured for " + cost);
		}
		return call;
	}

	List<Row> rows() {
		return this.rows;
	}

	/**
	 * Return what was dearer than it may be.
	 */
	List<String> excesses() {
		return this.excesses;
	}

	@Override
	public void close() throws SQLException, IOException {
		this.observer.close();
		this.thread.close();
		this.application.stop();
	}

	/**
	 * What one call has cost.
	 */
	record Row(GuardedCost cost, long roundTrips, long statements, long walBytes, double ratio) {

	}

	/**
	 * Something that goes up.
	 */
	@FunctionalInterface
	private interface Counter {

		long count() throws Exception;

	}

}
