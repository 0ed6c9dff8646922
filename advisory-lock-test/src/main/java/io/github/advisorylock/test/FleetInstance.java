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

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.autoconfigure.AdvisoryLockProperties;
import io.github.advisorylock.interceptor.PlannedTimeScheduler;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.util.Assert;

/**
 * One process of the application, with its clock and its scheduler. One that is started
 * again under the same number is another one.
 */
final class FleetInstance {

	private final int number;

	private final Fleet fleet;

	private final VirtualTime time;

	private final VirtualTaskScheduler scheduler;

	private final CatchUp catchUp;

	/**
	 * What was put off while it is frozen.
	 */
	private final List<VirtualTime.Event> putOff = new ArrayList<>();

	private final Set<Thread> runs = new LinkedHashSet<>();

	private final Clock clock;

	private Duration skew = Duration.ZERO;

	private State state = State.RUNNING;

	private @Nullable ConfigurableApplicationContext context;

	private List<SingleRunnerMethod> methods = List.of();

	/**
	 * Whether the task that the thread is in has asked for a lock.
	 */
	private final ThreadLocal<Boolean> asked = ThreadLocal.withInitial(() -> false);

	private Object freeze = this;

	private Runnable whenStopped = () -> {
	};

	FleetInstance(int number, Fleet fleet) {
		this.number = number;
		this.fleet = fleet;
		this.time = fleet.time();
		this.clock = ((InstantSource) () -> this.time.now().plus(this.skew)).withZone(ZoneId.systemDefault());
		this.scheduler = new VirtualTaskScheduler(this.time, this);
		this.catchUp = new CatchUp(fleet, this);
	}

	Fleet fleet() {
		return this.fleet;
	}

	/**
	 * Return its guarded methods.
	 */
	List<SingleRunnerMethod> methods() {
		return this.methods;
	}

	int number() {
		return this.number;
	}

	Clock clock() {
		return this.clock;
	}

	VirtualTaskScheduler scheduler() {
		return this.scheduler;
	}

	Duration skew() {
		return this.skew;
	}

	void setSkew(Duration skew) {
		this.skew = skew;
	}

	ConfigurableApplicationContext context() {
		Assert.state(this.context != null, "'context' must be set");
		return this.context;
	}

	void started(ConfigurableApplicationContext context) {
		this.context = context;
		this.methods = context.getBean(SingleRunnerAnnotationBeanPostProcessor.class).getMethods();
		this.scheduler.setThreads(threads(context.getEnvironment()));
		learnSchedules();
		this.catchUp.openLatest();
	}

	/**
	 * Have its methods called by the schedules that operators have chosen.
	 */
	void learnSchedules() {
		for (SingleRunnerMethod method : methods()) {
			AdvisoryLockKey key = method.fixedKey();
			if (key != null && method.operation().ledger().recorded()) {
				method.operation().reschedule(this.fleet.locks().answers().job(key).changes());
			}
		}
	}

	/**
	 * Return how calls for ticks are spread over the instances.
	 */
	PlannedTimeScheduler.Spread spread() {
		List<Integer> members = this.fleet.instances();
		return new PlannedTimeScheduler.Spread(context().getBean(AdvisoryLockProperties.class).spread(),
				Math.max(1, members.size()), members.indexOf(this.number));
	}

	/**
	 * Virtual threads are as many as are needed.
	 */
	private static int threads(Environment environment) {
		return environment.getProperty("spring.threads.virtual.enabled", Boolean.class, false) ? Integer.MAX_VALUE
				: environment.getProperty("spring.task.scheduling.pool.size", Integer.class, 1);
	}

	/**
	 * Return whether it is one of the fleet, though it may be frozen.
	 */
	boolean isLive() {
		return this.state == State.RUNNING || this.state == State.FROZEN;
	}

	boolean isFrozen() {
		return this.state == State.FROZEN;
	}

	boolean isKilled() {
		return this.state == State.KILLED;
	}

	boolean hasEnded() {
		return this.state == State.KILLED || this.state == State.STOPPED;
	}

	/**
	 * Return whether its scheduler begins what is due.
	 */
	boolean mayBegin() {
		return this.state == State.RUNNING;
	}

	/**
	 * Return whether something of it may happen now. Nothing of one that was killed ever
	 * does; that of a frozen one does later.
	 */
	boolean isReady(VirtualTime.Event event) {
		if (this.state == State.FROZEN) {
			this.putOff.add(event);
		}
		return this.state != State.FROZEN && this.state != State.KILLED;
	}

	void kill() {
		this.state = State.KILLED;
		this.putOff.clear();
	}

