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
import java.util.concurrent.ThreadFactory;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockBusyException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import io.github.advisorylock.log.LockLog;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.core.Ordered;

/**
 * Sees to it that the latest tick of each method with {@code catchUp} is completed by
 * some instance: looks at the ticks that this instance has skipped or failed in, and at
 * the latest ones when it starts, until somebody has completed them or their window is
 * over, and calls the method where nobody is at it. The call is an ordinary one, so the
 * lock and the ledger decide. Where all ticks are completed nothing is asked.
 */
final class UnfinishedTickWatcher implements ApplicationListener<PayloadApplicationEvent<?>>, Ordered {

	private static final Log logger = LogFactory.getLog(UnfinishedTickWatcher.class);

	private static final long SHORTEST_PAUSE = Duration.ofSeconds(3).toNanos();

	/**
	 * A vanished holder is found within this time, and 300 instances ask 86 times a
	 * second.
	 */
	private static final long LONGEST_PAUSE = Duration.ofSeconds(4).toNanos();

	private static final long PAUSE_WHILE_PAUSED = Duration.ofSeconds(30).toNanos();

	/**
	 * An operator may end a wait at any time.
	 */
	private static final long LONGEST_WAIT = Duration.ofSeconds(30).toNanos();

	private static final long JITTER = Duration.ofSeconds(2).toNanos();

	private static final long FIRST_PAUSE = Duration.ofMillis(300).toNanos();

	private final PostgresAdvisoryLockLedger ledger;

	private final RecordedMethodRegistry methods;

	private final LockScheduler.Ticker ticker;

	private final LockScheduler watch;

	private final ThreadFactory threads;

	private final SafeTask look = new SafeTask("Failed to look for open ticks, will try again", this::look);

	private final Map<MethodId, UnfinishedTick> open = new HashMap<>();

	private final Map<MethodId, Instant> lost = new HashMap<>();

	private boolean stopped;

	UnfinishedTickWatcher(PostgresAdvisoryLockLedger ledger, RecordedMethodRegistry methods,
			LockScheduler.Threads threads) {
		this.ledger = ledger;
		this.methods = methods;
		this.ticker = threads.ticker();
		this.watch = LockScheduler.inTurn(threads);
		this.threads = threads.named("advisory-lock-catch-up");
	}

	/**
	 * Take the latest tick of each method for open until the ledger has been asked.
	 */
	void openLatest() {
		Instant now = this.ticker.now();
		for (SingleRunnerMethod method : this.methods.catchingUp()) {
			Instant tick = latest(method, now);
			if (tick != null) {
				open(method, tick, 0);
			}
		}
	}

	/**
	 * Return whether any tick is open.
	 */
	synchronized boolean isWatching() {
		return !this.open.isEmpty();
	}

	/**
	 * Look no more. Calls that are under way go on.
	 */
	synchronized void stop() {
		this.stopped = true;
		this.open.clear();
		this.watch.close();
	}

	/**
	 * Before other listeners, of which one may fail.
	 */
	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	@Override
	public void onApplicationEvent(PayloadApplicationEvent<?> event) {
		if (event.getPayload() instanceof SingleRunnerSkippedEvent skipped && skipped.tick() != null) {
			ended(skipped.key(), skipped.method(), skipped.tick(), skipped.outcome());
		}
		else if (event.getPayload() instanceof SingleRunnerFinishedEvent finished && finished.tick() != null) {
			ended(finished.key(), finished.method(), finished.tick(), finished.done() ? LockOutcome.EXECUTED : null);
		}
	}

	/**
	 * A call for a tick has ended, by a failure if there is no outcome.
	 */
	private void ended(AdvisoryLockKey key, String name, Instant tick, @Nullable LockOutcome outcome) {
		SingleRunnerMethod method = find(new MethodId(JobName.of(key), name));
		if (method == null) {
			return;
		}
		synchronized (this) {
			if (outcome != LockOutcome.EXECUTED && outcome != LockOutcome.ALREADY_RAN) {
				open(method, tick, random(FIRST_PAUSE, LONGEST_PAUSE)).tried();
				return;
			}
			settle(method, tick);
			Instant latest = latest(method, this.ticker.now());
			if (latest != null && latest.isAfter(tick)) {
				// planned while the method ran, so that its scheduler may pass over it
				open(method, latest, random(SHORTEST_PAUSE, LONGEST_PAUSE));
			}
		}
	}

	private @Nullable SingleRunnerMethod find(MethodId id) {
		return this.methods.catchingUp()
			.stream()
			.filter((method) -> MethodId.of(method).equals(id))
			.findFirst()
			.orElse(null);
	}

	/**
	 * Return the latest tick of a method, {@code null} if there is none, or none to come.
	 */
	private static @Nullable Instant latest(SingleRunnerMethod method, Instant now) {
		CronTicks ticks = method.operation().ledger().ticks();
		return (ticks != null && ticks.nextAfter(now) != null) ? ticks.latestAt(now) : null;
	}

	/**
	 * Take a tick for open, unless a newer one of the method is.
	 * @return the tick of the method that is open now
	 */
	private synchronized UnfinishedTick open(SingleRunnerMethod method, Instant time, long delayNanos) {
		MethodId id = MethodId.of(method);
		UnfinishedTick tick = this.open.get(id);
		if (tick == null || tick.time.isBefore(time)) {
			tick = new UnfinishedTick(method, time, delayNanos, this.ticker);
			if (!this.stopped && !time.equals(this.lost.get(id))) {
				this.open.put(id, tick);
				schedule();
			}
		}
		return tick;
	}

