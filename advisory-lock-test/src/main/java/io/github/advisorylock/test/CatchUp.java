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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.interceptor.LedgerOperation;
import io.github.advisorylock.interceptor.PlannedTime;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it, on one instance of a fleet, that the latest tick of each method with
 * {@code catchUp} is completed by some instance, as the ledger does.
 */
final class CatchUp {

	private static final Log logger = LogFactory.getLog(CatchUp.class);

	private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(3);

	private static final Duration JITTER = Duration.ofSeconds(1);

	private static final Duration FIRST_PAUSE = Duration.ofMillis(300);

	private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

	private final Fleet fleet;

	private final FleetInstance instance;

	private final Map<SingleRunnerMethod, OpenTick> open = new HashMap<>();

	CatchUp(Fleet fleet, FleetInstance instance) {
		this.fleet = fleet;
		this.instance = instance;
	}

	private List<SingleRunnerMethod> methods() {
		return this.instance.methods()
			.stream()
			.filter((method) -> method.fixedKey() != null && method.operation().ledger().catchUp() != null)
			.toList();
	}

	/**
	 * Take the latest tick of each method for open until the ledger was asked.
	 */
	void openLatest() {
		for (SingleRunnerMethod method : methods()) {
			job(method).seen(this.fleet.now());
			Instant tick = latest(method);
			if (tick != null) {
				open(method, tick, Duration.ZERO);
			}
		}
	}

	private @Nullable Instant latest(SingleRunnerMethod method) {
		CronTicks ticks = method.operation().ledger().ticks();
		Instant now = this.instance.clock().instant();
		return (ticks != null && ticks.nextAfter(now) != null) ? ticks.latestAt(now) : null;
	}

	void ended(Object event) {
		if (event instanceof SingleRunnerSkippedEvent skipped && skipped.tick() != null) {
			ended(skipped.key(), skipped.method(), skipped.tick(), skipped.outcome() == LockOutcome.ALREADY_RAN);
		}
		else if (event instanceof SingleRunnerFinishedEvent finished && finished.tick() != null) {
			ended(finished.key(), finished.method(), finished.tick(), finished.done());
		}
	}

	private void ended(AdvisoryLockKey key, String name, Instant tick, boolean done) {
		methods().stream()
			.filter((method) -> key.equals(method.fixedKey()) && method.operation().method().equals(name))
			.findFirst()
			.ifPresent((method) -> {
				if (!done) {
					open(method, tick, FIRST_PAUSE.plus(this.fleet.time().upTo(SHORTEST_PAUSE))).tried = true;
					return;
				}
				this.open.computeIfPresent(method, (same, known) -> known.time.isAfter(tick) ? known : null);
				Instant latest = latest(method);
				if (latest != null && latest.isAfter(tick)) {
					open(method, latest, pause());
				}
			});
	}

	private OpenTick open(SingleRunnerMethod method, Instant time, Duration delay) {
		OpenTick tick = this.open.get(method);
		if (tick == null || tick.time.isBefore(time)) {
			tick = new OpenTick(method, time);
			this.open.put(method, tick);
			lookAfter(tick, delay);
		}
		return tick;
	}

	private void lookAfter(OpenTick tick, Duration delay) {
		this.fleet.time().at(this.fleet.now().plus(delay), this.instance, () -> look(tick));
	}

	private Duration pause() {
		return SHORTEST_PAUSE.plus(this.fleet.time().upTo(JITTER));
	}

	private InMemoryJob job(SingleRunnerMethod method) {
		return this.fleet.locks().answers().job(key(method));
	}

	private static AdvisoryLockKey key(SingleRunnerMethod method) {
		return Objects.requireNonNull(method.fixedKey(), "'fixedKey' must not be null");
	}

	/**
	 * Look at a tick that is open, as long as nobody has completed it.
	 */
	private void look(OpenTick tick) {
		if (this.open.get(tick.method) != tick || !this.instance.mayBegin()) {
			return;
		}
		Instant latest = latest(tick.method);
		if (latest != null && latest.isAfter(tick.time)) {
			open(tick.method, latest, pause());
			return;
		}
		if (this.fleet.isDatabaseDown()) {
			lookAfter(tick, pause());
			return;
		}
		LedgerOperation ledger = tick.method.operation().ledger();
		AdvisoryLockKey key = key(tick.method);
		InMemoryJob job = job(tick.method);
		Instant now = this.fleet.now();
		Duration left = Objects.requireNonNull(ledger.catchUp(), "'catchUp' must not be null")
			.minus(Duration.between(tick.time, now));
		if (job.isSettled(tick.time, tick.tried, now)) {
			this.open.remove(tick.method);
		}
		else if (!this.fleet.locks().table().holds(key).isEmpty()) {
			tick.tried = true;
			lookAfter(tick, pause());
		}
		else if (left.isNegative()) {
			this.open.remove(tick.method);
			this.fleet.log("tick " + tick.time + " of '" + key.name() + "' is lost: its window is over");
		}
		else if (job.hasGivenUp(tick.time) || this.fleet.locks().answers().isPaused(key)) {
			lookAfter(tick, LONGEST_WAIT);
		}
		else {
			Duration wait = job.pause(tick.time, ledger.minInterval(), now);
			if (wait.isZero()) {
				run(tick);
			}
			else {
				lookAfter(tick, (wait.compareTo(LONGEST_WAIT) < 0) ? wait : LONGEST_WAIT);
			}
		}
	}

	private void run(OpenTick tick) {
		SingleRunnerMethod method = tick.method;
		Object bean = this.instance.context().getBean(method.beanName());
		try {
			PlannedTime.run(tick.time, this.instance.clock(),
					() -> SingleRunnerAnnotationBeanPostProcessor.call(bean, method.method()));
		}
		catch (VirtualTime.Vanished ex) {
			throw ex;
		}
		catch (Throwable ex) {
			logger.error("Failed to catch up with " + method, ex);
		}
		if (this.open.get(method) == tick) {
			lookAfter(tick, pause());
		}
	}

	/**
	 * A tick that nobody has completed, as far as this instance knows.
	 */
	private static final class OpenTick {

		private final SingleRunnerMethod method;

		private final Instant time;

		private boolean tried;

		private OpenTick(SingleRunnerMethod method, Instant time) {
			this.method = method;
			this.time = time;
		}

	}

}
