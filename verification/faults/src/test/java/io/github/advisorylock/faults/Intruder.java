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

package io.github.advisorylock.faults;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Another client of the server, which takes all there is.
 */
final class Intruder {

	private static final long PAUSE = 10_000_000;

	private static final long FULL = 800_000_000;

	private static final long GAP = 200_000_000;

	/**
	 * More than any server has room for.
	 */
	private static final int LOCKS = 1_000_000;

	private final String url;

	private final List<Connection> connections = new ArrayList<>();

	private @Nullable Thread thread;

	private volatile boolean greedy;

	Intruder(String url) {
		this.url = url;
	}

	/**
	 * Lock until the server's table of locks is full, and whenever others have released
	 * some, but for a moment now and then: runs begin in it, and go on without room for
	 * another lock. While there is none no run begins that could fail.
	 */
	void takeAllLocks() {
		open();
		takeLocks(0);
		this.greedy = true;
		this.thread = new Thread(() -> {
			while (this.greedy) {
				long full = System.nanoTime() + FULL;
				for (int from = LOCKS; this.greedy && System.nanoTime() < full; from += LOCKS) {
					takeLocks(from);
					LockSupport.parkNanos(PAUSE);
				}
				releaseLocks();
				long free = System.nanoTime() + GAP;
				while (this.greedy && System.nanoTime() < free) {
					LockSupport.parkNanos(PAUSE);
				}
			}
		});
		this.thread.start();
	}

	private void releaseLocks() {
		try (Statement statement = this.connections.get(0).createStatement()) {
			statement.execute("SELECT pg_advisory_unlock_all()");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void takeLocks(int from) {
		try (Statement statement = this.connections.get(0).createStatement()) {
			statement.execute("SELECT count(pg_advisory_lock(4711, %d + number)) FROM generate_series(1, %d) number"
				.formatted(from, LOCKS));
			throw new IllegalStateException("The server has room for %d locks".formatted(LOCKS));
		}
		catch (SQLException ex) {
			if (!"53200".equals(ex.getSQLState())) {
				throw new IllegalStateException(ex);
			}
		}
	}

	/**
	 * Connect until the server lets nobody in any more, and end all connections but ours.
	 */
	void takeAllConnections() {
		while (open()) {
			// and one more
		}
		this.greedy = true;
		this.thread = new Thread(() -> {
			while (this.greedy) {
				open();
				LockSupport.parkNanos(PAUSE);
			}
		});
		this.thread.start();
		try (Statement statement = this.connections.get(0).createStatement()) {
			statement.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
					+ "WHERE backend_type = 'client backend' AND application_name <> 'intruder'");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private boolean open() {
		try {
			this.connections.add(DriverManager.getConnection(this.url + "&ApplicationName=intruder"));
			return true;
		}
		catch (SQLException ex) {
			return false;
		}
	}

	/**
	 * Give all back.
	 */
	void leave() {
		this.greedy = false;
		try {
			if (this.thread != null) {
				this.thread.join();
				this.thread = null;
			}
			for (Connection connection : this.connections) {
				connection.close();
			}
			this.connections.clear();
		}
		catch (InterruptedException | SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
