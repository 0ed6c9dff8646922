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
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

import io.github.advisorylock.benchmarks.GuardedCost.Baseline;

/**
 * Lets calls and their baselines have short turns, in another order each time, and
 * compares the processor time of those that were made right after each other. What the
 * machine does beside them slows both sides of such a pair.
 */
final class PairedTurns {

	private final Connection observer;

	private final Callers callers;

	private final Map<GuardedCost, Call> calls;

	private final Map<Baseline, Call> baselines;

	/**
	 * Create turns.
	 * @param observer asks the server which processes it has
	 * @param callers the threads that make the calls
	 * @param calls what to measure
	 * @param baselines what to compare with
	 */
	PairedTurns(Connection observer, Callers callers, Map<GuardedCost, Call> calls, Map<Baseline, Call> baselines) {
		this.observer = observer;
		this.callers = callers;
		this.calls = calls;
		this.baselines = baselines;
	}

	/**
	 * Take some turns, of which nothing is kept: the compiler needs thousands of calls
	 * until a ratio stays what it is.
	 */
	void warmUp(int turns) throws Exception {
		take(turns);
	}

	Map<GuardedCost, Ratio> measure(int turns) throws Exception {
		List<Turn> taken = take(turns);
		Map<GuardedCost, Ratio> ratios = new EnumMap<>(GuardedCost.class);
		this.calls.keySet().forEach((cost) -> {
			Baseline baseline = cost.baseline();
			double noise = median(taken, (turn) -> get(turn.again(), baseline) / get(turn.baselines(), baseline));
			ratios.put(cost,
					new Ratio(
							median(taken,
									(turn) -> get(turn.calls(), cost) * 2
											/ (get(turn.baselines(), baseline) + get(turn.again(), baseline))),
							Math.abs(noise - 1)));
		});
		return ratios;
	}

	private static double median(List<Turn> turns, ToDoubleFunction<Turn> figure) {
		return Spread.of(turns.stream().mapToDouble(figure).boxed().toList()).median();
	}

	private static <K> double get(Map<K, Double> values, K key) {
		Double value = values.get(key);
		if (value == null) {
			throw new IllegalStateException("Nothing is known of " + key);
		}
		return value;
	}

	private List<Turn> take(int count) throws Exception {
		List<Turn> turns = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			// The library may have opened another connection meanwhile
			ProcessorClock clock = new ProcessorClock(this.observer);
			Turn turn = new Turn(new EnumMap<>(GuardedCost.class), new EnumMap<>(Baseline.class),
					new EnumMap<>(Baseline.class));
			List<Call> order = new ArrayList<>();
			this.calls.forEach((cost, call) -> order
				.add(() -> turn.calls().put(cost, (double) clock.time(() -> this.callers.make(call)))));
			this.baselines.forEach((baseline, call) -> {
				order.add(() -> turn.baselines().put(baseline, (double) clock.time(() -> this.callers.make(call))));
				order.add(() -> turn.again().put(baseline, (double) clock.time(() -> this.callers.make(call))));
			});
			Collections.shuffle(order);
			for (Call call : order) {
				call.run();
			}
			turns.add(turn);
		}
		return turns;
	}

	/**
	 * The processor time of a call beside its baseline, and by how much the baseline
	 * differs from itself.
	 */
	record Ratio(double value, double noise) {

		@Override
		public String toString() {
			return "%.3f (noise %.3f)".formatted(this.value, this.noise);
		}

	}

	/**
	 * The nanoseconds of one turn of each.
	 */
	private record Turn(Map<GuardedCost, Double> calls, Map<Baseline, Double> baselines, Map<Baseline, Double> again) {

	}

	/**
	 * Who makes the calls of a turn.
	 */
	interface Callers {

		/**
		 * Make the calls of a turn.
		 */
		void make(Call call) throws Exception;

		/**
		 * Return how many calls that is.
		 */
		int calls();

	}

}
