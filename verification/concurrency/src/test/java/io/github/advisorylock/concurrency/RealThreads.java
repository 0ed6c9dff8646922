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
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Runs operations many times on threads that nobody schedules, each on one of its own.
 * They begin a few runs together, and go on as they like.
 */
final class RealThreads {

	private static final int RUNS = Integer.getInteger("runs", 20_000);

	/**
	 * Some operations look at the stack of another thread, which takes a millisecond.
	 */
	private static final long LONGEST = TimeUnit.SECONDS.toNanos(5);

	private static final int BATCH = 100;

	private static final int TOGETHER = 10;

	private static final int PATIENCE = 200;

	private RealThreads() {
	}

	/**
	 * Run operations many times, and say so where the time was too short for all.
	 * @param state makes what they start from, anew for each run
	 * @param operations the operations
	 */
	static <O> void check(Supplier<Schedules.State<O>> state, List<O> operations) throws InterruptedException {
		ExecutorService threads = Executors.newCachedThreadPool();
		try {
			long start = System.nanoTime();
			int done = 0;
			while (done < RUNS && System.nanoTime() - start < LONGEST) {
				Batch<O> batch = new Batch<>(state, operations, Math.min(BATCH, RUNS - done));
				// those that look at the stack of who waits find a deep one here
				batch.await(threads.submit(() -> batch.run(threads)));
				done += batch.answers.length;
			}
			if (done < RUNS) {
				System.out.println(operations + ": " + done + " of " + RUNS + " runs on real threads");
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	/**
	 * Some runs of the same operations.
	 */
	private static final class Batch<O> {

		private final Supplier<Schedules.State<O>> state;

		private final List<O> operations;

		private final List<Schedules.State<O>> states = new ArrayList<>();

		private final int[][] answers;

		private final AtomicInteger arrived = new AtomicInteger();

		private Batch(Supplier<Schedules.State<O>> state, List<O> operations, int runs) {
			this.state = state;
			this.operations = operations;
			this.answers = new int[runs][operations.size()];
		}

		private Void run(ExecutorService threads) throws InterruptedException {
			for (int run = 0; run < this.answers.length; run++) {
				this.states.add(this.state.get());
			}
			List<Future<?>> running = new ArrayList<>();
			for (int number = 0; number < this.operations.size(); number++) {
				int each = number;
				running.add(threads.submit(() -> runOne(each)));
			}
			for (Future<?> thread : running) {
				await(thread);
			}
			for (int run = 0; run < this.answers.length; run++) {
				check(run);
			}
			return null;
		}

		private void runOne(int number) {
			O operation = this.operations.get(number);
			for (int run = 0; run < this.answers.length; run++) {
				if (run % TOGETHER == 0) {
					meet(run / TOGETHER + 1);
				}
				this.answers[run][number] = this.states.get(run).run(operation);
			}
		}

		@SuppressWarnings("ThreadPriorityCheck") // whoever is waited for may need the
													// processor
		private void meet(int time) {
			int all = time * this.operations.size();
			int looks = 0;
			this.arrived.incrementAndGet();
			while (this.arrived.get() < all) {
				if (++looks % PATIENCE == 0) {
					if (Thread.interrupted()) {
						throw new IllegalStateException("Another thread has failed");
					}
					Thread.yield();
				}
				else {
					Thread.onSpinWait();
				}
			}
		}

		private void await(Future<?> thread) throws InterruptedException {
			try {
				thread.get(1, TimeUnit.MINUTES);
			}
			catch (TimeoutException ex) {
				throw new AssertionError(this.operations + ": a thread hangs", ex);
			}
			catch (ExecutionException ex) {
				if (ex.getCause() instanceof AssertionError failure) {
					throw failure;
				}
				throw new AssertionError(this.operations + ": a thread has failed", ex.getCause());
			}
		}

		private void check(int run) {
			try {
				this.states.get(run).check(this.answers[run]);
			}
			catch (AssertionError ex) {
				throw new AssertionError(this.operations + ": " + ex.getMessage(), ex);
			}
		}

	}

}
