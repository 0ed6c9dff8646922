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

package io.github.advisorylock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.LongStream;

import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.ledger.jdbc.SimulatedLedger;
import org.jspecify.annotations.Nullable;

/**
 * The promises of {@code docs/behaviour.md} that are looked at, by their numbers there.
 */
final class Promises {

	static final List<String> OF_TICKS = List.of("orders", "reports");

	private static final Duration SOON = Duration.ofSeconds(75);

	/**
	 * For how long an instance may have no session after a failure to open it.
	 */
	private static final Duration OPENING = Duration.ofSeconds(25);

	private static final Duration AWAY = Duration.ofSeconds(28);

	private static final Duration TOLD = Duration.ofSeconds(9);

	private final Simulation simulation;

	private final SimulatedServer server;

	private final Weather weather;

	private final List<SimulatedInstance> instances;

	private final List<Work> works = new ArrayList<>();

	private final Map<SimulatedInstance, Map<String, Call>> calls = new HashMap<>();

	private final Map<String, Begin> lastGood = new HashMap<>();

	private final Map<String, Long> tokens = new HashMap<>();

	private Instant lastStart = Instant.EPOCH;

	private final Map<String, Integer> failures = new HashMap<>();

	private final Map<String, Integer> retries = new HashMap<>();

	private final Set<String> cancelled = new HashSet<>();

	private final Map<String, Instant> effects = new HashMap<>();

	private final Map<String, Long> touched = new HashMap<>();

	private final Drains drains;

	private final Schedules schedules;

	private final Backfills backfills;

	private final Map<String, Instant> lastTicks = new HashMap<>();

	private final boolean electing;

	private long lastExport;

	private @Nullable SimulatedInstance resigned;

	private long lostSince;

	private final Map<String, Long> terms = new HashMap<>();

	private long ledSince;

	private final long[] shardLedSince = new long[SimulatedInstance.SHARDS];

	private long sharedSince;

	Promises(Simulation simulation, SimulatedServer server, boolean electing, Weather weather,
			List<SimulatedInstance> instances, Drains drains, Schedules schedules, Backfills backfills) {
		this.backfills = backfills;
		this.drains = drains;
		this.schedules = schedules;
		this.electing = electing;
		this.simulation = simulation;
		this.server = server;
		this.weather = weather;
		this.instances = instances;
		server.observe(this::committed, this::recorded);
	}

	/**
	 * Look at what must hold at any time.
	 */
	void checkAlways() {
		long leaders = this.instances.stream().filter(SimulatedInstance::isLeading).count();
		check(leaders <= 1, "43: a role has one leader at a time");
		if (leaders == 1 || this.drains.working() == 0) {
			this.ledSince = this.simulation.now();
		}
		checkShards();
	}

	private void checkShards() {
		Set<Integer> led = new HashSet<>();
		int largest = 0;
		for (SimulatedInstance instance : this.instances) {
			Set<Integer> shards = instance.shards();
			largest = Math.max(largest, shards.size());
			for (int shard : shards) {
				check(led.add(shard), "43: a shard has one leader at a time");
				this.shardLedSince[shard] = this.simulation.now();
			}
		}
		long working = this.drains.working();
		if (working == 0) {
			Arrays.fill(this.shardLedSince, this.simulation.now());
		}
		if (largest <= 1 || (largest - 1) * working < SimulatedInstance.SHARDS) {
			this.sharedSince = this.simulation.now();
		}
	}

