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

package io.github.advisorylock.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.RequestDetail;
import org.jspecify.annotations.Nullable;

/**
 * What happens to a few jobs on three instances, by chance: one step after the other,
 * which the locks in memory and PostgreSQL can both play.
 *
 * @param seed what makes it
 * @param jobs the jobs
 * @param steps what happens
 */
record Script(long seed, List<Job> jobs, List<Step> steps) {

	static final int INSTANCES = 3;

	/**
	 * What has passed when a script begins.
	 */
	static final Duration BEFORE = Duration.ofHours(1);

	/**
	 * For how long a lock remembers a tick. As what passes, a multiple of five seconds:
	 * that is how much slower than a script PostgreSQL may be.
	 */
	private static final Duration MEMORY = Duration.ofSeconds(600);

	private static final Duration INTERVAL = Duration.ofSeconds(500);

	/**
	 * The other schedule has each second tick.
	 */
	static final long OTHER_SCHEDULE_MINUTES = 20;

	private static final Duration MIN_INTERVAL = Duration.ofSeconds(450);

	private static final Duration[] PASSES = { Duration.ofSeconds(5), Duration.ofSeconds(45), Duration.ofSeconds(95),
			Duration.ofSeconds(200), Duration.ofSeconds(400), Duration.ofSeconds(800), Duration.ofSeconds(2000) };

	/**
	 * After a failure, the times in seconds at which chance decides whether the next
	 * attempt waits.
	 */
	private static final int[][] BY_CHANCE = { { 28, 38 }, { 58, 75 }, { 118, 148 }, { 238, 292 }, { 445, 724 } };

	static Script of(long seed) {
		return new Writer(seed).write();
	}

	@Override
	public String toString() {
		return "seed " + this.seed;
	}

	/**
	 * What a job asks for.
	 */
	enum Kind {

		PLAIN, PERMITS, TICK_REMEMBERED, INTERVAL, PER_TICK, PER_KEY, PER_KEY_APART, APART

	}

	/**
	 * How a call goes on, and what the work does.
	 *
	 * @param fails whether the work throws
	 * @param lasts whether it goes on until a later step
	 * @param overruns whether it lasts longer than it may
	 * @param within in which transaction it is
	 */
	record Work(boolean fails, boolean lasts, boolean overruns, Within within) {

		@Override
		public String toString() {
			return (this.fails ? "FAILS " : "") + (this.lasts ? "LASTS " : "") + (this.overruns ? "OVERRUNS " : "")
					+ ((this.within != Within.NONE) ? this.within : "");
		}

	}

	/**
	 * The transaction of the caller.
	 */
	enum Within {

		NONE, COMMITTED, ROLLED_BACK, COMMITTED_THOUGH_FAILED

	}

	/**
	 * What happens.
	 */
	enum Act {

		CALL, END, PASS, KILL, STOP, STOPPED, START, LOSE_SESSION, DATABASE_DOWN, DATABASE_UP, PAUSE, RESUME, RESCHEDULE

	}

	/**
	 * One step.
	 *
	 * @param act what happens
	 * @param number of the instance, or of the call that ends
	 * @param job of which job
	 * @param tick for which tick, by the time that has passed since the begin
	 * @param work what the work does
	 * @param time how much time passes
	 */
	record Step(Act act, int number, @Nullable Job job, @Nullable Duration tick, @Nullable Work work, Duration time) {

		static Step of(Act act, int number) {
			return new Step(act, number, null, null, null, Duration.ZERO);
		}

		@Override
		public String toString() {
			return this.act + " " + switch (this.act) {
				case CALL -> "on " + this.number + " of " + this.job + " for " + this.tick + " " + this.work;
				case PASS -> this.time;
				case PAUSE, RESUME, RESCHEDULE -> this.job;
				default -> this.number;
			};
		}

	}

	/**
	 * A job.
	 */
	record Job(String key, Kind kind, LockScope scope, boolean backOff, @Nullable Integer retries, boolean apart) {

