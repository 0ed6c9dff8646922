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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.Run;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.PayloadApplicationEvent;

/**
 * The ledger of one application, on the rows of a model: its runs, the watcher of its
 * open ticks, what it says and is told each twelve seconds, and the schedules that it
 * knows.
 */
public final class SimulatedJobs extends PostgresAdvisoryLockLedger {

	private static final LedgerSettings SETTINGS = new LedgerSettings(LedgerSettings.DEFAULT_TABLE_PREFIX, false,
			Duration.ofDays(7), 100, Duration.ofDays(7));

	private final RunRepository runs;

	private final SimulatedLedger rows;

	private final Consumer<Runnable> question;

	private final Predicate<AdvisoryLockKey> held;

	private final BooleanSupplier stopping;

	private final RecordedMethodRegistry methods;

	private final UnfinishedTickWatcher watcher;

	private final JobRepository repository;

	private final BackfillRepository backfills;

	private final SafeTask beat;

	private long lookups;

	/**
	 * Create the ledger of an application.
	 * @param dataSource leads to the server
	 * @param methods knows the annotated methods
	 * @param beans has their beans
	 * @param threads the threads
	 * @param rows the rows
	 * @param question asks the server something
	 * @param held whether the server has a lock
	 * @param stopping whether the application is being shut down
	 */
	public SimulatedJobs(DataSource dataSource, SingleRunnerAnnotationBeanPostProcessor methods, BeanFactory beans,
			LockScheduler.Threads threads, SimulatedLedger rows, Consumer<Runnable> question,
			Predicate<AdvisoryLockKey> held, BooleanSupplier stopping) {
		super(dataSource, SETTINGS, "", threads.instance(), new NamedJobs(List::of), (event) -> {
		});
		LedgerConnections connections = new LedgerConnections(dataSource);
		Supplier<String> instance = threads.instance()::name;
		this.rows = rows;
		this.question = question;
		this.held = held;
		this.stopping = stopping;
		this.runs = new RunRepository(connections, SimulatedLedger.STATEMENTS, SETTINGS, "", instance,
				() -> learn(false), () -> drained(true));
		this.repository = new JobRepository(connections, SimulatedLedger.TABLES, instance);
		this.backfills = new BackfillRepository(connections, SimulatedLedger.TABLES, instance);
		InstancePresence presence = new InstancePresence(() -> this, "", null, List::of, threads);
		this.beat = new SafeTask("Failed to say that the application is there", presence::beat);
		this.methods = new RecordedMethodRegistry(methods, beans, (method) -> true);
		this.methods.reschedule(Map.of(), true);
		this.watcher = new UnfinishedTickWatcher(this, this.methods, threads);
	}

	@Override
	public boolean isOpen() {
		return true;
	}

	@Override
	public void answer(Function<String, List<Run.Stack>> stacks, Hold.SideConnection side) {
	}

	@Override
	public RunRecord record(AdvisoryLockKey key, LockScope scope, LockRequest request) {
		return new RecordedRun(this.runs, key, scope, request, this.stopping);
	}

	@Override
	public JobRepository repository() {
		return this.repository;
	}

	/**
	 * Say that the application is there, and be told what operators want.
	 */
	public void beat() {
		this.beat.run();
	}

	@Override
	public void rescheduled() {
		learn(true);
	}

	/**
	 * Look up the schedules. Of two who do, the one who came last tells: they would do so
	 * one after the other, but here the second one can't wait for the first one.
	 */
	private void learn(boolean certain) {
		Map<JobName, CronTicks.Changes> found = new HashMap<>();
		long lookup = ++this.lookups;
		this.question.accept(() -> found.putAll(this.rows.schedules().all()));
		if (lookup == this.lookups) {
			this.methods.reschedule(found, certain);
		}
	}

	@Override
	List<JobRepository.ObservedJob> observe(List<AdvisoryLockKey> keys) {
		List<JobRepository.ObservedJob> seen = new ArrayList<>();
		this.question.accept(() -> keys.forEach((key) -> seen.add(
				this.rows.job(key.name()).observe(key.namespace(), key.name(), this.held.test(key), this.rows.now()))));
		return seen;
	}

	/**
	 * Run ticks of a job that are over.
	 * @param ticker the clock
	 * @param caller makes the calls for them
	 */
	public LockOutcome backfill(String key, Instant from, Instant to, LockScheduler.Ticker ticker, Caller caller) {
		JobFinder.LedgerMethod method = this.methods.withFixedKey()
			.stream()
			.filter((job) -> job.name().key().equals(key))
			.findFirst()
			.orElseThrow();
		Backfill.Work work = Objects.requireNonNull(method.backfill());
		return new Backfill(this.backfills, method.name(), new CalledWork(work, caller), from, to, false, "operator",
				this.stopping, ticker)
			.get();
	}

	/**
	 * Begin to look after the ticks, as after a start.
	 */
	public void start() {
		this.watcher.openLatest();
	}

	/**
	 * Look after them no more.
	 */
	public void stop() {
		this.watcher.stop();
	}

	/**
	 * Tell the watcher what has become of a call.
	 */
	public void publish(Object event) {
		this.watcher.onApplicationEvent(new PayloadApplicationEvent<>(this, event));
	}

	/**
	 * Makes the calls of a backfill.
	 */
	public interface Caller {

		/**
		 * Make a call.
		 * @param backfilled the tick that it is for, {@code null} for one that has come
		 * meanwhile
		 */
		LockOutcome call(@Nullable Instant backfilled, Supplier<LockOutcome> run);

	}

	private record CalledWork(Backfill.Work work, Caller caller) implements Backfill.Work {

		@Override
		public AdvisoryLockKey key() {
			return this.work.key();
		}

		@Override
		public @Nullable CronTicks ticks(Instant time) {
			return this.work.ticks(time);
		}

		@Override
		public @Nullable Instant nextAfter(Instant time) {
			return this.work.nextAfter(time);
		}

		@Override
		public LockOutcome run(Instant tick, boolean again) {
			return this.caller.call(tick, () -> this.work.run(tick, again));
		}

		@Override
		public void call(Instant tick) {
			this.caller.call(null, () -> {
				this.work.call(tick);
				return LockOutcome.EXECUTED;
			});
		}

	}

}
