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
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.autoconfigure.AdvisoryLockProperties;
import io.github.advisorylock.interceptor.CronTicks;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.Assert;

/**
 * The instances of an application in a {@link FleetTest}, in virtual time: it stands
 * still until the test lets it pass, and then all happens that is due, one after the
 * other.
 * <p>
 * Instances have numbers, the first one 0. Times are texts such as
 * {@code 2026-10-25T01:10:00Z} or {@code 2026-10-25T02:10:00+01:00}.
 *
 * @since 0.1.0
 */
public final class Fleet {

	/**
	 * In the place of an instance: what the test calls by itself.
	 */
	static final int TEST = -1;

	private static final Duration GRACE = Duration.ofSeconds(30);

	private final VirtualTime time = new VirtualTime();

	private final Timeline timeline = new Timeline();

	private final List<FleetInstance> instances = new ArrayList<>();

	/**
	 * Those too that were replaced.
	 */
	private final List<FleetInstance> all = new ArrayList<>();

	private final Map<AdvisoryLockKey, Duration> durations = new HashMap<>();

	private final Function<FleetInstance, ConfigurableApplicationContext> starter;

	private final ConfigurableApplicationContext home;

	private final CallRecorder calls = new CallRecorder(Integer.MAX_VALUE);

	private final FleetElections elections;

	private final FleetInstance test;

	private @Nullable InMemoryLocks locks;

	private boolean databaseDown;

	private int outages;

	private long seed;

	/**
	 * Create a fleet without instances.
	 * @param starter starts the application context of an instance
	 * @param home the application context of the test
	 */
	Fleet(Function<FleetInstance, ConfigurableApplicationContext> starter, ConfigurableApplicationContext home) {
		this.starter = starter;
		this.home = home;
		this.elections = new FleetElections(this);
		this.test = new FleetInstance(TEST, this);
	}

	/**
	 * Begin a test.
	 */
	void begin(int count, Instant from, long seed) {
		Assert.state(this.home.getBean(TestLocks.class) == this.locks, "'locks' must be those of the fleet");
		this.seed = seed;
		this.time.begin(from, seed);
		this.timeline.begin(from);
		for (int i = 0; i < count; i++) {
			start(i);
		}
	}

	/**
	 * End a test, and all that is under way.
	 */
	void end() {
		this.time.end();
		this.all.stream().filter((instance) -> !instance.hasEnded() || instance.isKilled()).forEach((instance) -> {
			instance.kill();
			instance.context().close();
		});
		this.instances.clear();
		this.all.clear();
		this.durations.clear();
		this.elections.clear();
		this.databaseDown = false;
	}

	/**
	 * Let time pass until a time, and all happen that is due.
	 * @param time the time, with an offset or a zone
	 */
	public void advanceTo(String time) {
		advanceTo(VirtualTime.instant(time));
	}

	/**
	 * Let time pass until a time, and all happen that is due.
	 * @param time the time
	 */
	public void advanceTo(Instant time) {
		this.time.advanceTo(time);
	}

	/**
	 * Let time pass, and all happen that is due.
	 * @param duration how much
	 */
	public void advanceBy(Duration duration) {
		this.time.advanceTo(now().plus(duration));
	}

	/**
	 * Return what time it is.
	 * @return the time, which no skew of a clock changes
	 */
	public Instant now() {
		return this.time.now();
	}

	/**
	 * Have each run for a key last from now on. It holds its locks as long; its method is
	 * called once, at the begin of the run, and what that throws is thrown at the end.
	 * @param key the name of the key
	 * @param duration how long
	 */
	public void takes(String key, Duration duration) {
		this.time.checkBegun();
		Assert.isTrue(!duration.isNegative(), "'duration' must not be negative");
		this.durations.put(locks().key(key), duration);
	}

	/**
	 * Kill an instance, as {@code kill -9} does: what runs there never ends, and its
	 * locks are free.
	 * @param instance its number
	 */
	public void kill(int instance) {
		FleetInstance killed = live(instance);
		killed.kill();
		log(killed + " is killed");
		this.timeline.ended(killed, now());
		gone(killed);
	}

