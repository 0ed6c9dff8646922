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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What instances ask the server while nothing happens, in each use of the library. Each
 * fleet has a database of its own, so that all are idle at the same time.
 */
final class IdleMeasurement {

	private static final int SIZE = 10;

	private static final int ROLES = 20;

	private static final int SETTLING_SECONDS = 10;

	/**
	 * Long enough for what is said once a minute.
	 */
	private static final int SECONDS = 60;

	private final FleetServer server;

	private final List<Idler> idlers = new ArrayList<>();

	IdleMeasurement(FleetServer server) {
		this.server = server;
	}

	/**
	 * Return how many statements an instance makes each second.
	 */
	Map<String, Double> run() throws IOException, SQLException {
		try {
			start("uses no locks", SIZE, (fleet) -> {
			});
			start("has used a lock of scope `TRANSACTION`", SIZE, (fleet) -> fleet.play(Use.TRANSACTION, 1));
			start("holds a lock of scope `SESSION`", SIZE, Fleet::hold);
			start("remembers 50 ticks", 1, (fleet) -> fleet.play(Use.REMEMBERED, 50));
			start("leads a role", 1, (fleet) -> fleet.elect(1));
			start("leads 20 roles", 1, (fleet) -> fleet.elect(ROLES));
			start("is one of ten in the elections of a role", SIZE, (fleet) -> fleet.elect(1));
			start("is one of ten in the elections of 20 roles", SIZE, (fleet) -> fleet.elect(ROLES));
			start("uses the ledger", SIZE, (fleet) -> fleet.play(Use.PER_TICK, 1));
			start("has a method with `catchUp`", SIZE, (fleet) -> {
			}, "spring.profiles.active=" + CatchingUp.PROFILE);
			return measure();
		}
		finally {
			for (Idler idler : this.idlers) {
				idler.fleet.close();
			}
		}
	}

	private void start(String title, int size, Preparation preparation, String... properties)
			throws IOException, SQLException {
		String database = "idle_" + this.idlers.size();
		Fleet fleet = new Fleet(size, 1, this.server.create(database), properties);
		this.idlers.add(new Idler(title, database, fleet));
		preparation.prepare(fleet);
	}

	private Map<String, Double> measure() throws SQLException {
		LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(SETTLING_SECONDS));
		Map<String, Double> result = new LinkedHashMap<>();
		Map<Idler, Long> before = new LinkedHashMap<>();
		for (Idler idler : this.idlers) {
			before.put(idler, this.server.statements(idler.database));
		}
		LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(SECONDS));
		for (Idler idler : this.idlers) {
			long asked = this.server.statements(idler.database) - before.getOrDefault(idler, 0L);
			result.put(idler.title, (double) asked / SECONDS / idler.fleet.instances());
		}
		return result;
	}

	/**
	 * A fleet that is idle.
	 */
	private record Idler(String title, String database, Fleet fleet) {

	}

	/**
	 * What has happened before nothing happens.
	 */
	private interface Preparation {

		void prepare(Fleet fleet);

	}

}