		@Override
		public String toString() {
			return this.key.substring(this.key.length() - 1) + " (" + this.kind + " " + this.scope
					+ (this.backOff ? ", retries " + this.retries : "") + (this.apart ? ", apart)" : ")");
		}

		/**
		 * Return the request of a call.
		 * @param tick its tick
		 */
		LockRequest request(@Nullable Instant tick) {
			LockRequest request = LockRequest.of(this.key).scope(this.scope);
			if (this.kind == Kind.PLAIN) {
				return request;
			}
			if (this.kind == Kind.PERMITS) {
				return request.permits(2);
			}
			if (this.kind == Kind.INTERVAL) {
				return request.with(new RequestDetail.Interval(INTERVAL, RequestDetail.Interval.Counted.FROM_BEGIN));
			}
			if (this.kind == Kind.TICK_REMEMBERED) {
				return (tick != null) ? request.rememberTick(tick, MEMORY) : request;
			}
			request = request.with(new RequestDetail.Recorded(this.key));
			if (this.apart || this.kind == Kind.PER_KEY_APART || this.kind == Kind.APART) {
				request = request.minInterval(MIN_INTERVAL);
			}
			if (this.kind == Kind.PER_KEY || this.kind == Kind.PER_KEY_APART) {
				return request.oncePerKey().with(new RequestDetail.KeptResult((result) -> "kept " + result));
			}
			return (this.kind == Kind.PER_TICK && tick != null)
					? request.oncePerTick(tick).with(new RequestDetail.Retries(this.backOff, this.retries)) : request;
		}

		/**
		 * Return whether its ticks are compared with the clock of the database.
		 */
		boolean isOfLedger() {
			return this.kind == Kind.PER_TICK;
		}

		/**
		 * Return whether operators can pause it.
		 */
		boolean isRecorded() {
			return this.kind.compareTo(Kind.PER_TICK) >= 0;
		}

	}

	/**
	 * Writes a script.
	 */
	private static final class Writer {

		private final long seed;

		private final Random random;

		private final List<Job> jobs = new ArrayList<>();

		private final List<Step> steps = new ArrayList<>();

		private final Set<Integer> live = new HashSet<>(List.of(0, 1, 2));

		/**
		 * The calls that may be under way, with their instances.
		 */
		private final Map<Integer, Integer> lasting = new HashMap<>();

		/**
		 * Those whose locks are to be remembered at their ends.
		 */
		private final Set<Integer> remembering = new HashSet<>();

		private final Map<Job, Set<Duration>> touched = new HashMap<>();

		private final Set<Job> paused = new HashSet<>();

		private Duration now = BEFORE;

		private int calls;

		private Writer(long seed) {
			this.seed = seed;
			this.random = new Random(seed);
		}

		private Script write() {
			for (int i = 0; i < 3; i++) {
				Kind kind = (i == 0) ? Kind.PER_TICK : Kind.values()[this.random.nextInt(Kind.values().length)];
				boolean backOff = chance(70);
				this.jobs.add(new Job("script-" + this.seed + "-" + i, kind, LockScope.values()[this.random.nextInt(2)],
						backOff, (backOff && chance(60)) ? this.random.nextInt(3) : null, chance(20)));
			}
			for (int i = 0; i < 30; i++) {
				write(this.random.nextInt(100));
			}
			this.lasting.keySet().forEach((call) -> this.steps.add(Step.of(Act.END, call)));
			return new Script(this.seed, this.jobs, this.steps);
		}

		private boolean chance(int percent) {
			return this.random.nextInt(100) < percent;
		}

