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

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.ledger.jdbc.JobName;
import io.github.advisorylock.ledger.jdbc.PostgresAdvisoryLockLedger;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.thread.Threading;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Does the work of each {@link OperatedJob}, and what operators do to it: the instance at
 * the last place changes a schedule and backfills, the one before drains itself.
 */
class OperatedWork implements SmartLifecycle {

	private static final String BY = "trial";

	/**
	 * Longer than it takes until another schedule holds.
	 */
	private static final int RESCHEDULE = 38_000;

	/**
	 * How many schedules there are in turns, of which that of the annotation is the last.
	 */
	private static final int SCHEDULES = 2;

	/**
	 * The time from one drain to the next one.
	 */
	private static final int BETWEEN_DRAINS = 60_000;

	/**
	 * For how much of it the instance is drained.
	 */
	private static final int DRAINED = 15_000;

	/**
	 * Until when it is resumed: what was asked for before a fault may be done long after.
	 */
	private static final int RESUMED = 40_000;

	/**
	 * How often it is looked whether it is time.
	 */
	private static final int LOOK = 1_000;

	/**
	 * How many of the ticks of a backfill were backfilled before.
	 */
	private static final int BEFORE = 2;

	private static final String DRAINABLE = "SELECT instance FROM advisory_lock_instance WHERE instance LIKE ? "
			+ "AND stopped_at IS NULL ORDER BY born_at DESC LIMIT 1";

	private final PostgresAdvisoryLockLedger ledger;

	private final ObjectProvider<LockSession> session;

	private final JdbcTemplate jdbc;

	private final RecordedWork work;

	private final String instance;

	private final boolean virtualThreads;

	/**
	 * The run of the method on this thread.
	 */
	private final ThreadLocal<String> last = new ThreadLocal<>();

	private final Set<Thread> callers = ConcurrentHashMap.newKeySet();

	private final Instant base = History.now().minus(1, ChronoUnit.HOURS).truncatedTo(ChronoUnit.MINUTES);

	private volatile boolean running;

	private int reschedules;

	private int backfills;

	private long drains;

	OperatedWork(PostgresAdvisoryLockLedger ledger, ObjectProvider<LockSession> session, JdbcTemplate jdbc,
			RecordedWork work, ContestantSettings settings, Environment environment) {
		this.ledger = ledger;
		this.session = session;
		this.jdbc = jdbc;
		this.work = work;
		this.instance = settings.instance();
		this.virtualThreads = Threading.VIRTUAL.isActive(environment);
	}

	@Scheduled(fixedDelay = 500)
	@LeaderOnly(value = "sharded", shards = OperatedJob.SHARDS)
	void shard() throws Exception {
		LockContext lock = LockContext.current().orElseThrow();
		this.work.run(OperatedJob.shard(LockContext.currentShard()), null, lock.fencingToken().orElseThrow(),
				Duration.ofMillis(100), lock::isHeld, (run) -> {
				});
	}

	@Scheduled(cron = OperatedJob.Schedule.ANNOTATION)
	@SingleRunner(key = OperatedJob.RESCHEDULED, once = Once.PER_TICK)
	void rescheduled() throws Exception {
		work(OperatedJob.RESCHEDULED);
	}

	@Scheduled(cron = "*/20 * * * * *")
	@SingleRunner(key = OperatedJob.BACKFILLED, once = Once.PER_TICK)
	void backfilled() throws Exception {
		work(OperatedJob.BACKFILLED);
	}

	/**
	 * Work for a key that the ledger records.
	 */
	void work(String key) throws Exception {
		LockContext lock = LockContext.current().orElseThrow();
		Instant tick = LockContext.currentTick();
		long token = lock.fencingToken().orElseThrow();
		this.last.set(this.work.run(key, tick, token, Promise.LENGTH, lock::isHeld, (run) -> this.jdbc
			.update(AdvisoryLockContestant.EFFECT, (insert) -> this.work.bind(insert, key, tick, token, run))));
	}

	@EventListener
	void finished(SingleRunnerFinishedEvent event) {
		if (!OperatedJob.isRecorded(event.key().name())) {
			return;
		}
		String run = this.last.get();
		this.last.remove();
		if (run != null && event.failure() == null) {
			this.work.done(run, event.key().name(), event.tick(), null);
		}
	}

	@Override
	public void start() {
		this.running = true;
		go(this::countMembers);
		if (this.instance.startsWith(Fleet.name(Fleet.SIZE - 1))) {
			go(this::reschedule);
			go(this::backfill);
			go(() -> drain(false));
		}
		if (this.instance.startsWith(Fleet.name(Fleet.POOLER))) {
			go(() -> drain(true));
		}
	}

