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
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

import io.github.advisorylock.benchmarks.GuardedCost.Baseline;
import io.github.advisorylock.testsupport.CountingSocketFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Measures whether calls cost what {@link GuardedCost} says, in a JVM of its own, as what
 * the compiler has seen before changes what it makes of a call.
 */
public final class CostGuard implements AutoCloseable {

	/**
	 * The property by which part of its processor time each call is made slower, to see
	 * the guard notice.
	 */
	static final String SLOWER = "benchmarks.slower";

	/**
	 * The property that gives each eleventh call another statement, to see the guard
	 * notice.
	 */
	static final String MORE_STATEMENTS = "benchmarks.more-statements";

	/**
	 * The property that leaves out what a busy machine changes, ratios of processor time.
	 */
	static final String COUNTS_ONLY = "benchmarks.counts-only";

	private static final int EACH_OF_MORE_STATEMENTS = 11;

	private static final int CALLS_OF_TURN = 20;

	private static final int CALLS_OF_TURN_OF_8 = 20;

	private static final int TURNS = 70;

	private static final int WARM_UP_TURNS = 300;

	/**
	 * How often to measure, as a machine that has nothing else to do wakes up slowly, and
	 * is in such a mood for some seconds: the median decides.
	 */
	private static final int ATTEMPTS = 5;

	/**
	 * How often counts may be disturbed by what an application does at times.
	 */
	private static final int COUNTS = 10;

	private static final int SKIPS = 100;

	private final ApplicationState application;

	private final ThreadState thread;

	private final Connection observer;

	private final GuardedCalls guarded = new GuardedCalls();

	private final Map<GuardedCost, Call> calls = new EnumMap<>(GuardedCost.class);

	private final Map<GuardedCost, Row> rows = new EnumMap<>(GuardedCost.class);

	private CostGuard(String url) throws SQLException {
		this.application = new ApplicationState(CountingSocketFactory.addTo(url));
		this.thread = new ThreadState(this.application);
		this.observer = this.application.open();
		LedgerCalls ledger = new LedgerCalls(this.application);
		this.calls.put(GuardedCost.TRANSACTION_EXECUTE,
				() -> this.guarded.transactionLibrary(this.application, this.thread));
		this.calls.put(GuardedCost.TRANSACTION_ANNOTATION, () -> this.guarded.transactionAnnotation(this.application));
		this.calls.put(GuardedCost.TRANSACTION_TRANSACTIONAL,
				() -> this.guarded.transactionAnnotationTransactional(this.application));
		this.calls.put(GuardedCost.SESSION_EXECUTE, () -> this.guarded.sessionLibrary(this.application, this.thread));
		this.calls.put(GuardedCost.SESSION_ANNOTATION, () -> this.guarded.sessionAnnotation(this.application));
		this.calls.put(GuardedCost.BUSY_ELSEWHERE, () -> this.guarded.busyAnnotation(this.application));
		Call skip = () -> this.guarded.localAnnotation(this.application);
		this.calls.put(GuardedCost.BUSY_HERE, () -> skip.repeat(SKIPS));
		this.calls.put(GuardedCost.PER_TICK, ledger::perTick);
		this.calls.put(GuardedCost.PER_TICK_IN_SESSION, ledger::perTickInSession);
		this.calls.put(GuardedCost.PER_KEY, ledger::perKey);
		this.calls.put(GuardedCost.ALREADY_RAN, ledger::alreadyRan);
		if (Boolean.getBoolean(MORE_STATEMENTS)) {
			this.calls.replaceAll((cost, call) -> withMoreStatements(call));
		}
	}

	/**
	 * Measure.
	 * @param args the URL of the server, and where to write the results to
	 */
	public static void main(String[] args) throws Exception {
		try (CostGuard guard = new CostGuard(args[0])) {
			guard.measure();
			Files.write(Path.of(args[1]), guard.rows.values().stream().map(Row::toLine).toList());
		}
		// Not all that a rival has started ends
		System.exit(0);
	}

	private Call withMoreStatements(Call call) {
		int[] count = new int[1];
		return () -> {
			call.run();
			if (++count[0] % EACH_OF_MORE_STATEMENTS == 0) {
				this.application.jdbcTemplate().execute("SELECT 1");
			}
		};
	}

	private void measure() throws Exception {
		for (GuardedCost cost : GuardedCost.values()) {
			this.rows.put(cost, new Row(cost, count(cost), 0, 0));
		}
		if (ProcessorClock.isSupported() && !Boolean.getBoolean(COUNTS_ONLY)) {
			measureRatios();
			measureRatiosOf8();
		}
	}

	/**
	 * Return the counts of a call, which are those that are allowed if they were that
	 * once: a pool that looks after its connections adds to them at times.
	 */
	private @Nullable Counts count(GuardedCost cost) throws Exception {
		Counts allowed = cost.counts();
		if (allowed == null) {
			return null;
		}
		CallCounter counter = new CallCounter(this.observer);
		Counts counts = counter.count(call(cost));
		for (int i = 1; i < COUNTS && !counts.differences(allowed).isEmpty(); i++) {
			System.out.println("Counted once more: " + cost + counts.differences(allowed));
			counts = counter.count(call(cost));
		}
		return counts;
	}

