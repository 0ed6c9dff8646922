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
 * through at the end of each transaction. Sessions that hold more and fewer are asked in
 * turns, so that a busy moment of the machine is one of them all.
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
		List<Holder> holders = new ArrayList<>();
		try {
			for (int number : NUMBERS) {
				holders.add(new Holder(this.url, number, this.calls));
			}
			for (int i = -this.calls / 4; i < this.calls; i++) {
				for (Holder holder : holders) {
					holder.ask(i);
				}
			}
			Map<Integer, List<Double>> result = new LinkedHashMap<>();
			holders.forEach((holder) -> result.put(holder.number, holder.medians()));
			return result;
		}
		finally {
			for (Holder holder : holders) {
				holder.close();
			}
		}
	}

	/**
	 * An instance, and a plain session, that hold a number of locks each.
	 */
	private static final class Holder implements AutoCloseable {

		private final int number;

		private final ConfigurableApplicationContext context;

		private final AdvisoryLockOperations operations;

		private final Connection session;

		private final Statement statement;

		private final List<HeldLock> held = new ArrayList<>();

		private final List<Question> questions;

		private final long[][] nanos;

		private Holder(String url, int number, int calls) throws SQLException {
			this.number = number;
			this.context = InstanceConfiguration.start(url, "advisory-lock.max-held-locks=20000");
			this.operations = this.context.getBean(AdvisoryLockOperations.class);
			this.session = DriverManager.getConnection(url);
			this.statement = this.session.createStatement();
			// Twice the number: no two sessions hold the same
			this.statement.execute("SELECT pg_catalog.pg_advisory_lock(i) FROM generate_series(" + (number + 1) + ", "
					+ (2 * number) + ") AS i");
			while (this.held.size() < number) {
				this.held.add(this.operations.tryAcquire(LockRequest.of("held-" + number + "-" + this.held.size()))
					.orElseThrow());
			}
			this.questions = List.of(() -> this.statement.execute("SELECT 1"), () -> execute(LockScope.SESSION),
					() -> execute(LockScope.TRANSACTION));
			this.nanos = new long[this.questions.size()][calls];
		}

		/**
		 * Ask each question once.
		 * @param call the number of the call, negative to warm up
		 */
		private void ask(int call) throws SQLException {
			for (int i = 0; i < this.nanos.length; i++) {
				long begin = System.nanoTime();
				this.questions.get(i).ask();
				this.nanos[i][Math.max(call, 0)] = System.nanoTime() - begin;
			}
		}

		private void execute(LockScope scope) {
			this.operations.execute(LockRequest.of("measured").scope(scope), (lock) -> true).orElseThrow();
		}

		private List<Double> medians() {
			return Arrays.stream(this.nanos)
				.map((times) -> Arrays.stream(times).sorted().toArray()[times.length / 2] / 1e3)
				.toList();
		}

		@Override
		public void close() throws SQLException {
			this.held.forEach(HeldLock::close);
			this.session.close();
			this.context.close();
		}

	}

	/**
	 * A question to the server.
	 */
	private interface Question {

		void ask() throws SQLException;

	}

}
