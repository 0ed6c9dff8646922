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
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * Processor time of the current thread and of all processes of a server on this machine
 * that serve clients. What else the machine does hardly shows in it, which it does in
 * time by the clock.
 */
final class ProcessorClock {

	private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

	private final List<Path> backends = new ArrayList<>();

	/**
	 * Create a clock for those processes that there are now.
	 */
	ProcessorClock(Connection connection) throws SQLException {
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
	 */
	static boolean isSupported() {
		return Files.isReadable(Path.of("/proc/self/schedstat"));
	}

	long nanos() throws IOException {
		return this.threads.getCurrentThreadCpuTime() + serverNanos();
	}

	/**
	 * Return the part of the server.
	 */
	long serverNanos() throws IOException {
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
