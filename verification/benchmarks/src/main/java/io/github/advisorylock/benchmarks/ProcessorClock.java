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

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import com.sun.management.ThreadMXBean;

/**
 * Processor time of all threads of this JVM and of all processes of a server on this
 * machine that serve clients. What else the machine does hardly shows in it, which it
 * does in time by the clock.
 */
public final class ProcessorClock {

	/**
	 * How long a process takes from its answer until it waits for more: only then does
	 * the system know how long it has run.
	 */
	private static final long UNTIL_IDLE = TimeUnit.MICROSECONDS.toNanos(100);

	private final ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	private final List<Path> backends = new ArrayList<>();

	/**
	 * Create a clock for all threads of this process and those processes of the server
	 * that there are now.
	 * @param connection asks the server for its processes
	 * @throws SQLException if that can't be asked
	 */
	public ProcessorClock(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery("SELECT pid FROM pg_catalog.pg_stat_activity "
						+ "WHERE backend_type = 'client backend' AND pid <> pg_catalog.pg_backend_pid()")) {
			while (rows.next()) {
				this.backends.add(Path.of("/proc/" + rows.getInt(1) + "/schedstat"));
			}
		}
	}

	/**
	 * Return whether the system tells.
	 * @return whether it does
	 */
	public static boolean isSupported() {
		return Files.isReadable(Path.of("/proc/self/schedstat"));
	}

	/**
	 * Return the nanoseconds that something takes, without those of looking at the clock.
	 */
	long time(Call call) throws Exception {
		LockSupport.parkNanos(UNTIL_IDLE);
		long server = serverNanos();
		long client = clientNanos();
		call.run();
		client = clientNanos() - client;
		LockSupport.parkNanos(UNTIL_IDLE);
		return client + serverNanos() - server;
	}

	/**
	 * Return the part of all threads, also those that the library has started. The JVM
	 * counts the time of the whole process in steps of 10 milliseconds only.
	 */
	private long clientNanos() {
		return Arrays.stream(this.bean.getThreadCpuTime(this.bean.getAllThreadIds()))
			.filter((nanos) -> nanos > 0)
			.sum();
	}

	/**
	 * Return the part of the server.
	 * @return nanoseconds
	 * @throws IOException if the system does not tell
	 */
	public long serverNanos() throws IOException {
		long nanos = 0;
		for (Path backend : this.backends) {
			// One that has gone takes no more
			if (Files.exists(backend)) {
				String text = Files.readString(backend);
				nanos += Long.parseLong(text.substring(0, text.indexOf(' ')));
			}
		}
		return nanos;
	}

}
