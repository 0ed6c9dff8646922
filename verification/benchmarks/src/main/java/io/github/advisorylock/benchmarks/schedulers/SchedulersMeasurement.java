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

package io.github.advisorylock.benchmarks.schedulers;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.benchmarks.ProcessorClock;
import io.github.advisorylock.testsupport.CountingSocketFactory;

import org.springframework.util.Assert;

/**
 * Measures what one instance of a scheduler costs its database: after the run of a job
 * that is due again in a year, and then what is added for each run of a job that is due
 * every second or few.
 */
public final class SchedulersMeasurement {

	private static final DateTimeFormatter EACH_YEAR = DateTimeFormatter.ofPattern("s m H d M '*'");

	/** How long the slowest of them takes to start, and what may follow its run. */
	private static final int START_SECONDS = 20;

	private static final int PATIENCE_SECONDS = 60;

	private final String url;

	private final int seconds;

	private final int idleSeconds;

	private final int settlingSeconds;

	private int databases;

	/**
	 * Create a measurement.
	 * @param url the server, which should have nothing else to do
	 * @param quick whether it is enough to see that it works
	 */
	public SchedulersMeasurement(String url, boolean quick) {
		this.url = url;
		this.seconds = quick ? 2 : 15;
		this.idleSeconds = quick ? 2 : 120;
		this.settlingSeconds = quick ? 1 : 3;
	}

	/**
	 * Measure one after the other.
	 * @return a row for each
	 * @throws Exception if anything fails
	 */
	public List<Row> run() throws Exception {
		List<Row> rows = new ArrayList<>();
		try (Connection observer = DriverManager.getConnection(this.url)) {
			for (Candidate candidate : Candidate.values()) {
				// What polls each few seconds is to do that some times
				int seconds = this.seconds * ((candidate.period() > 1) ? 3 : 1);
				Part idle = measureIdle(candidate, observer);
				Part busy = measure(candidate, "*/" + candidate.period() + " * * * * *", seconds, observer);
				Usage idleSecond = idle.usage().times(1 / idle.seconds());
				rows.add(new Row(candidate.description(), busy.runs(), cells(idleSecond),
						cells(busy.usage().minus(idleSecond.times(busy.seconds())).times(1.0 / busy.runs()))));
			}
		}
		return rows;
	}

	private static List<Double> cells(Usage usage) {
		return List.of(usage.roundTrips(), usage.statements(), usage.walBytes(), usage.serverMicros());
	}

	/**
	 * Measure for two minutes in which no job is due, after one was run.
	 */
	private Part measureIdle(Candidate candidate, Connection observer) throws Exception {
		AtomicInteger runs = new AtomicInteger();
		try (JobScheduler scheduler = candidate.create()) {
			LocalDateTime due = LocalDateTime.now(ZoneId.systemDefault()).plusSeconds(START_SECONDS);
			scheduler.start(CountingSocketFactory.addTo(newDatabase(observer)), EACH_YEAR.format(due),
					runs::incrementAndGet);
			for (int i = 0; i < PATIENCE_SECONDS && runs.get() == 0; i++) {
				sleepUntilBetweenSeconds(1);
			}
			sleepUntilBetweenSeconds(this.settlingSeconds * candidate.period());
			Assert.state(runs.get() == 1, () -> "Not run once, but " + runs + " times: " + candidate.description());
			ProcessorClock clock = new ProcessorClock(observer);
			Usage before = Usage.of(observer, clock);
			long started = System.nanoTime();
			sleepUntilBetweenSeconds(this.idleSeconds);
			return new Part(runs.get(), (System.nanoTime() - started) / 1e9, Usage.of(observer, clock).minus(before));
		}
	}

	/**
	 * Measure for some seconds, and until a job was run as often as it must.
	 */
	private Part measure(Candidate candidate, String cron, int seconds, Connection observer) throws Exception {
		AtomicInteger runs = new AtomicInteger();
		try (JobScheduler scheduler = candidate.create()) {
			scheduler.start(CountingSocketFactory.addTo(newDatabase(observer)), cron, runs::incrementAndGet);
			sleepUntilBetweenSeconds(this.settlingSeconds * candidate.period());
			ProcessorClock clock = new ProcessorClock(observer);
			Usage before = Usage.of(observer, clock);
			int runsBefore = runs.get();
			long started = System.nanoTime();
			sleepUntilBetweenSeconds(seconds);
			for (int i = 0; i < PATIENCE_SECONDS && runs.get() == runsBefore; i++) {
				sleepUntilBetweenSeconds(1);
			}
			Part part = new Part(runs.get() - runsBefore, (System.nanoTime() - started) / 1e9,
					Usage.of(observer, clock).minus(before));
			Assert.state(part.runs() > 0, () -> "No job was run: " + candidate.description());
			return part;
		}
	}

	/**
	 * Create a database, so that nobody finds what another one has left.
	 * @return its URL
	 */
	private String newDatabase(Connection observer) throws SQLException {
		String name = "schedulers_" + ++this.databases;
		try (Statement statement = observer.createStatement()) {
			statement.execute("CREATE DATABASE " + name);
		}
		return this.url.replace("/postgres?", "/" + name + "?");
	}

	/**
	 * Sleep for some seconds, and until no job is just being run.
	 */
	private static void sleepUntilBetweenSeconds(int seconds) throws InterruptedException {
		long end = (System.currentTimeMillis() / 1000 + seconds) * 1000 + 700;
		TimeUnit.MILLISECONDS.sleep(Math.max(0, end - System.currentTimeMillis()));
	}

	private record Part(int runs, double seconds, Usage usage) {

	}

	/**
	 * What a scheduler costs, each as round trips, statements, bytes of WAL and
	 * microseconds of the server's processor time.
	 *
	 * @param name which scheduler
	 * @param runs how often its job was run
	 * @param idleSecond what a second costs in which no job is due
	 * @param run what a run adds
	 */
	public record Row(String name, int runs, List<Double> idleSecond, List<Double> run) {

		/**
		 * Return this for programs.
		 * @return numbers by name
		 */
		public Map<String, Object> toMap() {
			return Map.of("runs", this.runs, "idleSecond", this.idleSecond, "run", this.run);
		}

	}

}
