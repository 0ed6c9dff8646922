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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Measures what meters add to a call: makes one call of each kind, in a new order each
 * time, over and over in one JVM. What disturbs the machine disturbs all kinds alike, so
 * that the ratios stay the same even where the times don't.
 */
final class MetersMeasurement {

	/**
	 * The just-in-time compiler needs tens of thousands of calls to be done with Spring's
	 * part of a call.
	 */
	private static final int WARM_UP_ROUNDS = 25;

	private static final int ROUNDS = 5;

	private final String url;

	private final int calls;

	MetersMeasurement(String url, int calls) {
		this.url = url;
		this.calls = calls;
	}

	Map<String, Result> run() throws Exception {
		try (MeteredApplication application = new MeteredApplication(this.url)) {
			List<Subject> subjects = new ArrayList<>();
			subjects.addAll(meterSubjects("TRANSACTION, @SingleRunner", application::transaction));
			subjects.addAll(meterSubjects("SESSION, @SingleRunner", application::session));
			subjects.addAll(meterSubjects("busy elsewhere, @SingleRunner", application::busyElsewhere));
			subjects.addAll(
					meterSubjects(MeteredApplication.SKIPS + " times busy here, @SingleRunner", application::busyHere));
			return measure(subjects);
		}
	}

	private static List<Subject> meterSubjects(String name, Consumer<SwitchedObserver.Mode> call) {
		Subject unobserved = new Subject(name, null, () -> call.accept(SwitchedObserver.Mode.UNOBSERVED));
		return List.of(unobserved, unobserved.compared(name + ", the same again", unobserved.call()),
				unobserved.compared(name + ", meters", () -> call.accept(SwitchedObserver.Mode.METERS)),
				unobserved.compared(name + ", observations", () -> call.accept(SwitchedObserver.Mode.OBSERVATIONS)));
	}

	private Map<String, Result> measure(List<Subject> subjects) throws Exception {
		for (int round = 0; round < WARM_UP_ROUNDS; round++) {
			measureRound(subjects);
		}
		Map<Subject, List<Double>> micros = new LinkedHashMap<>();
		Map<Subject, List<Double>> ratios = new LinkedHashMap<>();
		for (int round = 0; round < ROUNDS; round++) {
			Map<Subject, Double> medians = measureRound(subjects);
			for (Subject subject : subjects) {
				double median = medians.getOrDefault(subject, 0.0);
				double baseline = medians.getOrDefault(subject.baselineOrSelf(), 0.0);
				micros.computeIfAbsent(subject, (absent) -> new ArrayList<>()).add(median);
				ratios.computeIfAbsent(subject, (absent) -> new ArrayList<>()).add(median / baseline);
			}
		}
		Map<String, Result> result = new LinkedHashMap<>();
		micros.forEach((subject, values) -> result.put(subject.name(),
				new Result(Spread.of(values), Spread.of(ratios.getOrDefault(subject, List.of())))));
		return result;
	}

	private Map<Subject, Double> measureRound(List<Subject> subjects) throws Exception {
		Map<Subject, double[]> samples = new LinkedHashMap<>();
		subjects.forEach((subject) -> samples.put(subject, new double[this.calls]));
		List<Map.Entry<Subject, double[]>> order = new ArrayList<>(samples.entrySet());
		for (int i = 0; i < this.calls; i++) {
			Collections.shuffle(order);
			for (Map.Entry<Subject, double[]> entry : order) {
				long started = System.nanoTime();
				entry.getKey().call().run();
				entry.getValue()[i] = (System.nanoTime() - started) / 1000.0;
			}
		}
		Map<Subject, Double> medians = new LinkedHashMap<>();
		samples.forEach((subject, values) -> medians.put(subject, median(values)));
		return medians;
	}

	private static double median(double[] values) {
		Arrays.sort(values);
		return values[values.length / 2];
	}

	/**
	 * A call and what it is compared with.
	 */
	private record Subject(String name, @Nullable Subject baseline, Call call) {

		Subject compared(String name, Call call) {
			return new Subject(name, this, call);
		}

		Subject baselineOrSelf() {
			return (this.baseline != null) ? this.baseline : this;
		}

	}

	/**
	 * The median latency of each round, and its ratio to that of the baseline.
	 */
	record Result(Spread micros, Spread ratio) {

	}

}