	private void measureRatios() throws Exception {
		Map<Baseline, Call> baselines = new EnumMap<>(Baseline.class);
		RivalCalls shedLock = new RivalCalls(this.application.jdbcTemplate());
		baselines.put(Baseline.TRANSACTION, () -> this.guarded.transactionPlain(this.application, this.thread));
		baselines.put(Baseline.SESSION, () -> this.guarded.sessionPlain(this.thread));
		baselines.put(Baseline.BUSY, () -> this.guarded.busyPlain(this.application));
		baselines.put(Baseline.SHEDLOCK, shedLock::empty);
		baselines.put(Baseline.SHEDLOCK_BY_KEY, shedLock::oncePerKey);
		measureRatios(new OneCaller(), this.calls, baselines);
	}

	private void measureRatiosOf8() throws Exception {
		try (CallingThreads threads = new CallingThreads(this.application, 8, CALLS_OF_TURN_OF_8)) {
			measureRatios(threads, Map.of(GuardedCost.TRANSACTION_OF_8,
					() -> this.guarded.transactionLibrary(this.application, threads.state()), GuardedCost.SESSION_OF_8,
					() -> this.guarded.sessionLibrary(this.application, threads.state())),
					Map.of(Baseline.TRANSACTION, () -> this.guarded.transactionPlain(this.application, threads.state()),
							Baseline.SESSION, () -> this.guarded.sessionPlain(threads.state())));
		}
	}

	/**
	 * Find the median ratio of each call in some attempts.
	 */
	private void measureRatios(PairedTurns.Callers callers, Map<GuardedCost, Call> calls, Map<Baseline, Call> baselines)
			throws Exception {
		PairedTurns turns = new PairedTurns(this.observer, callers, calls, baselines);
		turns.warmUp(WARM_UP_TURNS);
		double slower = Double.parseDouble("0" + System.getProperty(SLOWER, ""));
		if (slower > 0) {
			Map<GuardedCost, Call> slowed = new EnumMap<>(GuardedCost.class);
			for (Map.Entry<GuardedCost, Call> entry : calls.entrySet()) {
				long nanos = (long) (nanos(callers, entry.getValue()) * slower);
				slowed.put(entry.getKey(), slowed(entry.getValue(), nanos));
			}
			turns = new PairedTurns(this.observer, callers, slowed, baselines);
		}
		Map<GuardedCost, List<PairedTurns.Ratio>> attempts = new EnumMap<>(GuardedCost.class);
		for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
			Map<GuardedCost, PairedTurns.Ratio> measured = turns.measure(TURNS);
			System.out.println("Attempt " + attempt + ": " + measured);
			measured.forEach((cost, ratio) -> {
				List<PairedTurns.Ratio> ratios = attempts.computeIfAbsent(cost, (absent) -> new ArrayList<>());
				ratios.add(ratio);
				Row row = this.rows.getOrDefault(cost, new Row(cost, null, 0, 0));
				this.rows.put(cost, new Row(cost, row.counts(), median(ratios, PairedTurns.Ratio::value),
						median(ratios, PairedTurns.Ratio::noise)));
			});
		}
	}

	private static double median(List<PairedTurns.Ratio> ratios, ToDoubleFunction<PairedTurns.Ratio> figure) {
		return Spread.of(ratios.stream().mapToDouble(figure).boxed().toList()).median();
	}

	/**
	 * Return how long a call takes.
	 */
	private double nanos(PairedTurns.Callers callers, Call call) throws Exception {
		ProcessorClock clock = new ProcessorClock(this.observer);
		List<Double> nanos = new ArrayList<>();
		for (int i = 0; i < TURNS; i++) {
			nanos.add((double) clock.time(() -> callers.make(call)) / callers.calls());
		}
		return Spread.of(nanos).median();
	}

	private static Call slowed(Call call, long nanos) {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		return () -> {
			call.run();
			long end = threads.getCurrentThreadCpuTime() + nanos;
			while (threads.getCurrentThreadCpuTime() < end) {
				Thread.onSpinWait();
			}
		};
	}

	private Call call(GuardedCost cost) {
		Call call = this.calls.get(cost);
		if (call == null) {
			throw new IllegalStateException("Nothing is measured for " + cost);
		}
		return call;
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
	record Row(GuardedCost cost, @Nullable Counts counts, double ratio, double noise) {

		/**
		 * Say what differs from what is allowed.
		 * @return an empty text if nothing does
		 */
		String differences() {
			Counts allowed = this.cost.counts();
			return (this.counts != null && allowed != null) ? this.counts.differences(allowed) : "";
		}

		String toLine() {
			Counts counts = (this.counts != null) ? this.counts : new Counts(0, 0, 0, 1);
			return String.join(" ", this.cost.name(), String.valueOf(counts.roundTrips()),
					String.valueOf(counts.statements()), String.valueOf(counts.walBytes()),
					String.valueOf(counts.share()), String.valueOf(this.ratio), String.valueOf(this.noise));
		}

		static Row parse(String line) {
			String[] parts = line.split(" ", -1);
			Assert.isTrue(parts.length == 7, () -> "Not a row: " + line);
			GuardedCost cost = GuardedCost.valueOf(parts[0]);
			Counts counts = new Counts(Double.parseDouble(parts[1]), Double.parseDouble(parts[2]),
					Long.parseLong(parts[3]), Double.parseDouble(parts[4]));
			return new Row(cost, (cost.counts() != null) ? counts : null, Double.parseDouble(parts[5]),
					Double.parseDouble(parts[6]));
		}

	}

	/**
	 * The current thread.
	 */
	private static final class OneCaller implements PairedTurns.Callers {

		@Override
		public void make(Call call) throws Exception {
			call.repeat(CALLS_OF_TURN);
		}

		@Override
		public int calls() {
			return CALLS_OF_TURN;
		}

	}

}
