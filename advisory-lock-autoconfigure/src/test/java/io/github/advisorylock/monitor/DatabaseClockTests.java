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

import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link DatabaseClock}.
 */
class DatabaseClockTests {

	@Test
	void clockThatCanNotBeAskedIsNoNumberWhateverItsDataSourceThrows() {
		DatabaseClock clock = new DatabaseClock(new DriverManagerDataSource(TestPostgres.url()) {

			@Override
			public Connection getConnection() {
				throw new UnsupportedOperationException("expected");
			}

		});
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

		});
		CompletableFuture<Double> first = CompletableFuture.supplyAsync(clock::getAsDouble,
				(task) -> new Thread(task).start());
		asked.await();
		assertThat(CompletableFuture.supplyAsync(clock::getAsDouble, (task) -> new Thread(task).start()))
			.succeedsWithin(Patience.TIME)
			.isEqualTo(Double.NaN);
		answered.countDown();
		assertThat(first).succeedsWithin(Patience.TIME).satisfies((skew) -> assertThat(skew).isBetween(-60.0, 60.0));
	}

}
