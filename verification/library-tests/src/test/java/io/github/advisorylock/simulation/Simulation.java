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
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * One thread, one clock, and what is to be done at which time. All chance comes from the
 * seed. Who waits, for an answer of the server or for the end of a job, has the others go
 * on meanwhile, so that the one who waits last goes on first.
 */
final class Simulation {

	/**
	 * Later than any clock, so that a planned time is never taken for one that is over.
	 */
	static final Instant EPOCH = Instant.parse("2100-01-01T00:00:00Z");

	private static final int LAST_STEPS = 200;

	private static final int MOST_WAITING = 6;

	/**
	 * How much may be done for each step, most of which asks no server.
	 */
	private static final int MOST_EVENTS_OF_STEP = 300;

	private final Random random;

	private final PriorityQueue<Event> events = new PriorityQueue<>(
			Comparator.comparingLong((Event event) -> event.time).thenComparingLong((event) -> event.order));

	private final Deque<Step> lastSteps = new ArrayDeque<>();

	private final long mostSteps;

	private long now;

	private long order;

	private long steps;

	private long performed;

	private int depth;

	/**
	 * When the first one goes on of those who wait.
	 */
	private long soonest = Long.MAX_VALUE;

	private Runnable afterEach = () -> {
	};

	private @Nullable Object caller;

	private @Nullable String violation;

	Simulation(long seed, long mostSteps) {
		this.random = new Random(seed);
		this.mostSteps = mostSteps;
	}

	long now() {
		return this.now;
	}

	Instant clock() {
		return EPOCH.plusNanos(this.now);
	}

	long steps() {
		return this.steps;
	}

	/**
	 * Return whether anybody else may begin to wait for long: not while somebody waits
	 * who would have gone on by now.
	 */
	boolean hasRoom() {
		return this.depth <= MOST_WAITING && this.soonest >= this.now;
	}

	/**
	 * Return whether nobody waits.
	 */
	boolean isIdle() {
		return this.depth == 1;
	}

	long random(long least, long bound) {
		return least + (long) (this.random.nextDouble() * (bound - least));
	}

	boolean chance(int inThousand) {
		return this.random.nextInt(1000) < inThousand;
	}

	/**
	 * Have something done later.
	 * @param ready tells for how long it is to wait when its time has come, less than
	 * zero if it is not to be done any more
	 */
	Future<?> at(long time, Supplier<Long> ready, Runnable task) {
		Event event = new Event(Math.max(time, this.now), this.order++, ready, task);
		this.events.add(event);
		return event;
	}

	void every(Duration period, Runnable task) {
		at(this.now + random(1, period.toNanos()), () -> 0L, () -> {
			task.run();
			every(period, task);
		});
	}

	/**
	 * Do what is to be done within a time.
	 */
	void pass(long nanos) {
		long end = this.now + nanos;
		Object before = this.caller;
		long outer = this.soonest;
		this.soonest = Math.min(outer, end);
		this.depth++;
		for (Event next = this.events.peek(); isGoingOn() && next != null
				&& next.time <= end; next = this.events.peek()) {
			this.events.poll();
			this.now = Math.max(this.now, next.time);
			this.caller = null;
			next.perform();
			this.afterEach.run();
			if (++this.performed > MOST_EVENTS_OF_STEP * this.mostSteps) {
				violate("nothing is done over and over again");
			}
		}
		this.depth--;
		this.soonest = outer;
		this.caller = before;
		this.now = Math.max(this.now, end);
	}

	/**
	 * Do something that the current call of a method may wait for.
	 */
	void call(Object caller, Runnable call) {
		Object before = this.caller;
		this.caller = caller;
		try {
			call.run();
		}
		finally {
			this.caller = before;
		}
	}

	BooleanSupplier isIn(Object caller) {
		return () -> this.caller == caller;
	}

	void afterEach(Runnable check) {
		this.afterEach = check;
	}

	void step(String text) {
		this.steps++;
		note(text);
	}

	void note(String text) {
		if (this.lastSteps.size() == LAST_STEPS) {
			this.lastSteps.removeFirst();
		}
		this.lastSteps.addLast(new Step(this.now, text));
	}

	boolean isGoingOn() {
		return this.violation == null && this.steps < this.mostSteps;
	}

	/**
	 * End the simulation, as a promise is broken. An exception would get no further than
	 * to the library.
	 */
	void violate(String promise) {
		if (this.violation == null) {
			this.violation = promise;
			note("VIOLATED: " + promise);
		}
	}

	/**
	 * Return the promise that is broken, and the steps that have led there, {@code null}
	 * if none is.
	 */
	@Nullable String violation() {
		return (this.violation != null) ? this.lastSteps.stream()
			.map(Step::toString)
			.collect(Collectors.joining("\n", this.violation + "\n", "")) : null;
	}

	private record Step(long time, String text) {

		@Override
		public String toString() {
			return "%14.6f %s".formatted(this.time / 1e9, this.text);
		}

	}

	private final class Event extends FutureTask<Boolean> {

		private long time;

		private final long order;

		private final Supplier<Long> ready;

		private Event(long time, long order, Supplier<Long> ready, Runnable task) {
			super(task, true);
			this.time = time;
			this.order = order;
			this.ready = ready;
		}

		private void perform() {
			long wait = isCancelled() ? -1 : this.ready.get();
			if (wait > 0) {
				this.time = Simulation.this.now + wait;
				Simulation.this.events.add(this);
			}
			else if (wait == 0) {
				run();
				checkClean();
			}
		}

		/**
		 * Nothing may stay on the thread, unless its process was killed meanwhile.
		 */
		private void checkClean() {
			if (PutAside.isNeeded()) {
				new PutAside();
				if (this.ready.get() >= 0 && isGoingOn()) {
					violate("nothing stays on the thread of a call");
				}
			}
		}

		@Override
		protected void setException(Throwable failure) {
			super.setException(failure);
			if (!(failure instanceof SimulatedInstance.Killed)) {
				violate("nothing fails: " + failure + " at " + failure.getStackTrace()[0]);
			}
		}

	}

}
