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

package io.github.advisorylock.concurrency;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntBiFunction;
import java.util.function.ToIntFunction;

import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.DynamicTest;

/**
 * Runs operations, each on a thread of its own, under many schedules of these threads,
 * and many times more as the threads come.
 */
public final class Schedules {

	private static final int SCHEDULES = Integer.getInteger("schedules", 50);

	private static final int OPERATIONS = Integer.getInteger("operations", 3);

	private Schedules() {
	}

	/**
	 * Make a test of each pair and triple of operations, or of each pair only where
	 * {@code -Doperations=2}; an operation may be in it more than once.
	 * @param scenario makes of operations what they start from, anew for each schedule
	 * @param operations the operations
	 * @param <O> the type of the operations
	 */
	public static <O> List<DynamicTest> ofPairsAndTriples(Function<List<O>, Supplier<State<O>>> scenario,
			List<O> operations) {
		return pairsAndTriples(operations, (some) -> test(scenario, some));
	}

	/**
	 * As {@link #ofPairsAndTriples}, but only as the threads come: for operations that
	 * wait with a deadline, which no schedule knows, and for variants of others.
	 * @param scenario makes of operations what they start from, anew for each run
	 * @param operations the operations
	 * @param <O> the type of the operations
	 */
	public static <O> List<DynamicTest> ofPairsAndTriplesOnThreads(Function<List<O>, Supplier<State<O>>> scenario,
			List<O> operations) {
		return pairsAndTriples(operations, (some) -> DynamicTest.dynamicTest(some.toString(),
				() -> RealThreads.check(scenario.apply(some), some)));
	}

	private static <O> List<DynamicTest> pairsAndTriples(List<O> operations, Function<List<O>, DynamicTest> test) {
		List<DynamicTest> tests = new ArrayList<>();
		for (int first = 0; first < operations.size(); first++) {
			for (int second = first; second < operations.size(); second++) {
				List<O> pair = List.of(operations.get(first), operations.get(second));
				tests.add(test.apply(pair));
				for (int third = second; OPERATIONS > 2 && third < operations.size(); third++) {
					tests.add(test.apply(List.of(pair.get(0), pair.get(1), operations.get(third))));
				}
			}
		}
		return tests;
	}

	private static <O> DynamicTest test(Function<List<O>, Supplier<State<O>>> scenario, List<O> operations) {
		return DynamicTest.dynamicTest(operations.toString(), () -> {
			Supplier<State<O>> state = scenario.apply(operations);
			Object[] order = operations.toArray();
			// threads that wait for the initialisation of a class can't be scheduled
			runOnce(state.get(), order);
			Lincheck.runConcurrentTest(SCHEDULES, () -> runOnce(state.get(), order));
			RealThreads.check(state, operations);
		});
	}

	/**
	 * All that is done here is followed step by step, which is what takes time.
	 */
	@SuppressWarnings("unchecked")
	private static <O> void runOnce(State<O> state, Object[] operations) {
		int[] answers = new int[operations.length];
		Thread[] threads = new Thread[operations.length];
		for (int i = 0; i < threads.length; i++) {
			int number = i;
			threads[i] = new Thread(() -> answers[number] = state.run((O) operations[number]));
			threads[i].start();
		}
		for (Thread thread : threads) {
			join(thread);
		}
		state.check(answers);
	}

	private static void join(Thread thread) {
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Return what operations may answer that happen at one time: what they answer one
	 * after the other, in any order.
	 * @param model makes a model of what they start from
	 * @param operations the operations
	 * @param run runs an operation on the model; it answers 0 or 1
	 * @param end reads the end state of the model, a small number
	 * @return the {@linkplain #outcome outcomes}
	 */
	public static <O, M> BitSet sequentially(Supplier<M> model, List<O> operations, ToIntBiFunction<M, O> run,
			ToIntFunction<M> end) {
		BitSet outcomes = new BitSet();
		for (List<Integer> order : orders(operations.size())) {
			M start = model.get();
			int[] answers = new int[operations.size()];
			for (int number : order) {
				answers[number] = run.applyAsInt(start, operations.get(number));
			}
			outcomes.set(outcome(answers, end.applyAsInt(start)));
		}
		return outcomes;
	}

	/**
	 * Return answers and an end state as one number.
	 * @param answers the answers, each 0 or 1
	 * @param end the end state
	 */
	public static int outcome(int[] answers, int end) {
		int outcome = end;
		for (int answer : answers) {
			outcome = 2 * outcome + answer;
		}
		return outcome;
	}

	private static List<List<Integer>> orders(int size) {
		if (size == 0) {
			return List.of(List.of());
		}
		List<List<Integer>> orders = new ArrayList<>();
		for (List<Integer> shorter : orders(size - 1)) {
			for (int place = 0; place < size; place++) {
				List<Integer> order = new ArrayList<>(shorter);
				order.add(place, size - 1);
				orders.add(order);
			}
		}
		return orders;
	}

	/**
	 * What operations start from, and share.
	 *
	 * @param <O> the type of the operations
	 */
	public interface State<O> {

		/**
		 * Run an operation, on a thread of its own.
		 * @param operation the operation
		 * @return its answer
		 */
		int run(O operation);

		/**
		 * Fail if the answers, or what has become of this, can't be right.
		 * @param answers what the operations have answered
		 */
		void check(int[] answers);

	}

}