		private void write(int chance) {
			int instance = this.random.nextInt(INSTANCES);
			Job job = this.jobs.get(this.random.nextInt(this.jobs.size()));
			boolean lives = this.live.contains(instance);
			if (chance < 60 && lives) {
				call(instance, job);
			}
			else if (chance < 82) {
				pass();
			}
			else if (chance < 86 && !this.lasting.isEmpty()) {
				int call = this.lasting.keySet().iterator().next();
				this.lasting.remove(call);
				this.steps.add(Step.of(Act.END, call));
			}
			else if (chance < 90 && lives) {
				this.live.remove(instance);
				this.lasting.values().removeAll(Set.of(instance));
				this.steps.add(Step.of(Act.KILL, instance));
			}
			else if (chance < 92 && lives) {
				stop(instance);
			}
			else if (chance < 93 && lives) {
				endRemembering();
				this.steps.add(Step.of(Act.LOSE_SESSION, instance));
			}
			else if (chance < 94) {
				endRemembering();
				this.steps.add(Step.of(Act.DATABASE_DOWN, 0));
				for (int i = 0; i < 2; i++) {
					if (this.live.contains(instance)) {
						call(instance, job);
					}
				}
				endAll();
				this.steps.add(Step.of(Act.DATABASE_UP, 0));
			}
			else if (chance < 97 && job.isOfLedger()) {
				this.steps.add(new Step(Act.RESCHEDULE, 0, job, null, null, Duration.ZERO));
			}
			else if (chance < 99 && job.isRecorded()) {
				boolean pause = this.paused.add(job) || !this.paused.remove(job);
				this.steps.add(new Step(pause ? Act.PAUSE : Act.RESUME, 0, job, null, null, Duration.ZERO));
			}
			else if (!lives) {
				this.live.add(instance);
				this.steps.add(Step.of(Act.START, instance));
			}
		}

		private void call(int instance, Job job) {
			if (this.touched.getOrDefault(job, Set.of()).stream().anyMatch(this::isByChance)) {
				return;
			}
			this.touched.computeIfAbsent(job, (none) -> new HashSet<>()).add(this.now);
			boolean fails = chance(35);
			boolean overruns = job.scope() == LockScope.SESSION && chance(5);
			Within within = (overruns || chance(75)) ? Within.NONE : (fails && chance(50))
					? Within.COMMITTED_THOUGH_FAILED : chance(50) ? Within.COMMITTED : Within.ROLLED_BACK;
			boolean lasts = within == Within.NONE && !overruns && chance(30);
			long minutes = this.now.toMinutes() / 10 * 10 - 10L * Math.max(0, this.random.nextInt(6) - 3);
			Duration tick = chance(5) ? null
					: chance(3) ? this.now.plusSeconds(chance(50) ? 40 : 90) : Duration.ofMinutes(minutes);
			if (lasts) {
				this.lasting.put(this.calls, instance);
				if (job.kind() == Kind.TICK_REMEMBERED || job.kind() == Kind.INTERVAL) {
					this.remembering.add(this.calls);
				}
			}
			this.calls++;
			this.steps
				.add(new Step(Act.CALL, instance, job, tick, new Work(fails, lasts, overruns, within), Duration.ZERO));
		}

		private boolean isByChance(Duration before) {
			long seconds = this.now.minus(before).toSeconds();
			for (int[] window : BY_CHANCE) {
				if (seconds >= window[0] && seconds <= window[1]) {
					return true;
				}
			}
			return false;
		}

		/**
		 * A run that has begun has its times from then.
		 */
		private void pass() {
			endAll();
			Duration time = PASSES[this.random.nextInt(PASSES.length)];
			this.now = this.now.plus(time);
			this.steps.add(new Step(Act.PASS, 0, null, null, null, time));
		}

		private void endAll() {
			this.lasting.keySet().forEach((call) -> this.steps.add(Step.of(Act.END, call)));
			this.lasting.clear();
		}

		/**
		 * What is remembered is counted, to see when it is there again.
		 */
		private void endRemembering() {
			this.remembering.stream()
				.filter((call) -> this.lasting.remove(call) != null)
				.forEach((call) -> this.steps.add(Step.of(Act.END, call)));
			this.remembering.clear();
		}

		private void stop(int instance) {
			this.live.remove(instance);
			this.steps.add(Step.of(Act.STOP, instance));
			this.lasting.entrySet().removeIf((call) -> {
				if (call.getValue() == instance) {
					this.steps.add(Step.of(Act.END, call.getKey()));
				}
				return call.getValue() == instance;
			});
			this.steps.add(Step.of(Act.STOPPED, instance));
		}

	}

}
