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
import java.util.Arrays;
import java.util.List;

import org.springframework.util.Assert;

/**
 * Lets fleets of several sizes want some jobs at one instant, and tells what that takes,
 * errors included: a job that was done twice is one.
 */
public final class FleetMeasurement {

	private static final int[] JOBS = { 1, 50, 500 };

	private static final int MOST_ROUNDS = 5;

	private static final int CALLS = 10_000;

	private static final int SOME = 20;

	private final boolean quick;

	private final List<Integer> sizes;

	private final List<Result> results = new ArrayList<>();

	private final FleetTables tables = new FleetTables();

	/**
	 * Create a measurement.
	 * @param quick whether one round of fifty jobs is enough
	 * @param sizes how many instances the fleets have, three at least
	 */
	public FleetMeasurement(boolean quick, List<Integer> sizes) {
		this.quick = quick;
		this.sizes = sizes;
	}

	/**
	 * Measure.
	 * @return what was seen, as tables in Markdown
	 * @throws IOException if a process can't be reached
	 * @throws SQLException if the server can't be reached
	 */
	public String run() throws IOException, SQLException {
		try (FleetServer server = new FleetServer()) {
			if (!this.quick) {
				this.tables.addIdle(new IdleMeasurement(server).run());
			}
			this.tables.addHeld(new HeldLocksMeasurement(server.create("held"), this.quick).run());
			for (int size : this.sizes) {
				String database = "direct_" + size;
				String url = server.create(database);
				measure(server, database, FleetTables.DIRECT, new Fleet(size, 3, url));
				String pooled = "pooled_" + size;
				String session = server.create(pooled);
				try (Pooler pooler = new Pooler(server.port(), pooled)) {
					measure(server, pooled, FleetTables.POOLED,
							new Fleet(size, 3, pooler.url(), "advisory-lock.session.url=" + session));
				}
			}
			this.tables.addResults(this.results, jobs());
			return this.tables.toString();
		}
	}

	/**
	 * Return what instances had to complain of.
	 * @return errors, and warnings of the library
	 */
	public List<String> errors() {
		return this.results.stream().flatMap((result) -> result.errors().stream()).toList();
	}

	private int[] jobs() {
		return this.quick ? new int[] { 50 } : JOBS;
	}

	private void measure(FleetServer server, String database, String path, Fleet started)
			throws IOException, SQLException {
		try (Fleet fleet = started) {
			this.tables.addInstance(path, fleet);
			for (Use use : Use.values()) {
				if (use == Use.LEADER) {
					fleet.elect(1);
				}
				warmUp(fleet, use);
				for (int jobs : jobs()) {
					this.results.add(measure(server, database, path, fleet, use, jobs));
				}
			}
		}
	}

	/**
	 * Play until nobody complains: hundreds of lock sessions open at one instant, for
	 * some of which the server may take too long.
	 */
	private void warmUp(Fleet fleet, Use use) {
		int jobs = Arrays.stream(jobs()).min().orElseThrow();
		List<String> errors = fleet.play(use, jobs).errors();
		for (int round = 1; round < MOST_ROUNDS && !errors.isEmpty(); round++) {
			errors.forEach((error) -> System.out.println("  before " + use + " is measured: " + error));
			errors = fleet.play(use, jobs).errors();
		}
		List<String> last = errors;
		Assert.state(last.isEmpty(), () -> "Errors of " + use + " before it is measured: " + last);
	}

	private Result measure(FleetServer server, String database, String path, Fleet fleet, Use use, int jobs)
			throws IOException, SQLException {
		List<Round> rounds = new ArrayList<>();
		List<Cost> costs = new ArrayList<>();
		int number = this.quick ? 1 : Math.max(1, Math.min(MOST_ROUNDS, CALLS / (fleet.instances() * jobs)));
		for (int i = 0; i < number; i++) {
			costs.add(Cost.of(server, database, () -> rounds.add(fleet.play(use, jobs))));
		}
		List<Long> known = rounds.stream().flatMap((round) -> round.known().stream()).sorted().toList();
		int runs = rounds.stream().mapToInt(Round::runs).sum() / number;
		List<String> errors = rounds.stream().flatMap((round) -> round.errors().stream()).toList();
		Result result = new Result(path, fleet.instances(), use, jobs, known, runs, costs, errors);
		System.out.println(path + ", " + fleet.instances() + " instances, " + use + ", " + jobs + " jobs: "
				+ result.formatTimes() + " ms, " + result.formatCost());
		errors.stream().distinct().limit(SOME).forEach((error) -> System.out.println("  " + error));
		return result;
	}

}
