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

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.testsupport.CountingSocketFactory;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.util.Statistics;

/**
 * Measures with JMH. Runs all cases one after the other, each in a fresh JVM, and then
 * all of them again: a case and its baseline are compared within a round, seconds apart,
 * and the rounds show how much the machine wavers.
 */
final class LatencyMeasurement {

	private final Settings settings;

	private final String url;

	private final Duration wire;

	private final Map<LatencyCase, List<Double>> medians = new EnumMap<>(LatencyCase.class);

	private final Map<LatencyCase, List<Double>> means = new EnumMap<>(LatencyCase.class);

	/**
	 * Create a measurement.
	 * @param wire how much longer each round trip takes
	 */
	LatencyMeasurement(Settings settings, String url, Duration wire) {
		this.settings = settings;
		this.url = wire.isZero() ? url : CountingSocketFactory.addTo(url);
		this.wire = wire;
	}

	LatencyResults run() throws RunnerException {
		for (int round = 0; round < this.settings.rounds(); round++) {
			for (LatencyCase latencyCase : LatencyCase.values()) {
				if (latencyCase.isPossible() && this.settings.cases().matcher(latencyCase.name()).matches()) {
					measure(latencyCase);
				}
			}
		}
		return new LatencyResults(this.medians, this.means);
	}

	private void measure(LatencyCase latencyCase) throws RunnerException {
		ChainedOptionsBuilder options = new OptionsBuilder()
			.include("\\." + GuardedCalls.class.getSimpleName() + "\\." + latencyCase.method() + "$")
			.threads(latencyCase.threads())
			.forks(1)
			.jvmArgsAppend("-Dpostgres=" + this.url, "-Dbenchmarks.wire=" + this.wire)
			.warmupIterations(this.settings.warmUpSeconds())
			.warmupTime(TimeValue.seconds(1))
			.measurementIterations(this.settings.seconds())
			.measurementTime(TimeValue.seconds(1))
			.shouldFailOnError(true);
		this.settings.profilers().forEach(options::addProfiler);
		if (latencyCase.isVirtual()) {
			options.jvmArgsAppend("-Dpostgres=" + this.url, "-Dbenchmarks.wire=" + this.wire, "-Djmh.executor=VIRTUAL");
		}
		RunResult result = new Runner(options.build()).runSingle();
		Statistics statistics = result.getPrimaryResult().getStatistics();
		add(this.medians, latencyCase, statistics.getPercentile(50) / 1000);
		add(this.means, latencyCase, statistics.getMean() / 1000);
	}

	private static void add(Map<LatencyCase, List<Double>> results, LatencyCase latencyCase, double value) {
		results.computeIfAbsent(latencyCase, (absent) -> new ArrayList<>()).add(value);
	}

}
