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

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.Assert;

/**
 * Kills a process that is in the middle of runs, and measures how long those that want
 * the same locks take to begin: one that is called every ten milliseconds, and one that
 * waits.
 */
public final class TakeoverMeasurement {

	private static final long PERIOD_MILLIS = 10;

	private static final String HOLDING = "holding all locks";

	private final String url;

	private final int times;

	TakeoverMeasurement(String url, int times) {
		this.url = url;
		this.times = times;
	}

	/**
	 * Return the milliseconds by kind of the call that begins.
	 */
	Map<String, Spread> run() throws Exception {
		Map<String, List<Double>> millis = new LinkedHashMap<>();
		ExecutorService executor = Executors.newCachedThreadPool();
		try (ConfigurableApplicationContext context = BenchmarkApplication.start(this.url)) {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			for (int i = 0; i < this.times; i++) {
				for (LockScope scope : LockScope.values()) {
					add(millis, scope + ", called each 10 ms", kill(executor, scope, () -> call(operations, scope)));
					add(millis, scope + ", waits with `waitFor`",
							kill(executor, scope, () -> await(operations, scope)));
				}
			}
		}
		finally {
			executor.shutdown();
		}
		Map<String, Spread> result = new LinkedHashMap<>();
		millis.forEach((name, values) -> result.put(name, Spread.of(values)));
		return result;
	}

	private static void add(Map<String, List<Double>> millis, String name, double value) {
		millis.computeIfAbsent(name, (absent) -> new ArrayList<>()).add(value);
	}

	private double kill(ExecutorService executor, LockScope scope, Callable<Long> successor) throws Exception {
		Process holder = start(scope);
		try {
			Future<Long> begun = executor.submit(successor);
			TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(300, 400));
			Assert.state(!begun.isDone(), "The lock was not held");
			long killed = System.nanoTime();
			holder.destroyForcibly();
			return (begun.get(1, TimeUnit.MINUTES) - killed) / 1e6;
		}
		finally {
			holder.destroyForcibly();
		}
	}

	private Process start(LockScope scope) throws IOException {
		Process process = new ProcessBuilder(ProcessHandle.current().info().command().orElse("java"), "-classpath",
				System.getProperty("java.class.path"), Holder.class.getName(), this.url, scope.name())
			.redirectErrorStream(true)
			.start();
		BufferedReader output = process.inputReader();
		List<String> lines = new ArrayList<>();
		for (String line = output.readLine(); !HOLDING.equals(line); line = output.readLine()) {
			Assert.state(line != null, () -> "The holder failed: " + lines);
			lines.add(line);
		}
		return process;
	}

	private static long call(AdvisoryLockOperations operations, LockScope scope) throws InterruptedException {
		while (true) {
			LockResult<Long> result = operations.execute(request(scope), (lock) -> System.nanoTime());
			if (result.executed()) {
				return result.orElseThrow();
			}
			TimeUnit.MILLISECONDS.sleep(PERIOD_MILLIS);
		}
	}

	private static long await(AdvisoryLockOperations operations, LockScope scope) {
		return operations.execute(request(scope).waitFor(Duration.ofMinutes(1)), (lock) -> System.nanoTime())
			.orElseThrow();
	}

	private static LockRequest request(LockScope scope) {
		return LockRequest.of("taken-over").scope(scope);
	}

	/**
	 * The process that is killed.
	 */
	public static final class Holder {

		private Holder() {
		}

		/**
		 * Take the lock and keep it.
		 * @param args the URL of the server, and the scope
		 */
		public static void main(String[] args) throws InterruptedException {
			ConfigurableApplicationContext context = BenchmarkApplication.start(args[0]);
			context.getBean(AdvisoryLockOperations.class).execute(request(LockScope.valueOf(args[1])), (lock) -> {
				System.out.println(HOLDING);
				new CountDownLatch(1).await();
				return true;
			});
		}

	}

}
