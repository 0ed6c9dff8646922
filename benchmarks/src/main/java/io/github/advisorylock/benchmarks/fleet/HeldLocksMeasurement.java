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

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * What a statement costs on a session that holds many locks, which the server goes
 * through at the end of each transaction.
 */
final class HeldLocksMeasurement {

	private static final int[] NUMBERS = { 0, 1, 100, 1_000, 10_000 };

	private final String url;

	private final int calls;

	HeldLocksMeasurement(String url, boolean quick) {
		this.url = url;
		this.calls = quick ? 200 : 2_000;
	}

	/**
	 * Return for numbers of locks the median in microseconds of a plain statement, of a
	 * run in scope SESSION and of one in scope TRANSACTION.
	 */
	Map<Integer, List<Double>> run() throws SQLException {
		Map<Integer, List<Double>> result = new LinkedHashMap<>();
		List<HeldLock> held = new ArrayList<>();
		try (ConfigurableApplicationContext context = InstanceConfiguration.start(this.url,
				"advisory-lock.max-held-locks=20000");
				Connection session = DriverManager.getConnection(this.url);
				Statement statement = session.createStatement()) {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			for (int number : NUMBERS) {
				statement.execute("SELECT pg_try_advisory_lock(i) FROM generate_series(1, " + number + ") AS i");
				while (held.size() < number) {
					held.add(operations.tryAcquire(LockRequest.of("held-" + held.size())).orElseThrow());
				}
				result.put(number,
						List.of(median(() -> statement.execute("SELECT 1")),
								median(() -> execute(operations, LockScope.SESSION)),
								median(() -> execute(operations, LockScope.TRANSACTION))));
				statement.execute("SELECT pg_advisory_unlock_all()");
			}
			held.forEach(HeldLock::close);
		}
		return result;
	}

	private static void execute(AdvisoryLockOperations operations, LockScope scope) {
		operations.execute(LockRequest.of("measured").scope(scope), (lock) -> true).orElseThrow();
	}

	private double median(Question question) throws SQLException {
		long[] nanos = new long[this.calls];
		for (int i = -this.calls / 4; i < this.calls; i++) {
			long begin = System.nanoTime();
			question.ask();
			nanos[Math.max(i, 0)] = System.nanoTime() - begin;
		}
		Arrays.sort(nanos);
		return nanos[this.calls / 2] / 1e3;
	}

	/**
	 * A question to the server.
	 */
	private interface Question {

		void ask() throws SQLException;

	}

}
