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

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleSupplier;

import javax.sql.DataSource;

import io.github.advisorylock.jdbc.thread.TimeLimit;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * How far the clock of this application is from that of the database. Asks at most once
 * in half a minute.
 *
 * @since 0.1.0
 */
public class DatabaseClock implements DoubleSupplier {

	private static final long VALID = Duration.ofSeconds(30).toNanos();

	private final JdbcOperations jdbc;

	private final TimeLimit limit;

	private final ReentrantLock asking = new ReentrantLock();

	private volatile double skew = Double.NaN;

	private volatile long asked;

	/**
	 * Create a clock.
	 * @param dataSource the DataSource that has the locks
	 * @param limit limits how long is waited for the database
	 */
	public DatabaseClock(DataSource dataSource, TimeLimit limit) {
		this.jdbc = new MonitorStatements(dataSource);
		this.limit = limit;
	}

	/**
	 * Return by how much a clock is certainly ahead of another one: the one that is
	 * nearest to zero of all differences that explain what was read.
	 * @param before the time here before the question
	 * @param there the time that was answered
	 * @param after the time here after the answer
	 */
	static Duration certainSkew(Instant before, Instant there, Instant after) {
		Duration least = Duration.between(after, there);
		Duration most = Duration.between(before, there);
		return !least.isNegative() ? least : most.isNegative() ? most : Duration.ZERO;
	}

	/**
	 * Return by how many seconds the database's clock is ahead at least, whatever time
	 * the answer took. Never waits for somebody else who asks: the last answer is good
	 * enough meanwhile.
	 * @return the seconds, negative if it is behind, not a number if it can't be asked
	 */
	@Override
	public double getAsDouble() {
		if (isOutdated() && this.asking.tryLock()) {
			try {
				if (isOutdated()) {
					this.skew = ask();
					this.asked = System.nanoTime();
				}
			}
			finally {
				this.asking.unlock();
			}
		}
		return this.skew;
	}

	private boolean isOutdated() {
		return this.asked == 0 || System.nanoTime() - this.asked > VALID;
	}

	private double ask() {
		try {
			Duration skew = this.limit.ask(() -> this.jdbc.execute(LockMonitor.CLOCK, (PreparedStatement statement) -> {
				Instant before = Instant.now();
				ResultSet row = statement.executeQuery();
				Instant after = Instant.now();
				row.next();
				return certainSkew(before, row.getObject(1, OffsetDateTime.class).toInstant(), after);
			}));
			return (skew != null) ? skew.toNanos() / 1e9 : Double.NaN;
		}
		catch (DataAccessException ex) {
			return Double.NaN;
		}
	}

}