	/**
	 * Stop an instance in order: it begins nothing more, and what runs has 30 seconds.
	 * After that it is interrupted, and fails.
	 * @param instance its number
	 */
	public void stop(int instance) {
		FleetInstance stopped = live(instance);
		Assert.state(!stopped.isFrozen(),
				() -> "Instance " + instance + " can't be stopped: it is frozen; let it go on before, or kill it");
		log(stopped + " is stopped");
		this.elections.resign(stopped);
		stopped.stop(GRACE, () -> {
			log(stopped + " has stopped");
			gone(stopped);
		});
	}

	/**
	 * Start an instance that was killed or stopped, or one more.
	 * @param instance its number
	 */
	public void start(int instance) {
		Assert.isTrue(instance >= 0 && instance <= this.instances.size(),
				() -> "'instance' must be the number of an instance that was there, or the next one, "
						+ this.instances.size());
		Assert.state(instance == this.instances.size() || !this.instances.get(instance).isLive(),
				() -> "Instance " + instance + " can't be started: it runs");
		FleetInstance started = new FleetInstance(instance, this);
		if (instance == this.instances.size()) {
			this.instances.add(started);
		}
		else {
			this.instances.set(instance, started);
		}
		this.all.add(started);
		log(started + " is started");
		started.started(this.starter.apply(started));
	}

	/**
	 * Freeze the machine of an instance: nothing happens there until it is thawed. After
	 * {@code advisory-lock.session.dead-client-timeout} the server ends its connections,
	 * and its locks are free.
	 * @param instance its number
	 */
	public void freeze(int instance) {
		FleetInstance frozen = live(instance);
		Assert.state(!frozen.isFrozen(), () -> "Instance " + instance + " is frozen already");
		Object freeze = frozen.freeze();
		log(frozen + " is frozen");
		Duration noticed = frozen.context().getBean(AdvisoryLockProperties.class).session().deadClientTimeout();
		this.time.at(now().plus(noticed), null, () -> {
			if (frozen.isFrozen(freeze)) {
				log("the server ends the connections of " + frozen);
				loseLocks(frozen, false);
			}
		});
	}

	/**
	 * Let a frozen instance go on: what was due meanwhile happens now.
	 * @param instance its number
	 */
	public void thaw(int instance) {
		FleetInstance thawed = live(instance);
		Assert.state(thawed.isFrozen(), () -> "Instance " + instance + " is not frozen");
		thawed.thaw();
		this.elections.thawed(thawed);
		log(thawed + " goes on");
	}

	/**
	 * Set the clock of an instance.
	 * @param instance its number
	 * @param skew by how much it is ahead of the others, negative if it is behind
	 */
	public void skewClock(int instance, Duration skew) {
		live(instance).setSkew(skew);
	}

	/**
	 * End the connection that holds the session locks of an instance: its runs in scope
	 * SESSION are told, its roles are lost.
	 * @param instance its number
	 */
	public void loseSession(int instance) {
		FleetInstance loser = live(instance);
		log(loser + " loses its session");
		loseLocks(loser, true);
	}

	/**
	 * Have the database crash: all locks are lost, no transaction that is under way can
	 * be committed, and nothing can be asked until it is up again. What the ledger has is
	 * kept.
	 */
	public void databaseDown() {
		this.databaseDown = true;
		this.outages++;
		log("the database is down");
		this.instances.stream()
			.filter((instance) -> !instance.hasEnded())
			.forEach((instance) -> loseLocks(instance, false));
	}

	/**
	 * Have the database work again.
	 */
	public void databaseUp() {
		this.databaseDown = false;
		log("the database is up");
	}

	boolean isDatabaseDown() {
		return this.databaseDown;
	}

	/**
	 * Return how often the database has gone down.
	 */
	int outages() {
		return this.outages;
	}