	/**
	 * Look at what must have come to pass.
	 */
	void checkNowAndThen() {
		for (Work work : this.works) {
			boolean able = !work.instance.isFrozen() && !work.instance.isInSession();
			boolean held = work.instance.isDead() || this.server.holders(SimulatedInstance.number(work.key))
				.stream()
				.anyMatch((session) -> session.client.equals(work.instance.name()));
			work.lostSince = (held || !able) ? this.simulation.now() : work.lostSince;
			boolean watched = work.lock.scope() == LockScope.SESSION || this.weather.calm().compareTo(SOON) > 0;
			check(!watched || this.simulation.now() - work.lostSince < TOLD.toNanos() || !work.lock.isHeld(),
					"33, 34: a run is told that its lock is lost");
		}
		OF_TICKS.forEach(this::noteTouched);
		OF_TICKS.forEach(this::checkLastTick);
		if (!this.simulation.hasRoom() || this.drains.working() == 0) {
			this.lastExport = this.simulation.now();
		}
		if (this.weather.calm().compareTo(SOON) < 0) {
			return;
		}
		this.drains.checkCalm(SOON);
		check(!this.electing || this.simulation.now() - this.ledSince < SOON.toNanos(),
				"49: a leader that is gone is replaced");
		check(!this.electing || LongStream.of(this.shardLedSince)
			.allMatch((since) -> this.simulation.now() - since < SOON.toNanos()),
				"49: a leader of a shard that is gone is replaced");
		check(this.simulation.now() - this.sharedSince < SOON.toNanos(),
				"43: an instance gives up what is above its share");
		check(this.simulation.now() - this.lastExport < 2 * SOON.toNanos(), "17, 19: an interval has its run");
		OF_TICKS.forEach(this::checkMadeUp);
		for (SimulatedInstance instance : this.instances) {
			SimulatedMethods.KEYS.forEach((key) -> {
				boolean held = this.server.holders(SimulatedInstance.number(key))
					.stream()
					.anyMatch((session) -> session.client.equals(instance.name()));
				check(!held || instance.isDead() || instance.isBusyWith(key) || instance.isFrozen()
						|| instance.isInSession(),
						"31: a lock is released after the method: '" + key + "' of " + instance.name());
			});
		}
	}

	private void checkLastTick(String key) {
		Instant last = this.server.ledger().job(key).lastTick();
		if (last != null) {
			Instant before = this.lastTicks.put(key, last);
			check(before == null || !last.isBefore(before), "58: the last tick does not go back");
		}
	}

	private void noteTouched(String key) {
		boolean running = this.instances.stream().anyMatch((instance) -> instance.isBusyWith(key));
		if (running || !this.simulation.hasRoom() || this.drains.working() == 0
				|| this.server.ledger().job(key).pausedAt() != null) {
			this.touched.put(key, this.simulation.now());
		}
	}

	private void checkMadeUp(String key) {
		Instant now = this.server.clock();
		SimulatedLedger.Job job = this.server.ledger().job(key);
		Instant tick = this.schedules.due(key, now.minus(SOON), SOON);
		long free = this.simulation.now() - this.touched.getOrDefault(key, 0L);
		if (tick == null || Duration.between(tick, now).compareTo(this.weather.calm()) >= 0 || free <= SOON.toNanos()) {
			return;
		}
		boolean done = job.lastTick() != null && !job.lastTick().isBefore(tick);
		check(done || job.waits(tick, now.minus(SOON)), "55: a tick is made up for: '" + key + "' of " + tick);
	}

	void elected(SimulatedInstance instance, Object event) {
		this.simulation.note(instance.name() + ": " + event);
		if (event instanceof LeadershipLostEvent lost && lost.role().equals(SimulatedInstance.ROLE)) {
			this.lostSince = this.simulation.now();
		}
		if (event instanceof LeadershipGainedEvent gained) {
			boolean whole = gained.role().equals(SimulatedInstance.ROLE);
			check(!whole || instance != this.resigned || this.simulation.now() - this.lostSince > AWAY.toNanos(),
					"48: an instance that resigned leaves the role to others");
			this.resigned = whole ? null : this.resigned;
			this.drains.gained(instance);
			check(gained.term() > this.terms.getOrDefault(gained.role(), 0L), "50: terms rise");
			this.terms.merge(gained.role(), gained.term(), Math::max);
		}
	}

	Backfills backfills() {
		return this.backfills;
	}

	/**
	 * Note a call of a method.
	 * @param backfilled the tick that it is for, if an operator wants that to be run
	 */
	void called(SimulatedInstance instance, String key, @Nullable Instant backfilled) {
		Call call = new Call(this.simulation.now(), backfilled, new HashMap<>());
		OF_TICKS.forEach((job) -> call.pauses.put(job, this.server.ledger().job(job).pausedAt()));
		this.calls.computeIfAbsent(instance, (first) -> new HashMap<>()).put(key, call);
	}

