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

package io.github.advisorylock.monitor;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.TimeLimit;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.WrongClockDatabase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Tests for {@link DatabaseClock}.
 */
class DatabaseClockTests {

	private static final TimeLimit LIMIT = new TimeLimit(new LockScheduler.Threads(null));

	@Test
	void clockThatCanNotBeAskedIsNoNumberWhateverItsDataSourceThrows() {
		DatabaseClock clock = new DatabaseClock(new DriverManagerDataSource(TestPostgres.url()) {

			@Override
			public Connection getConnection() {
				throw new UnsupportedOperationException("expected");
			}

		}, LIMIT);
		assertThat(clock.getAsDouble()).isNaN();
	}

	@Test
	void nobodyWaitsForSomebodyElseWhoAsks() throws InterruptedException {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answered = new CountDownLatch(1);
		DatabaseClock clock = new DatabaseClock(new DriverManagerDataSource(TestPostgres.url()) {

			@Override
			public Connection getConnection() throws SQLException {
				asked.countDown();
				try {
					answered.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				return super.getConnection();
			}

		}, LIMIT);
		CompletableFuture<Double> first = CompletableFuture.supplyAsync(clock::getAsDouble,
				(task) -> new Thread(task).start());
		asked.await();
		assertThat(CompletableFuture.supplyAsync(clock::getAsDouble, (task) -> new Thread(task).start()))
			.succeedsWithin(Patience.TIME)
			.isEqualTo(Double.NaN);
		answered.countDown();
		assertThat(first).succeedsWithin(Patience.TIME).isNotEqualTo(Double.NaN);
	}

	/**
	 * The answer was given at some time while the question was asked: the least
	 * difference that this allows is told.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 90, 0, -3600 })
	void skewIsHowFarTheClockOfTheDatabaseIsAhead(int seconds) {
		try (WrongClockDatabase database = WrongClockDatabase.create(seconds)) {
			DatabaseClock clock = new DatabaseClock(new DriverManagerDataSource(database.url()), LIMIT);
			long begin = System.nanoTime();
			double skew = clock.getAsDouble();
			double took = (System.nanoTime() - begin) / 1e9;
			assertThat(skew).isCloseTo(seconds, within(took + 0.001));
		}
	}

	@Test
	void databaseIsAskedOnceInHalfAMinute() {
		CountingConnections connections = new CountingConnections(TestPostgres.url());
		DatabaseClock clock = new DatabaseClock(connections, LIMIT);
		double skew = clock.getAsDouble();
		for (int i = 0; i < 100; i++) {
			assertThat(clock.getAsDouble()).isEqualTo(skew);
		}
		assertThat(connections.opened).hasValue(1);
	}

	@Test
	void databaseThatCannotBeAskedIsLeftAloneForAWhileToo() {
		CountingConnections connections = new CountingConnections("jdbc:postgresql://127.0.0.1:1/nowhere");
		DatabaseClock clock = new DatabaseClock(connections, LIMIT);
		for (int i = 0; i < 100; i++) {
			assertThat(clock.getAsDouble()).isNaN();
		}
		assertThat(connections.opened).hasValue(1);
	}

	private static final class CountingConnections extends DriverManagerDataSource {

		private final AtomicInteger opened = new AtomicInteger();

		private CountingConnections(String url) {
			super(url);
		}

		@Override
		public Connection getConnection() throws SQLException {
			this.opened.incrementAndGet();
			return super.getConnection();
		}

	}

}
