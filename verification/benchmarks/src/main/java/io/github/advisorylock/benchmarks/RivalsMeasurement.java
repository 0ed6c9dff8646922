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
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.benchmarks.RivalCaller.Kind;
import io.github.advisorylock.testsupport.CountingSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Lets threads make calls of one kind for a moment, then of the next, over and over in
 * one JVM, each under keys of its own; then counts what each kind sends and writes, and
 * what it has the server do.
 */
final class RivalsMeasurement {

	private static final int THREADS = 8;

	private static final int BATCHES = 5;

	private static final int BATCH = 40;

	private final String url;

	private final int warmUpTurns;

	private final int turns;

	private final long turn;

	private final int handOvers;

	RivalsMeasurement(String url, boolean quick) {
		this.url = url;
		this.warmUpTurns = quick ? 10 : 20;
		this.turns = quick ? 5 : 20;
		this.turn = TimeUnit.MILLISECONDS.toNanos(quick ? 15 : 100);
		this.handOvers = quick ? 3 : 50;
	}

	List<Row> run() throws Exception {
		Map<Kind, Spread> handOvers = new EnumMap<>(Kind.class);
		Map<Kind, TurnsMeasurement.Result> alone = withCallers(this.url, 1, (application, callers) -> {
			handOvers.putAll(handOver(application));
			return measure(callers);
		});
		Map<Kind, TurnsMeasurement.Result> together = withCallers(this.url, THREADS,
				(application, callers) -> measure(callers));
		Map<Kind, Cost> costs = withCallers(CountingSocketFactory.addTo(this.url), 1, RivalsMeasurement::count);
		List<Row> rows = new ArrayList<>();
		alone.forEach((kind, result) -> rows
			.add(new Row(kind, result, get(together, kind), get(costs, kind), handOvers.get(kind))));
		return rows;
	}

	private static <T> T get(Map<Kind, T> values, Kind kind) {
		T value = values.get(kind);
		if (value == null) {
			throw new IllegalStateException("Nothing is known of " + kind);
		}
		return value;
	}

	private static <T> T withCallers(String url, int threads, Measurement<T> measurement) throws Exception {
		System.setProperty("postgres", url);
		ApplicationState application = new ApplicationState();
		application.start();
		List<RivalCaller> callers = new ArrayList<>();
		try {
			for (int i = 0; i < threads; i++) {
				callers.add(new RivalCaller(application, i));
			}
			RivalCalls.holdElsewhere(application.jdbcTemplate());
			IntegrationCalls.holdElsewhere(application.jdbcTemplate());
			return measurement.run(application, callers);
		}
		finally {
			for (RivalCaller caller : callers) {
				caller.close();
			}
			application.stop();
		}
	}

	private Map<Kind, TurnsMeasurement.Result> measure(List<RivalCaller> callers) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(callers.size());
		try {
			turns(this.warmUpTurns, callers, executor);
			Map<Kind, List<Double>> micros = turns(this.turns, callers, executor);
			Map<Kind, TurnsMeasurement.Result> results = new EnumMap<>(Kind.class);
			micros.forEach((kind, values) -> results.put(kind, new TurnsMeasurement.Result(Spread.of(values),
					Spread.of(ratios(values, get(micros, kind.baseline()))))));
			return results;
		}
		finally {
			executor.shutdown();
		}
	}

	private Map<Kind, List<Double>> turns(int count, List<RivalCaller> callers, ExecutorService executor)
			throws Exception {
		Map<Kind, List<Double>> micros = new EnumMap<>(Kind.class);
		for (int i = 0; i < count; i++) {
			for (Kind kind : Kind.values()) {
				micros.computeIfAbsent(kind, (absent) -> new ArrayList<>()).add(turn(kind, callers, executor));
			}
		}
		return micros;
	}

	/**
	 * Return the median of a turn, in microseconds.
	 */
	private double turn(Kind kind, List<RivalCaller> callers, ExecutorService executor) throws Exception {
		long end = System.nanoTime() + this.turn;
		List<Future<List<Double>>> futures = new ArrayList<>();
		for (RivalCaller caller : callers) {
			futures.add(executor.submit(() -> caller.callUntil(kind, end)));
		}
		List<Double> samples = new ArrayList<>();
		for (Future<List<Double>> future : futures) {
			samples.addAll(future.get());
		}
		Collections.sort(samples);
		return samples.get(samples.size() / 2);
	}

	private static List<Double> ratios(List<Double> values, List<Double> baselines) {
		List<Double> ratios = new ArrayList<>();
		for (int i = 0; i < values.size(); i++) {
			ratios.add(values.get(i) / baselines.get(i));
		}
		return ratios;
	}

	private Map<Kind, Spread> handOver(ApplicationState application) throws Exception {
		try (HandOver handOver = new HandOver(application, this.handOvers)) {
			return handOver.run();
		}
	}

	private static Map<Kind, Cost> count(ApplicationState application, List<RivalCaller> callers) throws Exception {
		Map<Kind, Cost> costs = new EnumMap<>(Kind.class);
		try (Connection observer = application.open()) {
			for (Kind kind : Kind.values()) {
				costs.put(kind, count(() -> callers.get(0).call(kind), observer));
			}
		}
		return costs;
	}

	/**
	 * Return the counts of most calls, and the least processor time of several batches,
	 * as what else goes on adds to a batch and takes nothing away.
	 */
	private static Cost count(Call call, Connection observer) throws Exception {
		Counts counts = new CallCounter(observer).count(call);
		ProcessorClock clock = new ProcessorClock(observer);
		double micros = Double.MAX_VALUE;
		for (int i = 0; i < BATCHES; i++) {
			long nanosBefore = nanos(clock);
			call.repeat(BATCH);
			micros = Math.min(micros, (nanos(clock) - nanosBefore) / 1000.0 / BATCH);
		}
		return new Cost(counts, micros);
	}

	private static long nanos(ProcessorClock clock) throws IOException {
		return ProcessorClock.isSupported() ? clock.serverNanos() : 0;
	}

	/**
	 * What a call costs; the processor time is that of the server, in microseconds.
	 */
	record Cost(Counts counts, double serverMicros) {

	}

	/**
	 * A kind of call: its latency from one thread and from several, its cost, and how
	 * many milliseconds one that waits takes to begin.
	 */
	record Row(Kind kind, TurnsMeasurement.Result alone, TurnsMeasurement.Result together, Cost cost,
			@Nullable Spread handOver) {

	}

	/**
	 * Measures something.
	 *
	 * @param <T> what comes of it
	 */
	@FunctionalInterface
	private interface Measurement<T> {

		T run(ApplicationState application, List<RivalCaller> callers) throws Exception;

	}

}
