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

import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Threads that make the same calls at a time, each under a key of its own.
 */
final class CallingThreads implements PairedTurns.Callers, AutoCloseable {

	private final Map<Thread, ThreadState> states = new ConcurrentHashMap<>();

	private final ExecutorService executor;

	private final int count;

	private final int calls;

	/**
	 * Start threads.
	 * @param count how many
	 * @param calls how many calls each makes in a turn
	 */
	CallingThreads(ApplicationState application, int count, int calls) throws SQLException {
		this.count = count;
		this.calls = calls;
		Deque<ThreadState> unused = new ArrayDeque<>();
		for (int i = 0; i < count; i++) {
			unused.add(new ThreadState(application));
		}
		this.executor = Executors.newFixedThreadPool(count, (task) -> {
			Thread thread = new Thread(task, "benchmark-" + this.states.size());
			this.states.put(thread, unused.remove());
			return thread;
		});
		for (int i = 0; i < count; i++) {
			this.executor.execute(() -> {
			});
		}
	}

	/**
	 * Return what the current thread has for itself.
	 */
	ThreadState state() {
		ThreadState state = this.states.get(Thread.currentThread());
		if (state == null) {
			throw new IllegalStateException("Not one of the threads");
		}
		return state;
	}

	@Override
	public void make(Call call) throws Exception {
		List<Future<?>> futures = new ArrayList<>();
		for (int i = 0; i < this.count; i++) {
			futures.add(this.executor.submit(() -> {
				call.repeat(this.calls);
				return null;
			}));
		}
		for (Future<?> future : futures) {
			future.get();
		}
	}

	@Override
	public int calls() {
		return this.count * this.calls;
	}

	@Override
	public void close() throws SQLException {
		this.executor.shutdown();
		for (ThreadState state : this.states.values()) {
			state.close();
		}
	}

}
