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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A fleet that suffers one fault after the other, and is judged at the end.
 */
final class Trial {

	private static final Log logger = LogFactory.getLog(Trial.class);

	/**
	 * Until all kinds of work go on again after a fault. Far above what is documented: a
	 * report says how long it took.
	 */
	private static final Duration RECOVERY = Duration.ofSeconds(90);

	private static final List<String> KINDS = Stream
		.concat(Stream.of(Job.values()).map(Job::prefix), Stream.of(Job.SESSION, Job.LEADER))
		.toList();

	/**
	 * So many faults begin with a quiet minute, fewer with as many seconds.
	 */
	private static final int MANY = 15;

	private final Setup setup;

	private final Path directory;

	private final Report report;

	private final List<Disturbance> disturbances = new ArrayList<>();

	Trial(Setup setup, Path directory, Report report) {
		this.setup = setup;
		this.directory = directory;
		this.report = report;
	}

	/**
	 * Let the faults happen, until there are no more or the time is over.
	 */
	void run(List<Fault> faults, boolean withStandby, Instant end) throws Exception {
		try (Fleet fleet = new Fleet(this.setup, this.directory, AdvisoryLockContestant.class, withStandby)) {
			this.report.addPlace(machine() + ", PostgreSQL " + fleet.database().version(), this.setup.jvm());
			fleet.startInstances();
			long first = Job.due(Fleet.PERIOD) + 1;
			awaitWork(fleet, History.uptime());
			// A minute that has no excuse
			pause((faults.size() < MANY) ? faults.size() : 60);
			for (Fault fault : faults) {
				if (Instant.now().isAfter(end)) {
					break;
				}
				if (fault.isMeantFor(this.setup)) {
					suffer(fleet, fault);
				}
			}
			judge(fleet, first, Job.due(Fleet.PERIOD) - 1);
		}
	}

	private void suffer(Fleet fleet, Fault fault) {
		fleet.nextTurn();
		fleet.awaitWorkFor(fault);
		long begin = History.uptime();
		fault.inject(fleet);
		pause(fault.seconds());
		fault.heal(fleet);
		long end = History.uptime();
		this.disturbances.add(new Disturbance(fault, fault.place(fleet), begin, end));
		long since = (fault.seconds() > 0) ? end : begin;
		long recovery = awaitWork(fleet, since) - since;
		this.report.addRecovery(fault, recovery);
		logger.info(this.directory.getFileName() + ": " + fault + ", " + recovery + " ms until all work went on");
	}

	/**
	 * Wait until each kind of work was done that began after a moment, and return when
	 * that was so.
	 */
	private static long awaitWork(Fleet fleet, long since) {
		List<Long> moments = new ArrayList<>();
		Awaitility.await("work of all kinds").atMost(RECOVERY).pollInterval(Duration.ofMillis(200)).until(() -> {
			List<Run> runs = Run.of(fleet.events()).stream().filter((run) -> run.begin() > since).toList();
			moments.clear();
			for (String kind : KINDS) {
				Predicate<Run> good = (run) -> run.key().startsWith(kind)
						&& (kind.endsWith(":") ? run.isDone() : run.isEnded());
				runs.stream().filter(good).mapToLong(Run::end).min().ifPresent(moments::add);
			}
			return moments.size() == KINDS.size();
		});
		return moments.stream().mapToLong(Long::longValue).max().orElseThrow();
	}

	private void judge(Fleet fleet, long first, long last) throws Exception {
		List<Execution> expected = new ArrayList<>();
		for (Job job : Job.values()) {
			for (long number = first; number <= last; number++) {
				expected.add(new Execution(job.key(number), Instant.ofEpochMilli(number * Fleet.PERIOD.toMillis())));
			}
		}
		try {
			Awaitility.await("all that was planned")
				.atMost(Fleet.PERIOD.multipliedBy(Job.PATIENCE + 5))
				.pollInterval(Duration.ofMillis(500))
				.until(() -> new Checker(fleet.events(), List.of(), fleet.database().recorded(), this.disturbances,
						this.setup.jvm().virtual(), History.uptime())
					.lost(expected)
					.isEmpty());
		}
		catch (ConditionTimeoutException ex) {
			logger.error("Not all was executed", ex);
		}
		long end = History.uptime();
		fleet.stopInstances();
		boolean lossy = this.disturbances.stream().anyMatch((disturbance) -> disturbance.fault().losesCommits());
		List<String> leftovers = new ArrayList<>();
		try {
			Awaitility.await("nothing is left").atMost(Duration.ofSeconds(30)).until(() -> {
				leftovers.clear();
				leftovers.addAll(fleet.database().leftovers(!lossy));
				return leftovers.isEmpty();
			});
		}
		catch (ConditionTimeoutException ex) {
			logger.error("Something is left", ex);
		}
		List<Run> runs = Run.of(fleet.events());
		this.disturbances.stream().map((disturbance) -> Toll.of(disturbance, runs)).forEach((toll) -> {
			this.report.add(toll);
			logger.info(this.directory.getFileName() + ": " + toll);
		});
		Findings findings = new Checker(fleet.events(), fleet.database().effects(), fleet.database().recorded(),
				this.disturbances, this.setup.jvm().virtual(), end)
			.check(expected);
		List<String> violations = new ArrayList<>(findings.violations());
		violations
			.addAll(new PromiseRules(fleet.events(), fleet.database().written(), this.disturbances, end).violations());
		violations.addAll(PromiseRules.missing(runs));
		violations.addAll(judgeOperators(fleet, end));
		violations.addAll(new CompletionRules(fleet.database().recorded(), fleet.database().completed()).violations());
		int tables = fleet.database().tablesOfCompletions();
		if (tables != (this.setup.partitioned() ? Database.PARTITIONS : 1)) {
			violations.add("Completed keys lie in " + tables + " tables");
		}
		leftovers.forEach((leftover) -> violations.add("Left behind: " + leftover));
		logger.info(this.directory.getFileName() + ": " + this.disturbances.size() + " faults, " + findings.runs()
				+ " runs, " + findings.executed() + " executed, " + findings.overlaps().size()
				+ " went on for a moment after they had lost their lock, " + violations.size() + " violations");
		violations.forEach((violation) -> logger.error(this.directory.getFileName() + ": " + violation));
		this.report.add(findings, violations);
	}

	private List<String> judgeOperators(Fleet fleet, long end) {
		List<Event> events = fleet.events();
		Map<Act, Integer> acts = new EnumMap<>(Act.class);
		List<String> violations = new ArrayList<>();
		violations
			.addAll(new OperatorRules(events, fleet.database().recordedKeys(), this.disturbances, acts).violations());
		violations
			.addAll(new ScheduleRules(events, fleet.database().recorded(), this.disturbances, acts, end).violations());
		violations.addAll(new MemberRules(events, this.disturbances, acts, end).violations());
		logger.info(this.directory.getFileName() + ": " + acts);
		this.report.add(acts);
		return violations;
	}

	private static String machine() {
		try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
			return lines.filter((line) -> line.startsWith("model name"))
				.findFirst()
				.map((line) -> line.substring(line.indexOf(':') + 1).strip())
				.orElse("an unnamed processor") + " (" + Runtime.getRuntime().availableProcessors() + " threads)";
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void pause(int seconds) {
		long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
		Awaitility.await()
			.atMost(Duration.ofSeconds(seconds + 30))
			.pollInterval(Duration.ofMillis(50))
			.until(() -> System.nanoTime() >= end);
	}

}