	private synchronized void settle(SingleRunnerMethod method, Instant time) {
		this.open.computeIfPresent(MethodId.of(method), (id, tick) -> tick.time.isAfter(time) ? tick : null);
	}

	private boolean isOpen(UnfinishedTick tick) {
		return this.open.get(MethodId.of(tick.method)) == tick;
	}

	private synchronized void schedule() {
		long now = this.ticker.nanoTime();
		this.open.values()
			.stream()
			.filter((tick) -> !tick.isCalled())
			.mapToLong((tick) -> Math.max(0, tick.dueNanos() - now))
			.min()
			.ifPresent((delay) -> this.watch.next(Duration.ofNanos(delay), this.look));
	}

	/**
	 * Look at all open ticks with one statement. What nobody seems to be at is looked at
	 * once more: its holder may have completed it and given its lock back in between.
	 */
	void look() {
		try {
			List<UnfinishedTick> ticks = observe(takeOpen(), false);
			observe(ticks, true);
		}
		finally {
			schedule();
		}
	}

	/**
	 * Return what is to be looked at. A method whose next tick has come is called by its
	 * scheduler first, and what is no tick any more is not made up for.
	 */
	private synchronized List<UnfinishedTick> takeOpen() {
		Instant now = this.ticker.now();
		List<UnfinishedTick> ticks = new ArrayList<>();
		for (UnfinishedTick tick : List.copyOf(this.open.values())) {
			Instant latest = latest(tick.method, now);
			if (latest != null && latest.isAfter(tick.time)) {
				open(tick.method, latest, random(SHORTEST_PAUSE, LONGEST_PAUSE));
			}
			else if (!tick.method.operation().allows(tick.time)) {
				settle(tick.method, tick.time);
			}
			else if (!tick.isCalled()) {
				tick.dueAfter(random(SHORTEST_PAUSE, LONGEST_PAUSE));
				ticks.add(tick);
			}
		}
		return ticks;
	}

	/**
	 * Look at some ticks.
	 * @param certain whether they were looked at just before
	 * @return those that are to be looked at again
	 */
	private List<UnfinishedTick> observe(List<UnfinishedTick> ticks, boolean certain) {
		if (ticks.isEmpty()) {
			return ticks;
		}
		List<JobRepository.ObservedJob> jobs = this.ledger.observe(ticks.stream().map((tick) -> tick.key).toList());
		List<UnfinishedTick> uncertain = new ArrayList<>();
		synchronized (this) {
			for (int i = 0; i < jobs.size(); i++) {
				if (isOpen(ticks.get(i)) && !ticks.get(i).isCalled() && !handle(ticks.get(i), jobs.get(i), certain)) {
					uncertain.add(ticks.get(i));
				}
			}
		}
		return uncertain;
	}

	/**
	 * Do what is to be done about a tick.
	 * @return {@code false} if that depends on nobody having completed it meanwhile
	 */
	private boolean handle(UnfinishedTick tick, JobRepository.ObservedJob job, boolean certain) {
		UnfinishedTick.State judged = tick.judge(job);
		boolean left = judged == UnfinishedTick.State.READY && this.ledger.instance().isDrained();
		UnfinishedTick.State state = left ? UnfinishedTick.State.PAUSED : judged;
		switch (state) {
			case SETTLED -> settle(tick.method, tick.time);
			case BUSY -> tick.dueAfter(random(SHORTEST_PAUSE, LONGEST_PAUSE));
			case PAUSED, GIVEN_UP -> tick.dueAfter(random(PAUSE_WHILE_PAUSED, PAUSE_WHILE_PAUSED + JITTER));
			case WAITING -> tick.dueAfter(Math.min(tick.pause(job).toNanos(), LONGEST_WAIT) + random(0, JITTER));
			case READY, LOST -> {
				if (certain && state == UnfinishedTick.State.READY) {
					start(tick);
				}
				else if (certain) {
					giveUp(tick);
				}
				return certain;
			}
		}
		return true;
	}

	private void giveUp(UnfinishedTick tick) {
		settle(tick.method, tick.time);
		this.lost.put(MethodId.of(tick.method), tick.time);
		LockLog.lostTick(tick.key, tick.time, tick.window);
	}

	/**
	 * Call the method of a tick on a thread of its own, so that none waits for another.
	 */
	private void start(UnfinishedTick tick) {
		logger.info("No instance has completed the tick of " + tick.time + " of '" + tick.key
				+ "', and none is running it: it is run now");
		tick.beginCall();
		try {
			this.threads.newThread(() -> call(tick)).start();
		}
		catch (Throwable ex) {
			// the other ticks are not to wait for that
			logger.warn("No thread could be had to catch up with " + tick.method + ", will try again", ex);
			ended(tick, true);
		}
	}

	private void call(UnfinishedTick tick) {
		boolean failed = true;
		try {
			PlannedTime.run(tick.time, () -> this.methods.call(tick.method));
			failed = false;
		}
		catch (LockBusyException ex) {
			failed = false;
		}
		catch (Throwable ex) {
			logger.error("Failed to catch up with " + tick.method, ex);
		}
		finally {
			ended(tick, failed);
		}
	}

	private synchronized void ended(UnfinishedTick tick, boolean failed) {
		tick.endCall(failed, random(SHORTEST_PAUSE, LONGEST_PAUSE));
		schedule();
	}

	private long random(long from, long to) {
		return this.ticker.random(from, to);
	}

	/**
	 * What tells a method from others.
	 */
	private record MethodId(JobName job, String method) {

		private static MethodId of(SingleRunnerMethod method) {
			AdvisoryLockKey key = Objects.requireNonNull(method.fixedKey(), "'fixedKey' must not be null");
			return new MethodId(JobName.of(key), method.operation().method());
		}

	}

}