	private void go(Runnable act) {
		SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("operated-");
		executor.setVirtualThreads(this.virtualThreads);
		executor.execute(() -> {
			this.callers.add(Thread.currentThread());
			while (this.running) {
				act.run();
			}
			this.callers.remove(Thread.currentThread());
		});
	}

	private void countMembers() {
		this.session.ifAvailable((session) -> session.members()
			.ifPresent((count) -> say(Event.Kind.MEMBERS, OperatedJob.MEMBERS, null, count)));
		sleep(1_000);
	}

	private void reschedule() {
		long number = ++this.reschedules % SCHEDULES;
		OperatedJob.Schedule schedule = OperatedJob.Schedule.of(number);
		String key = OperatedJob.RESCHEDULED;
		say(Event.Kind.RESCHEDULING, key, null, number);
		PromisedWork.attempt(() -> say(
				Event.Kind.RESCHEDULED, key, this.ledger.reschedule(key,
						(schedule != OperatedJob.Schedule.ANNOTATED) ? schedule.cron() : null, null, BY, null),
				number));
		sleep(RESCHEDULE);
	}

	/**
	 * Each third one is cancelled.
	 */
	private void backfill() {
		String key = OperatedJob.BACKFILLED;
		Instant to = this.base
			.minusSeconds((long) OperatedJob.BACKFILL_PERIOD * (OperatedJob.BACKFILL - BEFORE) * this.backfills);
		say(Event.Kind.BACKFILLING, key, to, this.backfills);
		Thread cancelling = (++this.backfills % 3 == 0) ? new Thread(this::cancel) : null;
		if (cancelling != null) {
			cancelling.start();
		}
		PromisedWork.attempt(() -> {
			Instant from = to.minusSeconds((long) OperatedJob.BACKFILL_PERIOD * OperatedJob.BACKFILL);
			if (this.ledger.backfill(key, from, to, false, BY) == LockOutcome.EXECUTED) {
				say(Event.Kind.BACKFILLED, key, to, 0);
			}
		});
		PromisedWork.attempt(() -> {
			if (cancelling != null) {
				cancelling.join();
			}
			Instant tick = this.ledger.job(key).orElseThrow().lastTick();
			if (tick != null) {
				say(Event.Kind.LAST_TICK, key, tick, 0);
			}
		});
		sleep(1_000);
	}

	private void cancel() {
		sleep(700);
		PromisedWork.attempt(() -> {
			if (this.ledger.cancelBackfill(new JobName("faults", OperatedJob.BACKFILLED))) {
				say(Event.Kind.CANCELLED, OperatedJob.BACKFILLED, null, 0);
			}
		});
	}

	/**
	 * Drain the instance at {@link Fleet#POOLER} when it is time: itself, or as another
	 * one, in turns. It resumes itself for a while.
	 */
	private void drain(boolean itself) {
		long turn = History.uptime() / BETWEEN_DRAINS;
		if (isDue(0, DRAINED) && turn != this.drains && itself == (turn % 2 == 0)) {
			PromisedWork.attempt(() -> {
				String name = itself ? this.instance
						: this.jdbc.queryForObject(DRAINABLE, String.class, Fleet.name(Fleet.POOLER) + "%");
				if (name != null && this.ledger.drain(name, BY) && isDue(0, DRAINED)) {
					say(Event.Kind.DRAINED, name, null, 0);
					this.drains = turn;
				}
			});
		}
		else if (itself && isDue(DRAINED, RESUMED)) {
			say(Event.Kind.DRAIN_ENDED, this.instance, null, 0);
			PromisedWork.attempt(() -> this.ledger.drain(this.instance, null));
		}
		sleep(LOOK);
	}

	private static boolean isDue(int from, int to) {
		long time = History.uptime() % BETWEEN_DRAINS;
		return from <= time && time < to;
	}

	private void say(Event.Kind kind, String key, @Nullable Instant tick, long value) {
		this.work.say(kind, key, tick, value);
	}

	/**
	 * Sleep until a time is over or the instance stops.
	 */
	private void sleep(int milliseconds) {
		long end = System.nanoTime() + Duration.ofMillis(milliseconds).toNanos();
		while (this.running && System.nanoTime() - end < 0) {
			PromisedWork.sleep(Math.min(milliseconds, 200));
		}
	}

	@Override
	public void stop() {
		this.running = false;
		while (!this.callers.isEmpty()) {
			PromisedWork.sleep(20);
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

}
