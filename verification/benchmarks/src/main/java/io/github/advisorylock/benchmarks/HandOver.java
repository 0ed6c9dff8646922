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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Measures how long a call that waits takes to begin after another instance has let go of
 * the lock. The call waits for some time that chance decides, so that it is freed at any
 * point of a rhythm in which it may ask.
 */
final class HandOver implements AutoCloseable {

	private static final LockRequest REQUEST = LockRequest.of("handed-over").waitFor(Duration.ofMinutes(1));

	private final ConfigurableApplicationContext here;

	private final ConfigurableApplicationContext there;

	private final ExecutorService executor = Executors.newSingleThreadExecutor();

	private final int times;

	private HandOver(String url, int times) {
		this.here = BenchmarkApplication.start(url);
		this.there = BenchmarkApplication.start(url);
		this.times = times;
	}

	/**
	 * Return the milliseconds by kind of the waiting call.
	 */
	static Map<String, Spread> measure(String url, int times) throws Exception {
		try (HandOver handOver = new HandOver(url, times)) {
			return handOver.run();
		}
	}

	private Map<String, Spread> run() throws Exception {
		IntegrationCalls here = new IntegrationCalls(this.here.getBean(JdbcTemplate.class), "handed-over");
		IntegrationCalls there = new IntegrationCalls(this.there.getBean(JdbcTemplate.class), "handed-over");
		Map<String, List<Double>> millis = new LinkedHashMap<>();
		for (int i = 0; i < this.times; i++) {
			add(millis, "TRANSACTION, `execute`", library(LockScope.TRANSACTION));
			add(millis, "SESSION, `execute`", library(LockScope.SESSION));
			add(millis, "`JdbcLockRegistry`", integration(here.lock(), there.lock()));
		}
		Map<String, Spread> result = new LinkedHashMap<>();
		millis.forEach((kind, values) -> result.put(kind, Spread.of(values)));
		return result;
	}

	private static void add(Map<String, List<Double>> millis, String kind, double value) {
		millis.computeIfAbsent(kind, (absent) -> new ArrayList<>()).add(value);
	}

	private double library(LockScope scope) throws Exception {
		HeldLock held = this.there.getBean(AdvisoryLockOperations.class).tryAcquire(REQUEST).orElseThrow();
		return measure(() -> this.here.getBean(AdvisoryLockOperations.class)
			.execute(REQUEST.scope(scope), (lock) -> System.nanoTime())
			.orElseThrow(), held::close);
	}

	private double integration(Lock here, Lock there) throws Exception {
		there.lock();
		return measure(() -> {
			here.lock();
			try {
				return System.nanoTime();
			}
			finally {
				here.unlock();
			}
		}, there::unlock);
	}

	private double measure(Callable<Long> waiting, Runnable free) throws Exception {
		Future<Long> begun = this.executor.submit(waiting);
		LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(ThreadLocalRandom.current().nextInt(100_000, 300_000)));
		long freed = System.nanoTime();
		free.run();
		return (begun.get() - freed) / 1e6;
	}

	@Override
	public void close() {
		this.executor.shutdown();
		this.here.close();
		this.there.close();
	}

}
