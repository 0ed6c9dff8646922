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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.testsupport.CountingSocketFactory;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Lets threads make calls of one kind for a moment, then of the next, in a new order each
 * time, over and over in one JVM. What disturbs the machine disturbs all kinds alike, so
 * that ratios stay the same even where times don't. Each thread has keys of its own.
 */
final class CostMeasurement {

	static final int THREADS = 8;

	private static final Duration WIRE = Duration.ofMillis(1);

	private static final int BLOCKS = 5;

	private final String url;

	private final int roundsOfBlock;

	private final int warmUpRounds;

	private final long turn;

	CostMeasurement(String url, boolean quick) {
		this.url = CountingSocketFactory.addTo(url);
		this.roundsOfBlock = quick ? 1 : 9;
		this.warmUpRounds = quick ? 1 : 5;
		this.turn = TimeUnit.MILLISECONDS.toNanos(quick ? 5 : 40);
	}

	CostResults run() throws Exception {
		// ticks are forgotten at a heartbeat, and many locks slow a session down
		System.setProperty("advisory-lock.session.heartbeat", "100ms");
		ApplicationState application = new ApplicationState(this.url);
		List<CostCaller> callers = new ArrayList<>();
		try {
			for (int i = 0; i < THREADS; i++) {
				callers.add(new CostCaller(application, i));
			}
			RivalCalls.holdElsewhere(application.jdbcTemplate());
			IntegrationCalls.holdElsewhere(application.jdbcTemplate());
			Map<CostCall, Counts> counts = count(application, callers.get(0));
			// the compiler needs tens of thousands of calls
			rounds(this.warmUpRounds * 5, callers.subList(0, 1), new SimpleAsyncTaskExecutor());
			Map<CostSetting, Map<CostCall, List<Double>>> medians = new LinkedHashMap<>();
			for (CostSetting setting : CostSetting.possible()) {
				medians.put(setting, measure(setting, callers));
			}
			return new CostResults(counts, medians);
		}
		finally {
			CountingSocketFactory.delay(Duration.ZERO);
			System.clearProperty("advisory-lock.session.heartbeat");
			for (CostCaller caller : callers) {
				caller.close();
			}
			application.stop();
		}
	}

	private static Map<CostCall, Counts> count(ApplicationState application, CostCaller caller) throws Exception {
		Map<CostCall, Counts> counts = new EnumMap<>(CostCall.class);
		try (Connection observer = application.open()) {
			CallCounter counter = new CallCounter(observer);
			for (CostCall call : CostCall.values()) {
				counts.put(call, counter.count(() -> caller.call(call)));
			}
		}
		return counts;
	}

	/**
	 * Return the median microseconds of each block.
	 */
	private Map<CostCall, List<Double>> measure(CostSetting setting, List<CostCaller> all) throws Exception {
		CountingSocketFactory.delay(setting.wire() ? WIRE : Duration.ZERO);
		SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor();
		executor.setVirtualThreads(setting.virtual());
		List<CostCaller> callers = all.subList(0, setting.threads());
		rounds(this.warmUpRounds, callers, executor);
		Map<CostCall, List<Double>> medians = new EnumMap<>(CostCall.class);
		for (int block = 0; block < BLOCKS; block++) {
			rounds(this.roundsOfBlock, callers, executor)
				.forEach((call, micros) -> medians.computeIfAbsent(call, (absent) -> new ArrayList<>())
					.add(Spread.of(micros).median()));
		}
		return medians;
	}

	private Map<CostCall, List<Double>> rounds(int count, List<CostCaller> callers, Executor executor)
			throws Exception {
		Map<CostCall, List<Double>> micros = new EnumMap<>(CostCall.class);
		List<CostCall> order = Arrays.asList(CostCall.values());
		for (int i = 0; i < count; i++) {
			Collections.shuffle(order);
			for (CostCall call : order) {
				micros.computeIfAbsent(call, (absent) -> new ArrayList<>()).addAll(turn(call, callers, executor));
			}
		}
		return micros;
	}

	private List<Double> turn(CostCall call, List<CostCaller> callers, Executor executor) throws Exception {
		long end = System.nanoTime() + this.turn;
		List<FutureTask<List<Double>>> tasks = callers.stream()
			.map((caller) -> new FutureTask<>(() -> caller.callUntil(call, end)))
			.toList();
		tasks.forEach(executor::execute);
		List<Double> micros = new ArrayList<>();
		for (FutureTask<List<Double>> task : tasks) {
			micros.addAll(task.get());
		}
		return micros;
	}

}