	/**
	 * Return which instance runs the work of a key.
	 * @param key the name of the key
	 * @return its number
	 * @throws IllegalStateException if none runs it
	 */
	public int runnerOf(String key) {
		return this.timeline.underWay(locks().key(key))
			.mapToInt(Timeline.Run::number)
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("No instance runs '" + key + "' at " + now()
					+ "; say how long a run lasts by Fleet.takes:\n" + describe(locks().key(key))));
	}

	/**
	 * Return which instance leads a role.
	 * @param role the name of the role
	 * @return its number
	 * @throws IllegalStateException if none leads it
	 */
	public int leaderOf(String role) {
		return this.elections.leaderOf(role)
			.orElseThrow(() -> new IllegalStateException("No instance leads role '" + role + "' at " + now()));
	}

	/**
	 * Return the shards of a role that an instance leads.
	 * @param role the name of the role
	 * @param instance its number
	 * @return the numbers of the shards, in order
	 */
	public Set<Integer> shardsOf(String role, int instance) {
		return this.elections.shardsOf(role, live(instance));
	}

	/**
	 * Return the instances that were not killed or stopped.
	 * @return their numbers, in their order
	 */
	public List<Integer> instances() {
		return this.instances.stream().filter(FleetInstance::isLive).map(FleetInstance::number).toList();
	}

	/**
	 * Return a bean of an instance.
	 * @param instance its number
	 * @param type the type of the bean
	 * @param <T> the type of the bean
	 * @return the bean
	 */
	public <T> T bean(int instance, Class<T> type) {
		return live(instance).context().getBean(type);
	}

	FleetInstance live(int number) {
		Assert.isTrue(number >= 0 && number < this.instances.size(),
				() -> "'instance' must be one of " + instances() + ", and is " + number);
		FleetInstance instance = this.instances.get(number);
		Assert.state(instance.isLive(), () -> "Instance " + number + " does not run; those that do: " + instances());
		return instance;
	}

	/**
	 * The process is gone, and the server frees what it had.
	 */
	private void gone(FleetInstance instance) {
		locks().holds(instance).forEach((hold) -> locks().table().leave(hold));
		locks().answers().forget(instance);
		this.elections.gone(instance);
	}

	private void loseLocks(FleetInstance instance, boolean ofSession) {
		locks().holds(instance).stream().filter((hold) -> !ofSession || hold.isOfSession()).forEach(InMemoryHold::lose);
		this.elections.gone(instance);
	}

	VirtualTime time() {
		return this.time;
	}

	Timeline timeline() {
		return this.timeline;
	}

	FleetElections elections() {
		return this.elections;
	}

	CallRecorder calls() {
		return this.calls;
	}

	InMemoryLocks locks() {
		Assert.state(this.locks != null, "'locks' must be set");
		return this.locks;
	}

	/**
	 * Return the locks of all instances, made for the first one that asks.
	 */
	InMemoryLocks locks(SingleRunnerSettings settings) {
		if (this.locks == null) {
			this.locks = new InMemoryLocks(settings, this.calls, this.home::publishEvent, this);
		}
		return this.locks;
	}

	ConfigurableApplicationContext home() {
		return this.home;
	}

	/**
	 * Return what is no instance of the application, but whose calls the test makes by
	 * itself.
	 */
	FleetInstance test() {
		return this.test;
	}

	void log(String line) {
		this.timeline.served(now(), !this.databaseDown && this.instances.stream().anyMatch(FleetInstance::mayBegin));
		this.timeline.log(now(), line);
	}

	/**
	 * Return how long a run for a key lasts.
	 */
	Duration durationOf(AdvisoryLockKey key) {
		return this.durations.getOrDefault(key, Duration.ZERO);
	}

	/**
	 * Return the ticks that a key is planned for, as far as the schedule of its own
	 * method says, and operators have.
	 */
	@Nullable CronTicks ticks(AdvisoryLockKey key) {
		SingleRunnerMethod method = method(key);
		return (method != null) ? locks().answers().job(key).changes().ticks(method.operation().ticks(Instant.MIN))
				: null;
	}

	/**
	 * Return the method that has a key, {@code null} if none has it for all calls.
	 */
	@Nullable SingleRunnerMethod method(AdvisoryLockKey key) {
		return this.all.isEmpty() ? null
				: this.all.get(this.all.size() - 1)
					.methods()
					.stream()
					.filter((method) -> key.equals(method.fixedKey()))
					.findFirst()
					.orElse(null);
	}

	/**
	 * Describe what happened for a key, an instance a line.
	 */
	String describe(AdvisoryLockKey key) {
		return this.timeline.describe(key,
				this.all.stream().map(FleetInstance::number).collect(Collectors.toCollection(TreeSet::new)));
	}

	/**
	 * Describe what happened, with what plays it again.
	 */
	String describe() {
		return "The fleet of this test can be played again with @FleetTest(seed = " + this.seed
				+ "L); what happened last:\n" + String.join("\n", this.timeline.log());
	}

}