	/**
	 * A bug, or a model that does not follow the code, is no fault of the weather.
	 */
	void failed(String key, RuntimeException failure) {
		check(!failure.getClass().getName().startsWith("java.lang.") || failure instanceof IllegalStateException,
				"nothing fails: '" + key + "' by " + failure);
	}

	private Call callOf(SimulatedInstance instance, String key) {
		Map<String, Call> calls = this.calls.getOrDefault(instance, Map.of());
		return Objects.requireNonNull(calls.getOrDefault(key, calls.get(SimulatedInstance.CATCH_UP)));
	}

	void begun(SimulatedInstance instance, String key, LockContext lock) {
		Work work = new Work(instance, key, lock, this.simulation.now());
		this.works.removeIf((other) -> other.instance.isDead());
		this.simulation.note(instance.name() + ": " + key + " begins for " + lock.tick().orElse(null));
		Call call = callOf(instance, key);
		checkHolder(work, call.time, "12, 14, 20: a run begins under its lock");
		checkRemembered(work, call);
		this.drains.begun(instance, key, call.time);
		if (OF_TICKS.contains(key)) {
			checkTick(instance, key, key + "@" + lock.tick().orElseThrow(), call, lock);
		}
		this.works.add(work);
		this.lastExport = key.equals("exports") ? this.simulation.now() : this.lastExport;
		if (OF_TICKS.contains(key) && this.simulation.chance(300)) {
			checkToken(work);
		}
	}

	/**
	 * The instance that has run must have nothing in the way of its memory. Without the
	 * lock of its tick a run in scope TRANSACTION goes on, and one in scope SESSION not.
	 */
	private void checkRemembered(Work work, Call call) {
		Begin good = this.lastGood.get(work.key);
		if (good == null || good.instance.isDead() || good.instance.disturbed() >= good.called) {
			return;
		}
		check(!work.key.equals("exports") || !isHolder(work)
				|| work.begun - good.begun > SimulatedMethods.INTERVAL.multipliedBy(85).dividedBy(100).toNanos(),
				"17: two runs begin at least 0.9 intervals apart");
		check(!work.key.equals("mails") || work.instance.disturbed() > call.time - OPENING.toNanos()
				|| good.instance.disturbed() > good.called - OPENING.toNanos()
				|| !work.lock.tick().equals(good.lock.tick())
				|| work.begun - good.ended > SimulatedMethods.REMEMBERED.toNanos(), "17: a tick is run once");
	}

	private void checkTick(SimulatedInstance instance, String key, String tick, Call call, LockContext lock) {
		Instant paused = call.pauses.get(key);
		check(paused == null || !paused.equals(this.server.ledger().job(key).pausedAt()), "58: a pause holds");
		if (lock.tick().orElseThrow().equals(call.backfilled)) {
			this.backfills.begun(instance, key, call.backfilled, call.time);
			retried(key, call.backfilled);
			return;
		}
		this.schedules.begun(key, lock.tick().orElseThrow(), call.time);
		boolean known = this.server.ledger().job(key).isOpen(lock.tick().orElseThrow());
		check(!known || !this.cancelled.contains(tick), "55: a run that was cancelled is not tried again");
		check(!known || this.failures.getOrDefault(tick, 0) <= SimulatedMethods.MAX_RETRIES
				+ this.retries.getOrDefault(tick, 0), "55: a failed tick is tried again maxRetries times");
		Instant last = this.effects.get(key);
		check(last == null || last.isBefore(lock.tick().orElseThrow()) || !lock.isHeld()
				|| this.server.holders(SimulatedInstance.number(key)).size() != 1,
				"51: a tick that is done is not done again");
	}

	private void checkToken(Work work) {
		OptionalLong token;
		try {
			token = work.lock.fencingToken();
		}
		catch (RuntimeException ex) {
			return;
		}
		if (isHolder(work)) {
			check(token.getAsLong() > this.tokens.getOrDefault(work.key, 0L) || work.instance.disturbed() > work.begun,
					"59: tokens rise");
			this.tokens.merge(work.key, token.getAsLong(), Math::max);
		}
	}

	private boolean isHolder(Work work) {
		return this.server.holders(SimulatedInstance.number(work.key))
			.stream()
			.anyMatch((session) -> session.client.equals(work.instance.name()));
	}

