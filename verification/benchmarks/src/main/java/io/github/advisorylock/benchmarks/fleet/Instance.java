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

package io.github.advisorylock.benchmarks.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockRequest;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * One instance of an application, with a scheduler of four threads.
 */
final class Instance implements AutoCloseable {

	private static final int THREADS = 4;

	private static final long JOB_NANOS = 1_000_000;

	private static final String ROLE = "fleet";

	private static final AtomicInteger HELD = new AtomicInteger();

	private final ConfigurableApplicationContext context;

	private final AdvisoryLockOperations operations;

	private final LeaderElection election;

	private final List<HeldLock> held = new ArrayList<>();

	private final ExecutorService scheduler = Executors.newFixedThreadPool(THREADS);

	Instance(ConfigurableApplicationContext context) {
		this.context = context;
		this.operations = context.getBean(AdvisoryLockOperations.class);
		this.election = context.getBean(LeaderElection.class);
	}

	/**
	 * Return how many roles this instance leads. Whoever asks takes part in elections.
	 * @param roles how many roles there are
	 */
	long leads(int roles) {
		return IntStream.range(0, roles).filter((role) -> this.election.isLeader(ROLE + "-" + role)).count();
	}

	/**
	 * Hold a lock of the session from now on.
	 */
	void hold() {
		this.held.add(this.operations.tryAcquire(LockRequest.of("held-" + HELD.getAndIncrement())).orElseThrow());
	}

	/**
	 * Wait for an instant, and then do all jobs that nobody else does.
	 * @param lines is told what a {@link Round} hears
	 * @return what completes when it is known of all jobs who does them
	 */
	CompletableFuture<?> play(Call call, Consumer<String> lines) {
		AtomicInteger next = new AtomicInteger();
		CompletableFuture<?>[] threads = IntStream.range(0, Math.min(THREADS, call.jobs()))
			.mapToObj((thread) -> CompletableFuture.runAsync(() -> work(call, next, lines), this.scheduler))
			.toArray(CompletableFuture[]::new);
		return CompletableFuture.allOf(threads)
			.whenComplete((done, failure) -> lines
				.accept((failure != null) ? "error " + failure : "known " + (System.nanoTime() - call.start())));
	}

	private void work(Call call, AtomicInteger next, Consumer<String> lines) {
		for (long left = call.left(); left > 0; left = call.left()) {
			LockSupport.parkNanos(left);
		}
		for (int job = next.getAndIncrement(); job < call.jobs(); job = next.getAndIncrement()) {
			int number = job;
			LockRequest request = call.use().request(number, call.tick());
			if (request != null) {
				this.operations.execute(request, (lock) -> run(number, lines));
			}
			else if (leads(1) == 1) {
				run(number, lines);
			}
		}
	}

	/**
	 * Takes a while, so that two who do a job at a time are seen.
	 */
	private static long run(int job, Consumer<String> lines) {
		long begin = System.nanoTime();
		LockSupport.parkNanos(JOB_NANOS);
		lines.accept("run " + job + " " + begin + " " + System.nanoTime());
		return begin;
	}

	@Override
	public void close() {
		this.scheduler.shutdownNow();
		this.held.forEach(HeldLock::close);
		this.context.close();
	}

}
