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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.CountingSocketFactory;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * How many session locks a crowd of threads takes and frees over one connection when each
 * round trip takes a millisecond longer: one at a time, as a connection under a mutex
 * does, and through the library, where those that wait travel together.
 */
final class CrowdMeasurement {

	private static final int THREADS = 64;

	private static final Duration DELAY = Duration.ofMillis(1);

	private final String url;

	private final Duration duration;

	CrowdMeasurement(String url, Duration duration) {
		this.url = CountingSocketFactory.addTo(url);
		this.duration = duration;
	}

	/**
	 * Return calls per second, a call being the taking and freeing of a lock.
	 */
	Map<String, Double> run() throws Exception {
		Map<String, Double> result = new LinkedHashMap<>();
		CountingSocketFactory.delay(DELAY);
		try {
			result.put("one at a time, plain JDBC", runPlain());
			result.put("SESSION, execute", runLibrary());
		}
		finally {
			CountingSocketFactory.delay(Duration.ZERO);
		}
		return result;
	}

	private double runPlain() throws Exception {
		ReentrantLock mutex = new ReentrantLock();
		try (PlainSession session = new PlainSession(this.url)) {
			return callsPerSecond((key) -> {
				inTurn(mutex, () -> session.tryLock(key));
				inTurn(mutex, () -> session.unlock(key));
			});
		}
	}

	private double runLibrary() throws Exception {
		DriverManagerDataSource dataSource = new DriverManagerDataSource(this.url);
		try (LockSession session = new LockSession(dataSource, "benchmark", LockSessionSettings.DEFAULT, (event) -> {
		})) {
			AdvisoryLockOperations operations = new PostgresAdvisoryLockTemplate(dataSource, null, session, "",
					AdvisoryLockKeyFactory.sha256(), Duration.ZERO, THREADS);
			return callsPerSecond((key) -> {
				LockRequest request = LockRequest.of(AdvisoryLockKey.ofValue(key)).scope(LockScope.SESSION);
				operations.execute(request, (lock) -> key).orElseThrow();
			});
		}
	}

	private double callsPerSecond(Work work) throws Exception {
		run(work, this.duration.dividedBy(4));
		return run(work, this.duration) / (double) this.duration.toMillis() * 1000;
	}

	private long run(Work work, Duration howLong) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			long end = System.nanoTime() + howLong.toNanos();
			List<Future<Long>> counts = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				long key = i;
				counts.add(threads.submit(() -> {
					long count = 0;
					for (; System.nanoTime() < end; count++) {
						work.run(key);
					}
					return count;
				}));
			}
			long sum = 0;
			for (Future<Long> count : counts) {
				sum += count.get();
			}
			return sum;
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static void inTurn(ReentrantLock mutex, Question question) throws Exception {
		mutex.lock();
		try {
			if (!question.ask()) {
				throw new IllegalStateException("Nobody else has the key");
			}
		}
		finally {
			mutex.unlock();
		}
	}

	/**
	 * A call for one thread's key.
	 */
	private interface Work {

		void run(long key) throws Exception;

	}

	/**
	 * A question to the server.
	 */
	private interface Question {

		boolean ask() throws Exception;

	}

}