	private void checkHolder(Work work, long since, String promise) {
		check(isHolder(work) || work.instance.disturbed() >= since || work.instance.isDead(), promise);
	}

	/**
	 * The work of a run is done, and not written down yet.
	 */
	void worked(SimulatedInstance instance, String key, LockContext lock) {
		this.works.stream().filter((work) -> work.lock == lock).forEach((work) -> {
			checkHolder(work, callOf(instance, key).time, "20, 31: the lock is held until the run ends");
			check(!key.equals("reports") || this.simulation.now() - work.begun < SimulatedMethods.MAX_RUN.toNanos()
					|| !lock.isHeld(), "64: a run that lasts too long is told");
			work.told = !lock.isHeld() && isHolder(work) && instance.disturbed() < callOf(instance, key).time;
		});
	}

	void ended(SimulatedInstance instance, String key) {
		for (Work work : List.copyOf(this.works)) {
			if (work.instance == instance && (work.key.equals(key) || key.equals(SimulatedInstance.CATCH_UP))) {
				this.works.remove(work);
				if (work.told && !instance.isDead() && !instance.isStopping() && OF_TICKS.contains(work.key)
						&& instance.disturbed() < callOf(instance, key).time) {
					this.cancelled.add(work.key + "@" + work.lock.tick().orElseThrow());
				}
			}
		}
		this.calls.getOrDefault(instance, new HashMap<>()).remove(key);
	}

	/**
	 * A call of a method has come to a good end.
	 */
	void succeeded(SimulatedInstance instance, String key) {
		this.works.stream()
			.filter((work) -> work.instance == instance && work.key.equals(key))
			.forEach((work) -> this.lastGood.put(key,
					new Begin(instance, callOf(instance, key).time, work.begun, this.simulation.now(), work.lock)));
	}

	void resigns(SimulatedInstance instance) {
		this.resigned = instance.isLeading() ? instance : null;
	}

	void retried(String key, @Nullable Instant tick) {
		this.retries.merge(key + "@" + tick, 1, Integer::sum);
		this.cancelled.remove(key + "@" + tick);
		this.touched.put(key, this.simulation.now());
	}

	/**
	 * The effect of a run in its transaction is committed.
	 */
	private void committed(String key, String tick) {
		if (key.equals("orders")) {
			done(key, Instant.parse(tick), "56: the effect of a tick is in the database once, in order");
		}
	}

	private void done(String key, Instant tick, String promise) {
		Instant last = this.effects.get(key);
		boolean later = last == null || last.isBefore(tick);
		boolean backfilled = this.backfills.executed(key, tick);
		check(later || backfilled, promise + ": '" + key + "' of " + tick + " after " + last);
		if (later) {
			this.effects.put(key, tick);
		}
	}

	private void recorded(SimulatedLedger.Run run) {
		if (run.key().equals("prices") && "EXECUTED".equals(run.outcome())) {
			Instant start = run.startedAt();
			check(!start.minus(SimulatedMethods.MIN_INTERVAL).isBefore(this.lastStart),
					"54: runs are minInterval apart");
			this.lastStart = start;
		}
		if (run.key().equals("reports") && "EXECUTED".equals(run.outcome())) {
			done(run.key(), Objects.requireNonNull(run.tick()), "51: a tick is completed once, in order");
		}
		if (run.tick() != null && "FAILED".equals(run.outcome())
				&& SimulatedInstance.JobFailed.class.getName().equals(run.error())) {
			this.failures.merge(run.key() + "@" + run.tick(), 1, Integer::sum);
		}
	}

	private void check(boolean kept, String promise) {
		if (!kept) {
			this.simulation.violate(promise);
		}
	}

	private record Call(long time, @Nullable Instant backfilled, Map<String, @Nullable Instant> pauses) {

	}

	private record Begin(SimulatedInstance instance, long called, long begun, long ended, LockContext lock) {

	}

	private static final class Work {

		private final SimulatedInstance instance;

		private final String key;

		private final LockContext lock;

		private final long begun;

		private long lostSince;

		private boolean told;

		private Work(SimulatedInstance instance, String key, LockContext lock, long begun) {
			this.instance = instance;
			this.key = key;
			this.lock = lock;
			this.begun = begun;
			this.lostSince = begun;
		}

	}

}
