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

	private final ApplicationState application;

	private final ConfigurableApplicationContext elsewhere;

	private final ExecutorService executor = Executors.newSingleThreadExecutor();

	private final int times;

	HandOver(ApplicationState application, int times) {
		this.application = application;
		this.elsewhere = BenchmarkApplication.start(application.url());
		this.times = times;
	}

	/**
	 * Return the milliseconds by kind of the waiting call.
	 */
	Map<RivalCaller.Kind, Spread> run() throws Exception {
		IntegrationCalls here = new IntegrationCalls(this.application.jdbcTemplate(), "handed-over");
		IntegrationCalls there = new IntegrationCalls(this.elsewhere.getBean(JdbcTemplate.class), "handed-over");
		Map<RivalCaller.Kind, List<Double>> millis = new EnumMap<>(RivalCaller.Kind.class);
		for (int i = 0; i < this.times; i++) {
			add(millis, RivalCaller.Kind.RUN_TRANSACTION, library(LockScope.TRANSACTION));
			add(millis, RivalCaller.Kind.RUN_SESSION, library(LockScope.SESSION));
			add(millis, RivalCaller.Kind.RUN_INTEGRATION, integration(here.lock(), there.lock()));
		}
		Map<RivalCaller.Kind, Spread> result = new EnumMap<>(RivalCaller.Kind.class);
		millis.forEach((kind, values) -> result.put(kind, Spread.of(values)));
		return result;
	}

	private static void add(Map<RivalCaller.Kind, List<Double>> millis, RivalCaller.Kind kind, double value) {
		millis.computeIfAbsent(kind, (absent) -> new ArrayList<>()).add(value);
	}

	private double library(LockScope scope) throws Exception {
		HeldLock held = this.elsewhere.getBean(AdvisoryLockOperations.class).tryAcquire(REQUEST).orElseThrow();
		return measure(() -> this.application.operations()
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
		this.elsewhere.close();
	}

}
