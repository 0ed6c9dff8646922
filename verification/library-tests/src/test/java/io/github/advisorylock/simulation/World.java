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
import java.util.List;
import java.util.Map;

import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.support.RequestDetail;

/**
 * Three instances and their server, the schedulers that call methods, and all that
 * happens to them: accidents, and operators.
 */
final class World {

	private static final Duration SECOND = Duration.ofSeconds(1);

	/**
	 * How much time a step takes at least, in the long run: who asks the server over and
	 * over again has no time to keep a promise.
	 */
	private static final Duration STEP = Duration.ofMillis(380);

	/**
	 * After how long a scheduler looks at the latest whether there is another schedule.
	 */
	private static final Duration LOOK = Duration.ofSeconds(10);

	private static final Duration STEP_OF_CANDIDATES = Duration.ofMillis(180);

	private static final RequestDetail.Interval RATE = new RequestDetail.Interval(SimulatedMethods.INTERVAL,
			RequestDetail.Interval.Counted.FROM_BEGIN);

	private final Simulation simulation;

	private final SimulatedServer server;

	private final Weather weather;

	private final Promises promises;

	private final Drains drains;

	private final Schedules schedules;

	private final Backfills backfills;

	private final List<SimulatedMethods> methods;

	private final List<SimulatedInstance> instances = new ArrayList<>();

	private final boolean electing;

	private int born;

	World(Simulation simulation, boolean electing, List<SimulatedMethods> methods) {
		this.electing = electing;
		this.simulation = simulation;
		this.methods = methods;
		this.server = new SimulatedServer(simulation);
		this.weather = new Weather(simulation);
		this.drains = new Drains(simulation, this.server, this.instances);
		this.schedules = new Schedules(simulation, this.server);
		this.backfills = new Backfills(simulation, this.server, this.schedules);
		this.promises = new Promises(simulation, this.server, electing, this.weather, this.instances, this.drains,
				this.schedules, this.backfills);
	}

	void run() {
		for (int i = 0; i < this.methods.size(); i++) {
			start(i);
			int place = i;
			this.simulation.every(Duration.ofSeconds(20), () -> replace(place));
		}
		this.simulation.every(SECOND, this.promises::checkNowAndThen);
		this.simulation.every(Duration.ofSeconds(15), this::happen);
		this.simulation.every(Duration.ofSeconds(40), this::operate);
		this.simulation.afterEach(this.promises::checkAlways);
		while (this.simulation.isGoingOn()) {
			this.simulation.pass(SECOND.toNanos());
		}
		Duration least = (this.electing ? STEP_OF_CANDIDATES : STEP).multipliedBy(this.simulation.steps());
		if (this.simulation.now() < least.toNanos()) {
			this.simulation.violate("the server is asked now and then, and not " + this.simulation.steps()
					+ " times in " + Duration.ofNanos(this.simulation.now()));
		}
	}

	/**
	 * Start an instance, to which something may happen before it has started.
	 */
	private void start(int place) {
		SimulatedInstance instance = new SimulatedInstance("i" + ++this.born, this.simulation, this.server,
				this.methods.get(place), this.promises, this.weather);
		this.instances.add(place, instance);
		instance.start(this.electing);
		Map<String, Runnable> calls = this.methods.get(place).calls();
		for (String key : List.of("mails", "orders", "reports")) {
			planTick(instance, key, calls.get(key));
		}
		planInterval(instance, "exports", () -> PlannedTime.run(RATE, calls.get("exports")));
		planInterval(instance, "prices", calls.get("prices"));
	}

	/**
	 * What was killed or shut down is started again, in the calm after minutes: the
	 * others do without it.
	 */
	private void replace(int place) {
		if (this.instances.get(place).isDead() && (this.weather.isStorm() || this.simulation.chance(100))) {
			this.instances.remove(place);
			start(place);
		}
	}