	/**
	 * Freeze it.
	 * @return what tells this time from others
	 */
	Object freeze() {
		this.state = State.FROZEN;
		this.freeze = new Object();
		return this.freeze;
	}

	boolean isFrozen(Object since) {
		return isFrozen() && this.freeze == since;
	}

	void thaw() {
		this.state = State.RUNNING;
		List<VirtualTime.Event> due = List.copyOf(this.putOff);
		this.putOff.clear();
		due.forEach(this.time::again);
	}

	/**
	 * Begin no more, and end when what runs has ended: after the grace it is interrupted.
	 */
	void stop(Duration grace, Runnable whenStopped) {
		this.state = State.STOPPING;
		this.whenStopped = whenStopped;
		this.time.at(this.time.now().plus(grace), this, () -> this.runs.forEach((run) -> {
			run.interrupt();
			this.time.wake(run);
		}));
		taskEnded();
	}

	void taskEnded() {
		if (this.state == State.STOPPING && !this.scheduler.isRunning() && this.runs.isEmpty()) {
			this.state = State.STOPPED;
			context().close();
			this.whenStopped.run();
		}
	}

	/**
	 * A run begins.
	 */
	Timeline.Run begin(InMemoryCall call) {
		this.runs.add(Thread.currentThread());
		Instant tick = call.request().tick();
		this.fleet
			.log(this + " begins '" + call.key().name() + "'" + ((tick != null) ? " for the tick of " + tick : ""));
		return this.fleet.timeline().add(new Timeline.Run(call.key(), call.request(), this, this.time.now()));
	}

	/**
	 * Have a run last.
	 * @return whether its end has come, and no interrupt before
	 */
	boolean last(InMemoryCall call, InMemoryHold hold) {
		Duration duration = this.fleet.durationOf(call.key());
		if (isKilled()) {
			this.time.vanish();
		}
		if (duration.isZero() || !hold.isHeld()) {
			return true;
		}
		Instant end = this.time.now().plus(duration);
		Duration maxRun = call.request().maxRun();
		if (maxRun != null && maxRun.compareTo(duration) < 0) {
			Instant told = this.time.now().plus(maxRun);
			this.time.sleepUntil(told, this);
			if (!this.time.now().isBefore(told) && hold.isHeld()) {
				this.fleet.log(this + " is told to end '" + call.key().name() + "', which has run for " + maxRun);
				hold.revoke();
			}
		}
		if (!Thread.currentThread().isInterrupted()) {
			this.time.sleepUntil(end, this);
		}
		return !this.time.now().isBefore(end);
	}

	/**
	 * Have a call wait, if need be.
	 */
	void sleep(Duration duration) {
		if (!duration.isZero()) {
			this.time.sleepUntil(this.time.now().plus(duration), this);
		}
	}

	void endRun() {
		this.runs.remove(Thread.currentThread());
		taskEnded();
	}

	/**
	 * Call a task of the scheduler, and note whether it is guarded.
	 */
	void call(Runnable task) {
		this.asked.set(false);
		try {
			task.run();
		}
		finally {
			if (!this.asked.get() && !hasEnded()) {
				this.fleet.timeline().unguarded(task.toString(), this.number);
			}
		}
	}

	/**
	 * Note that something of the library was asked for.
	 */
	void asks() {
		this.asked.set(true);
	}

	/**
	 * Note that a lock was asked for.
	 * @return when that is
	 */
	Instant asks(AdvisoryLockKey key) {
		asks();
		return this.fleet.timeline().asked(key, this.time.now());
	}

	/**
	 * Publish an event of the application, once it goes on if it is frozen.
	 */
	void tell(Object event) {
		if (isFrozen()) {
			this.time.at(this.time.now(), this, () -> context().publishEvent(event));
		}
		else {
			context().publishEvent(event);
		}
	}

	/**
	 * An event of the application was published.
	 */
	void told(Object event) {
		if (event instanceof SingleRunnerSkippedEvent skipped) {
			asks();
			this.fleet.log(this + " skips '" + skipped.key().name() + "': " + skipped.outcome());
		}
		else if (event instanceof SingleRunnerFinishedEvent finished && finished.failure() != null) {
			this.fleet.log(this + " fails in '" + finished.key().name() + "': " + finished.failure());
		}
		if (this.context != null && !hasEnded()) {
			this.catchUp.ended(event);
		}
	}

	@Override
	public String toString() {
		return "instance " + this.number;
	}

	private enum State {

		RUNNING, FROZEN, STOPPING, STOPPED, KILLED

	}

}
