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

import java.io.IOException;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * What a round costs the server.
 *
 * @param statements how many statements it got
 * @param connections how many connections there were at most
 * @param processorSeconds for how long all its processes worked
 */
record Cost(long statements, int connections, double processorSeconds) {

	/**
	 * Measure a round.
	 */
	static Cost of(FleetServer server, String database, Runnable round) throws IOException, SQLException {
		long statements = server.statements(database);
		double processor = server.processorSeconds();
		AtomicBoolean over = new AtomicBoolean();
		CompletableFuture<Integer> peak = CompletableFuture.supplyAsync(() -> peak(server, database, over));
		try {
			round.run();
		}
		finally {
			over.set(true);
		}
		return new Cost(server.statements(database) - statements, peak.join(), server.processorSeconds() - processor);
	}

	private static int peak(FleetServer server, String database, AtomicBoolean over) {
		int peak = 0;
		try {
			do {
				peak = Math.max(peak, server.connections(database));
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
			}
			while (!over.get());
			return peak;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
