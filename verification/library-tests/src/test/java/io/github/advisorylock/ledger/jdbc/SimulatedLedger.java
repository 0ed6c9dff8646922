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

package io.github.advisorylock.ledger.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import io.github.advisorylock.ledger.LedgerJob;
import org.jspecify.annotations.Nullable;

/**
 * A model of the rows of the ledger, and of what the statements on runs do with them,
 * told by their text. What the SQL itself does is tested elsewhere, on a real server.
 */
public final class SimulatedLedger {

	private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-zA-Z]+)");

	static final LedgerTables TABLES = new LedgerTables(Map.of("job", "job", "run", "run", "pause", "pause", "schedule",
			"schedule", "completion", "completion", "token", "token", "instance", "instance", "backfill", "backfill"));

	static final RunStatements STATEMENTS = new RunStatements(TABLES);

	private static final int MOST_RUNS = 100;

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Map<String, Verb> VERBS = new HashMap<>(
			Map.ofEntries(verb(STATEMENTS.begin, SimulatedLedger::begin), verb(STATEMENTS.end, SimulatedLedger::end),
					verb(TABLES.in(JobStatements.APPEAR), SimulatedLedger::appear),
					verb(TABLES.in(BackfillRepository.BEGIN), SimulatedLedger::beginBackfill),
					verb(TABLES.in(BackfillRepository.TELL), SimulatedLedger::tellBackfill),
					verb(TABLES.in("SELECT EXISTS (" + JobStatements.DRAINED + ")"),
							(rows, named, writes) -> new Object[] { rows.isDrained(named) })));

	static {
		for (int bits = 0; bits < 16; bits++) {
			RunStatements.Kind kind = new RunStatements.Kind((bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0,
					(bits & 8) != 0);
			RunStatements.Decisions decisions = STATEMENTS.decisions(kind);
			VERBS.putAll(Map.ofEntries(verb(decisions.look(), (rows, run, writes) -> rows.decide(run, kind, false)),
					verb(decisions.apart(), (rows, run, writes) -> rows.decide(run, kind, true))));
		}
	}

	private final Supplier<Instant> clock;

	private final Map<String, Job> jobs = new LinkedHashMap<>();

	private final List<Run> runs = new ArrayList<>();

	private final Map<String, Instant> drains = new HashMap<>();

	private final SimulatedSchedules schedules = new SimulatedSchedules();

	private final Map<String, Backfill> backfills = new HashMap<>();

	private final Predicate<String> held;

	private Consumer<Run> observer = (run) -> {
	};

	private long sequence;

	/**
	 * Create a ledger without rows.
	 * @param clock the clock of the server
	 * @param held whether a key is locked
	 */
	public SimulatedLedger(Supplier<Instant> clock, Predicate<String> held) {
		this.clock = clock;
		this.held = held;
	}

	private static Map.Entry<String, Verb> verb(String sql, Action action) {
		List<String> names = PARAMETER.matcher(sql).results().map((found) -> found.group(1)).toList();
		return Map.entry(PARAMETER.matcher(sql).replaceAll("?").strip(), new Verb(names, action));
	}

	Instant now() {
		return this.clock.get();
	}

	/**
	 * Return the row of a job.
	 */
	public Job job(String key) {
		return this.jobs.computeIfAbsent(key, (name) -> new Job(this.clock.get()));
	}

	/**
	 * Tell of each run that is written down, at its start and at its end.
	 */
	public void observe(Consumer<Run> observer) {
		this.observer = observer;
	}

	private void write(Run run) {
		this.observer.accept(run);
		if (this.runs.size() > MOST_RUNS) {
			this.runs.remove(0);
		}
	}

	/**
	 * Execute a statement if it is one of the ledger.
	 * @param values what it binds
	 * @param later takes what is to be written when the transaction commits, {@code null}
	 * outside of one
	 * @return what it answers, {@code null} if it is another one
	 */
	public Object @Nullable [] execute(String sql, Object[] values, @Nullable List<Runnable> later) {
		Verb verb = VERBS.get(sql);
		if (verb == null) {
			return null;
		}
		Map<String, Object> named = new LinkedHashMap<>();
		for (int i = 0; i < values.length; i++) {
			named.put(verb.names.get(i), values[i]);
		}
		List<Runnable> writes = new ArrayList<>();
		Object[] answer = verb.action.execute(this, new Values(named), writes);
		if (later != null) {
			later.addAll(writes);
		}
		else {
			writes.forEach(Runnable::run);
		}
		return answer;
	}

	private Object[] decide(Values run, RunStatements.Kind kind, boolean draws) {
		Job job = job(run.text("key"));
		Instant now = this.clock.get();
		Instant tick = run.time("tick");
		boolean open = tick != null && tick.equals(job.openTick);
		Instant latest = now.plus(MINUTE);
		String outcome = "EXECUTED";
		if (kind.drainable() && isDrained(run)) {
			outcome = RunStatements.DRAINED;
		}
		else if (job.pausedAt != null) {
			outcome = "PAUSED";
		}
		else if (kind.backfilled()
				&& !isBackfilled(run.text("key"), Objects.requireNonNull(tick), run.text("instance"))) {
			outcome = "PAUSED";
		}
		else if (kind.planned()
				&& !this.schedules.isKnown(run.text("namespace"), run.text("key"), run.time("scheduleKnown"))) {
			outcome = RunStatements.RESCHEDULED;
		}
		else if (tick != null && tick.isAfter(latest)) {
			outcome = RunStatements.AHEAD;
		}
		else if (kind.backfilled() ? job.executed.contains(tick)
				: tick != null && job.lastTick != null && !tick.isAfter(job.lastTick)) {
			outcome = "ALREADY_RAN";
		}
		else if (run.is("backOff") && open && (job.givenUp || (job.retryAt != null && job.retryAt.isAfter(now)))) {
			outcome = "TOO_SOON";
		}
		else if (run.number("minInterval") != null && job.lastStartedAt != null
				&& job.lastStartedAt.isAfter(now.minusNanos(run.number("minInterval") * 1000))) {
			outcome = "TOO_SOON";
		}
		Long token = (draws && outcome.equals("EXECUTED")) ? Math.max(job.token + 1, ++this.sequence) : null;
		this.sequence = Math.max(this.sequence, (token != null) ? token : 0);
		return new Object[] { outcome, token, now.atOffset(ZoneOffset.UTC), open ? job.attempts + 1 : 1, null,
				open ? job.failedAttempts : 0,
				kind.backfilled() && job.lastTick != null && tick != null && !job.lastTick.isBefore(tick), 0L };
	}

	private Object[] begin(Values run, List<Runnable> writes) {
		Job job = job(run.text("key"));
		Instant now = this.clock.get();
		Instant tick = run.time("tick");
		long token = run.number("token");
		if (job.token >= token || (tick != null && job.lastTick != null && !job.lastTick.isBefore(tick))) {
			return new Object[] { null, null };
		}
		writes.add(() -> {
			abandon(run.text("key"), token);
			job.token = token;
			job.lastStartedAt = now;
			if (tick != null && (job.openTick == null || !tick.isBefore(job.openTick))) {
				job.open(tick, run.number("attempt"), run.number("failedAttempts"));
			}
			Run begun = new Run(run.text("key"), run.time("ofTick"), token, now);
			this.runs.add(begun);
			write(begun);
		});
		return new Object[] { now.atOffset(ZoneOffset.UTC), null };
	}

	private Object[] end(Values run, List<Runnable> writes) {
		Job job = job(run.text("key"));
		Instant tick = run.time("tick");
		long token = run.number("token");
		boolean executed = run.text("outcome").equals("EXECUTED");
		Run begun = this.runs.stream().filter((other) -> other.token == token).findFirst().orElse(null);
		if (begun != null && begun.outcome != null) {
			return new Object[] { 0L };
		}
		boolean ofJob = (job.token < token || (job.token == token && begun != null))
				&& (!executed || tick == null || job.lastTick == null || job.lastTick.isBefore(tick));
		if (executed && !ofJob) {
			return new Object[] { 0L };
		}
		Instant start = run.time("startedAt");
		writes.add(() -> {
			Run ended = (begun != null) ? begun : new Run(run.text("key"), run.time("ofTick"), token, start);
			if (begun == null) {
				this.runs.add(ended);
			}
			ended.outcome = run.text("outcome");
			ended.error = run.text("errorClass");
			if (executed && ended.tick != null) {
				job.executed.add(ended.tick);
			}
			write(ended);
			if (ofJob) {
				abandon(run.text("key"), token);
				job.end(run, executed, tick, start, this.clock.get());
			}
		});
		return new Object[] { 1L };
	}

	private Object[] appear(Values instance, List<Runnable> writes) {
		return new Object[] { this.schedules.summary(), isDrained(instance) };
	}

	private Object[] beginBackfill(Values backfill, List<Runnable> writes) {
		String key = backfill.text("key");
		if (job(key).pausedAt != null || isUnderWay(key)) {
			return new Object[0];
		}
		Instant now = this.clock.get();
		writes.add(() -> this.backfills.put(key, new Backfill(backfill.text("instance"), now, now, null, null)));
		return new Object[] { now.atOffset(ZoneOffset.UTC) };
	}

	private Object[] tellBackfill(Values backfill, List<Runnable> writes) {
		Backfill before = this.backfills.get(backfill.text("key"));
		if (before == null || before.outcome != null || !before.startedAt.equals(backfill.time("startedAt"))) {
			return new Object[] { 0L };
		}
		writes.add(() -> this.backfills.put(backfill.text("key"), new Backfill(before.instance, before.startedAt,
				this.clock.get(), backfill.time("tick"), backfill.text("outcome"))));
		return new Object[] { 1L };
	}

	private boolean isUnderWay(String key) {
		Backfill backfill = this.backfills.get(key);
		return backfill != null && backfill.outcome == null
				&& (backfill.seenAt.isAfter(this.clock.get().minusSeconds(10)) || this.held.test(key));
	}

	/**
	 * Return whether an instance backfills a tick of a job.
	 */
	public boolean isBackfilled(String key, Instant tick, String instance) {
		Backfill backfill = this.backfills.get(key);
		return backfill != null && backfill.outcome == null && tick.equals(backfill.currentTick)
				&& backfill.instance.equals(instance);
	}

	/**
	 * End the backfill of a job, for an operator.
	 * @return {@code false} if none is under way
	 */
	public boolean cancelBackfill(String key) {
		Backfill before = isUnderWay(key) ? this.backfills.get(key) : null;
		if (before != null) {
			this.backfills.put(key,
					new Backfill(before.instance, before.startedAt, this.clock.get(), before.currentTick, "CANCELLED"));
		}
		return before != null;
	}

	private boolean isDrained(Values instance) {
		return this.drains.containsKey(instance.text("instance"));
	}

	/**
	 * Return the schedules that operators have chosen.
	 */
	public SimulatedSchedules schedules() {
		return this.schedules;
	}

	/**
	 * Drain an instance, or resume it.
	 */
	public void drain(String instance, boolean drained) {
		if (drained) {
			this.drains.putIfAbsent(instance, now());
		}
		else {
			this.drains.remove(instance);
		}
	}

	private void abandon(String key, long token) {
		this.runs.stream()
			.filter((run) -> run.key.equals(key) && run.outcome == null && run.token < token)
			.forEach((run) -> run.outcome = "ABANDONED");
	}

	/**
	 * Have the open tick of a job tried again, for an operator.
	 */
	public @Nullable Instant retry(String key) {
		Job job = job(key);
		if (job.openTick != null && job.pausedAt == null) {
			job.givenUp = false;
			job.retryAt = null;
		}
		return (job.pausedAt == null) ? job.openTick : null;
	}

	/**
	 * The row of a job.
	 */
	public static final class Job {

		private final Instant firstSeenAt;

		private @Nullable Instant lastTick;

		private @Nullable Instant lastStartedAt;

		private long token;

		private @Nullable Instant openTick;

		private long attempts;

		private long failedAttempts;

		private boolean givenUp;

		private @Nullable Instant retryAt;

		private @Nullable Instant pausedAt;

		private final Set<Instant> executed = new HashSet<>();

		private Job(Instant firstSeenAt) {
			this.firstSeenAt = firstSeenAt;
		}

		private void open(@Nullable Instant tick, long attempts, long failedAttempts) {
			this.openTick = tick;
			this.attempts = (tick != null) ? attempts : 0;
			this.failedAttempts = (tick != null) ? failedAttempts : 0;
			this.givenUp = this.givenUp && tick == null;
			this.retryAt = null;
		}

		private void end(Values run, boolean executed, @Nullable Instant tick, Instant start, Instant now) {
			this.token = run.number("token");
			this.lastStartedAt = start;
			if (tick != null && (this.openTick == null || !tick.isBefore(this.openTick))) {
				open(executed ? null : tick, run.number("attempt"), run.number("failedAttempts"));
				this.givenUp = !executed && run.is("givenUp");
				boolean waits = run.text("outcome").equals("FAILED") && !this.givenUp;
				long seconds = Math.min(600, 30L << Math.min(run.number("attempt") - 1, 5));
				this.retryAt = waits ? now.plusSeconds(seconds + run.number("token") % (seconds / 5)) : null;
			}
			this.lastTick = (executed && tick != null) ? tick : this.lastTick;
		}

		/**
		 * Pause the job, or resume it.
		 */
		public void pause(@Nullable Instant since) {
			this.pausedAt = since;
		}

		/**
		 * Return since when it is paused.
		 */
		public @Nullable Instant pausedAt() {
			return this.pausedAt;
		}

		/**
		 * Return the last tick that was completed.
		 */
		public @Nullable Instant lastTick() {
			return this.lastTick;
		}

		/**
		 * Return whether it is known how often a tick was tried.
		 */
		public boolean isOpen(Instant tick) {
			return tick.equals(this.openTick);
		}

		/**
		 * Return whether nobody is to run a tick by himself before a time, or any more.
		 */
		public boolean waits(Instant tick, Instant time) {
			return this.openTick != null && (this.openTick.isAfter(tick) || (this.openTick.equals(tick)
					&& (this.givenUp || (this.retryAt != null && this.retryAt.isAfter(time)))));
		}

		JobRepository.ObservedJob observe(String namespace, String key, boolean held, Instant clock) {
			return new JobRepository.ObservedJob(new LedgerJob(namespace, key, this.firstSeenAt, this.lastTick,
					this.lastStartedAt, null, null, this.token, this.pausedAt, null, null, null, this.openTick,
					(int) this.attempts, this.retryAt, false, 0, null, this.givenUp), held, clock);
		}

	}

	/**
	 * The row of a run.
	 */
	public static final class Run {

		private final String key;

		private final @Nullable Instant tick;

		private final long token;

		private final Instant startedAt;

		private @Nullable String outcome;

		private @Nullable String error;

		private Run(String key, @Nullable Instant tick, long token, Instant startedAt) {
			this.key = key;
			this.tick = tick;
			this.token = token;
			this.startedAt = startedAt;
		}

		/**
		 * Return the key.
		 */
		public String key() {
			return this.key;
		}

		/**
		 * Return the tick.
		 */
		public @Nullable Instant tick() {
			return this.tick;
		}

		/**
		 * Return when it started.
		 */
		public Instant startedAt() {
			return this.startedAt;
		}

		/**
		 * Return how it ended, {@code null} before.
		 */
		public @Nullable String outcome() {
			return this.outcome;
		}

		/**
		 * Return the class of what it failed by.
		 */
		public @Nullable String error() {
			return this.error;
		}

	}

	/**
	 * The row of a backfill.
	 */
	private record Backfill(String instance, Instant startedAt, Instant seenAt, @Nullable Instant currentTick,
			@Nullable String outcome) {

	}

	private record Values(Map<String, Object> named) {

		private String text(String name) {
			return (String) this.named.get(name);
		}

		private @Nullable Long number(String name) {
			Number number = (Number) this.named.get(name);
			return (number != null) ? number.longValue() : null;
		}

		private @Nullable Instant time(String name) {
			OffsetDateTime time = (OffsetDateTime) this.named.get(name);
			return (time != null) ? time.toInstant() : null;
		}

		private boolean is(String name) {
			return (boolean) this.named.get(name);
		}

	}

	private record Verb(List<String> names, Action action) {

	}

	private interface Action {

		Object[] execute(SimulatedLedger ledger, Values values, List<Runnable> writes);

	}

}
