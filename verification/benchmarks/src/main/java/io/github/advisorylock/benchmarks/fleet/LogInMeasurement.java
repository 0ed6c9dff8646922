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
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.concurrent.locks.LockSupport;

import org.springframework.util.Assert;

/**
 * Has the first tick of a job be due at one instant on all instances of fleets, and tells
 * when their lock sessions were opened, and how many had to do without.
 */
public final class LogInMeasurement {

	private static final Duration AFTER = Duration.ofSeconds(25);

	private final int instances;

	/**
	 * Create a measurement.
	 * @param instances how many instances the fleets have
	 */
	public LogInMeasurement(int instances) {
		this.instances = instances;
	}

	/**
	 * Measure.
	 * @throws IOException if a process can't be reached
	 * @throws SQLException if the server can't be reached
	 */
	public void run() throws IOException, SQLException {
		try (FleetServer server = new FleetServer()) {
			measure(server, "at_the_tick", "0");
			measure(server, "before_the_tick", "50ms");
		}
	}

	private void measure(FleetServer server, String database, String spread) throws IOException, SQLException {
		LocalDateTime tick = LocalDateTime.now(ZoneId.systemDefault())
			.plusSeconds(60 + this.instances * 2L / 3)
			.withNano(0);
		try (Fleet fleet = new Fleet(this.instances, 3, server.create(database), "advisory-lock.spread=" + spread,
				"spring.profiles.active=" + FirstTick.PROFILE,
				"fleet.cron=%d %d %d * * *".formatted(tick.getSecond(), tick.getMinute(), tick.getHour()))) {
			Assert.state(LocalDateTime.now(ZoneId.systemDefault()).isBefore(tick), "The fleet was not there in time");
			LockSupport
				.parkNanos(Duration.between(LocalDateTime.now(ZoneId.systemDefault()), tick.plus(AFTER)).toNanos());
			String sessions = server.query("SELECT count(*) || ' open, ' || count(*) FILTER (WHERE a.backend_start < '"
					+ tick + "') || ' before the tick, ' || round(extract(epoch FROM max(a.backend_start) - "
					+ "min(a.backend_start)), 1) || ' s from the first to the last' FROM pg_catalog.pg_stat_activity a "
					+ "WHERE a.datname = '" + database + "' AND a.application_name NOT LIKE 'PostgreSQL%'");
			System.out.println(database + ": lock sessions of " + this.instances + " instances: " + sessions
					+ "; warnings: " + fleet.play(Use.TRANSACTION, 1).errors().size());
		}
	}

}