	/**
	 * As schedulers do: what was due during a call is passed over.
	 */
	private void planTick(SimulatedInstance instance, String key, Runnable call) {
		Instant tick = instance.nextTick(key);
		Duration time = Duration.between(instance.now(), tick);
		if (time.compareTo(LOOK) > 0) {
			instance.at(LOOK.toNanos(), () -> planTick(instance, key, call));
			return;
		}
		instance.at(time.toNanos() + 1,
				() -> call(instance, key, () -> PlannedTime.run(tick, call), () -> planTick(instance, key, call)));
	}

	private void planInterval(SimulatedInstance instance, String key, Runnable call) {
		instance.at(this.simulation.random(0, SimulatedMethods.INTERVAL.toNanos()),
				() -> call(instance, key, call, () -> planNext(instance, key, call)));
	}

	private void planNext(SimulatedInstance instance, String key, Runnable call) {
		instance.at(SimulatedMethods.INTERVAL.toNanos(),
				() -> call(instance, key, call, () -> planNext(instance, key, call)));
	}

	private void call(SimulatedInstance instance, String key, Runnable call, Runnable next) {
		if (instance.call(key, call)) {
			next.run();
		}
		else {
			instance.at(Duration.ofMillis(200).toNanos(), () -> call(instance, key, call, next));
		}
	}

	private void happen() {
		SimulatedInstance one = this.instances.get((int) this.simulation.random(0, this.instances.size()));
		if (!this.weather.isStorm()) {
			if (this.simulation.chance(60) && this.instances.stream().noneMatch(SimulatedInstance::isDead)) {
				boolean killed = this.simulation.chance(500);
				this.simulation.step((killed ? "killed" : "stopped") + " in the calm: " + one.name());
				if (killed) {
					one.kill();
				}
				else {
					one.stop();
				}
			}
			return;
		}
		int event = (int) this.simulation.random(0, 12);
		this.simulation.step("event " + event + " for " + one.name());
		switch (event) {
			case 0 -> one.kill();
			case 1 -> one.stop();
			case 2, 3 -> one.freeze(SECOND.multipliedBy(this.simulation.random(1, 25)));
			case 4, 5 -> one.cutOff();
			case 6 -> one.jump(SECOND.multipliedBy(this.simulation.random(-40, 40)));
			case 7 -> this.server.endLater((session) -> true, Duration.ZERO);
			case 8, 9 -> this.server.endLater((session) -> session.client.equals(one.name()), Duration.ZERO);
			default -> {
			}
		}
		this.instances.forEach((instance) -> {
			if (event == 7 || instance == one) {
				instance.disturb();
			}
		});
	}

	private void operate() {
		String key = Promises.OF_TICKS.get((int) this.simulation.random(0, 2));
		int act = (int) this.simulation.random(0, 16);
		SimulatedInstance one = this.instances.get((int) this.simulation.random(0, this.instances.size()));
		this.simulation.step("operator: " + act + " for " + key + " or " + one.name());
		switch (act) {
			case 0 -> this.server.ledger().job(key).pause(this.server.clock());
			case 1, 2 -> Promises.OF_TICKS.forEach((job) -> this.server.ledger().job(job).pause(null));
			case 3, 4 -> this.promises.retried(key, this.server.ledger().retry(key));
			case 5, 6 -> this.server.tell(LockSession.CANCEL_CHANNEL,
					PostgresAdvisoryLockTemplate.lockEntry(SimulatedInstance.key(key)) + " "
							+ this.server.clock().toEpochMilli() + " somebody");
			case 7 -> this.drains.act(one, true);
			case 8, 9 -> this.instances.forEach((instance) -> this.drains.act(instance, false));
			case 10, 11 -> this.schedules.act(key);
			case 12, 13 -> this.backfills.act(one, key);
			default -> {
				this.promises.resigns(one);
				one.election().resign(SimulatedInstance.ROLE);
				this.weather.disturb();
			}
		}
	}

}
