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

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.SimulatedThreads;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.leader.PostgresLeaderElection;
import io.github.advisorylock.ledger.jdbc.SimulatedJobs;
import io.github.advisorylock.support.TwoPhaseLockOperations;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * One instance of an application: all that the library has for it, on threads that are
 * none, a clock of its own, and connections to the model of the server.
 */
final class SimulatedInstance extends AbstractDataSource implements LockScheduler.Ticker {

	static final Duration DEAD_CLIENT = Duration.ofSeconds(10);

	static final String NAMESPACE = "sim";

	static final String ROLE = "role";

	static final int SHARDS = 3;

	private static final String DIVIDED = "divided";

	/**
	 * Stands for the key of a call that comes from the watcher of open ticks.
	 */
	static final String CATCH_UP = "catch-up";

	private static final Duration HEARTBEAT = Duration.ofSeconds(12);

	private static final long LITTLE = Duration.ofMillis(200).toNanos();

	private static final LockSessionSettings SETTINGS = new LockSessionSettings(Duration.ofSeconds(2), DEAD_CLIENT,
			LockSessionSettings.WhenLost.REPORT);

	private final Simulation simulation;

	private final SimulatedServer server;

	private final SimulatedMethods methods;

	private final Promises promises;

	private final Weather weather;

	private final String name;

	/**
	 * By how much its clock is fast, in thousandths.
	 */
	private final long rate;

	private long skew;

	private long frozenUntil;

	private boolean dead;

	private boolean stopping;

	private long disturbed;

	private final Set<String> running = new HashSet<>();

	private final List<SimulatedConnection> connections = new ArrayList<>();

	/**
	 * Since when it knows whether it is drained.
	 */
	private long drained;

	private final SimulatedThreads threads;

	private final LockSession session;

	private final PostgresAdvisoryLockTemplate template;

	private final PostgresLeaderElection election;

	private final SimulatedJobs jobs;

	SimulatedInstance(String name, Simulation simulation, SimulatedServer server, SimulatedMethods methods,
			Promises promises, Weather weather) {
		this.name = name;
		this.simulation = simulation;
		this.server = server;
		this.methods = methods;
		this.promises = promises;
		this.weather = weather;
		this.rate = simulation.random(-30, 31);
		this.skew = simulation.random(-2_000_000_000L, 2_000_000_000L);
		Executor soon = (task) -> at(0, task);
		LockInstance instance = new LockInstance(name);
		instance.whenChanged(() -> this.drained = simulation.now());
		this.threads = new SimulatedThreads(this, instance, soon, this::whenIdle, simulation.isIn(this));
		AdvisoryLockKeyFactory keys = AdvisoryLockKeyFactory.sha256();
		this.session = this.threads.session(() -> this, SETTINGS);
		this.jobs = new SimulatedJobs(this, methods.postProcessor(), methods.beans(), this.threads, server.ledger(),
				this::ask, (key) -> !server.holders(key.value()).isEmpty(), () -> this.stopping);
		this.template = new PostgresAdvisoryLockTemplate(this, new JdbcTransactionManager(this), this.session, "sim",
				keys, Duration.ZERO, 1000, () -> this.jobs);
		this.election = new PostgresLeaderElection(this.session, "sim", keys, 0,
				(event) -> promises.elected(this, event));
		methods.use(this);
	}

	/**
	 * Begin to work.
	 * @param electing whether it runs for a role
	 */
	void start(boolean electing) {
		if (electing) {
			this.election.isLeader(ROLE);
			this.election.shards(DIVIDED, SHARDS);
			this.election.start();
		}
		this.jobs.start();
		beat();
	}

	private void beat() {
		this.jobs.beat();
		at(HEARTBEAT.toNanos() + this.simulation.random(0, LITTLE), this::beat);
	}

	/**
	 * Shut the application down in order.
	 */
	void stop() {
		this.stopping = true;
		this.jobs.stop();
		this.election.stop(() -> at(0, this::kill));
		at(DEAD_CLIENT.toNanos(), this::kill);
	}

	/**
	 * End the process: the server may find that out at once, or not.
	 */
	void kill() {
		this.dead = true;
		this.server.endLater((ended) -> ended.client.equals(this.name),
				this.simulation.chance(500) ? Duration.ZERO : DEAD_CLIENT);
	}

	/**
	 * Have it do nothing for a while. What it would have done meanwhile knows when it can
	 * go on: that does not come sooner.
	 */
	void freeze(Duration time) {
		this.frozenUntil = Math.max(this.frozenUntil, this.simulation.now() + time.toNanos());
	}

	void jump(Duration time) {
		this.skew = time.toNanos();
	}

	/**
	 * Cut it off from the server.
	 */
	void cutOff() {
		this.connections.forEach(SimulatedConnection::fallSilent);
		disturb();
	}

	void disturb() {
		this.disturbed = this.simulation.now();
	}

	/**
	 * Return when something has happened to it, or on its way to the server, the last
	 * time.
	 */
	long disturbed() {
		return this.disturbed;
	}

	/**
	 * Return whether it is drained, and has known that by a time.
	 */
	boolean knowsOfDrainAt(long time) {
		return this.threads.instance().isDrained() && this.drained <= time;
	}

	Set<Integer> shards() {
		return (!this.dead && !isFrozen() && this.election.isRunning()) ? this.election.shards(DIVIDED, SHARDS)
				: Set.of();
	}

	PostgresLeaderElection election() {
		return this.election;
	}

	TwoPhaseLockOperations operations() {
		return this.template;
	}

	/**
	 * Return when a method is called next, as far as is known here.
	 */
	Instant nextTick(String key) {
		return this.methods.nextTick(key, now());
	}

	String name() {
		return this.name;
	}

	boolean isDead() {
		return this.dead;
	}

	boolean isStopping() {
		return this.stopping;
	}

	boolean isFrozen() {
		return this.simulation.now() < this.frozenUntil;
	}

	boolean isBusyWith(String key) {
		return !this.dead && (this.running.contains(key) || this.running.contains(CATCH_UP));
	}

	boolean isCalling() {
		return this.simulation.isIn(this).getAsBoolean();
	}

	boolean isInSession() {
		return this.threads.isInSession();
	}

	boolean isLeading() {
		return !this.dead && !isFrozen() && this.election.isRunning() && this.election.isLeader(ROLE);
	}

	void publish(Object event) {
		if (event instanceof SingleRunnerFinishedEvent finished && finished.failure() == null) {
			this.promises.succeeded(this, finished.key().name());
		}
		this.jobs.publish(event);
	}

	/**
	 * Call a method, unless it is running here, or the server is being asked.
	 * @return whether it was called
	 */
	boolean call(String key, Runnable call) {
		boolean called = !this.stopping && !this.running.contains(key) && !this.running.contains(CATCH_UP)
				&& !this.threads.isInSession() && this.simulation.hasRoom();
		if (called) {
			try {
				call(key, null, call);
			}
			catch (RuntimeException ex) {
				failed(key, ex);
			}
		}
		return called;
	}

	private void call(String key, @Nullable Instant backfilled, Runnable call) {
		this.running.add(key);
		this.simulation.step(this.name + ": calls " + key);
		this.promises.called(this, key, backfilled);
		try {
			this.simulation.call(this, call);
		}
		finally {
			this.running.remove(key);
			this.promises.ended(this, key);
		}
	}

	private void failed(String key, RuntimeException failure) {
		this.simulation.note(this.name + ": " + key + " failed by " + failure.getClass().getSimpleName());
		this.promises.failed(key, failure);
	}

	/**
	 * Run ticks of a method that are over, as soon as nobody waits: who did would not go
	 * on before that is done.
	 */
	void backfill(String key, Instant from, Instant to) {
		at(0, () -> {
			if (!this.simulation.isIdle() || !this.running.isEmpty() || this.threads.isInSession()) {
				at(LITTLE, () -> backfill(key, from, to));
				return;
			}
			Backfills backfills = this.promises.backfills();
			backfills.begins(this);
			this.simulation.step(this.name + ": backfills " + key + " from " + from);
			try {
				LockOutcome outcome = this.jobs.backfill(key, from, to, this, (tick, run) -> run(key, tick, run));
				this.simulation.note(this.name + ": has backfilled " + key + ": " + outcome);
				backfills.ended(key, from, to, outcome);
			}
			catch (RuntimeException ex) {
				this.simulation.note(this.name + ": backfill of " + key + " failed by " + ex);
				backfills.failed(this, ex);
			}
		});
	}

	private LockOutcome run(String key, @Nullable Instant backfilled, Supplier<LockOutcome> run) {
		Backfills backfills = this.promises.backfills();
		if (backfilled != null) {
			backfills.called(this, key, backfilled);
		}
		AtomicReference<LockOutcome> outcome = new AtomicReference<>(LockOutcome.PAUSED);
		try {
			call(key, backfilled, () -> outcome.set(run.get()));
		}
		catch (RuntimeException ex) {
			failed(key, ex);
			throw ex;
		}
		finally {
			if (backfilled != null && Set.of(LockOutcome.PAUSED, LockOutcome.TOO_SOON).contains(outcome.get())) {
				backfills.stopped(this);
			}
		}
		return outcome.get();
	}

	/**
	 * Do the work of a method, for as long as it lasts.
	 */
	void work(String key) {
		LockContext lock = LockContext.current().orElseThrow();
		this.promises.begun(this, key, lock);
		pause(this.weather.duration());
		this.promises.worked(this, key, lock);
		if (lock.scope() == LockScope.TRANSACTION) {
			new JdbcTemplate(this).update("INSERT INTO effect VALUES (?, ?)", key,
					String.valueOf(lock.tick().orElse(null)));
		}
		if (this.weather.fails()) {
			this.simulation.note(this.name + ": " + key + " fails");
			// what fails without its lock may fail by that, and does not count
			throw lock.isHeld() ? new JobFailed() : new IllegalStateException("The lock is lost");
		}
	}

	private void ask(Runnable question) {
		try (Connection connection = getConnection()) {
			this.connections.get(this.connections.size() - 1).roundTrip("SELECT jobs and locks", () -> {
				question.run();
				return true;
			});
		}
		catch (SQLException ex) {
			throw new DataAccessResourceFailureException("Failed to look", ex);
		}
	}

	@Override
	public Connection getConnection() throws SQLException {
		checkLives();
		if (this.weather.refusesConnections()) {
			disturb();
			throw new SQLException("Connection refused", "08001");
		}
		SimulatedConnection opened = new SimulatedConnection(this, this.server);
		this.connections.removeIf(SimulatedConnection::isClosed);
		this.connections.add(opened);
		return opened.driver();
	}

	@Override
	public Connection getConnection(String username, String password) throws SQLException {
		return getConnection();
	}

	SimulatedConnection.Fault nextFault() {
		SimulatedConnection.Fault fault = this.weather.nextFault();
		if (fault != SimulatedConnection.Fault.NONE) {
			disturb();
		}
		return fault;
	}

	long latency() {
		return this.weather.latency();
	}

	void step(SimulatedConnection.Fault fault, String what, int process) {
		this.simulation.step(this.name + " on " + process + " (" + fault + "): "
				+ what.substring(0, Math.min(70, what.length())).replace('\n', ' '));
	}

	/**
	 * Have the others go on for a while. What is killed meanwhile does not go on.
	 */
	void pause(long nanos) {
		checkLives();
		if (nanos == 0) {
			return;
		}
		PutAside aside = new PutAside();
		this.simulation.pass(nanos);
		while (isFrozen() && !this.dead && this.simulation.isGoingOn()) {
			this.simulation.pass(this.frozenUntil - this.simulation.now());
		}
		aside.bringBack();
		checkLives();
	}

	void checkLives() {
		if (this.dead || !this.simulation.isGoingOn()) {
			throw new Killed();
		}
	}

	/**
	 * Do something that calls a method, as soon as nothing else does.
	 */
	private void whenIdle(Runnable task) {
		at(0, () -> {
			if (!this.running.isEmpty() || !call(CATCH_UP, task)) {
				at(LITTLE, () -> whenIdle(task));
			}
		});
	}

	Future<?> at(long nanos, Runnable task) {
		return this.simulation.at(this.simulation.now() + nanos,
				() -> this.dead ? -1L : Math.max(0, this.frozenUntil - this.simulation.now()), task);
	}

	@Override
	public Instant now() {
		return this.simulation.clock().plusNanos(this.skew);
	}

	@Override
	public long nanoTime() {
		return this.simulation.now() + this.simulation.now() / 1000 * this.rate;
	}

	@Override
	public long random(long least, long bound) {
		return this.simulation.random(least, bound);
	}

	@Override
	public void park(Object blocker, long nanos) {
		pause(nanos);
	}

	/**
	 * What is not done yet waits for somebody who can't go on before this call does.
	 */
	@Override
	public <T extends @Nullable Object> T await(Future<T> result, Duration limit)
			throws InterruptedException, ExecutionException, TimeoutException {
		return result.get(0, TimeUnit.NANOSECONDS);
	}

	@Override
	public Future<?> after(long nanos, ScheduledExecutorService timer, Executor executor, Runnable task) {
		return at(Math.max(0, nanos) / (1000 + this.rate) * 1000 + 1000,
				(executor == timer) ? task : () -> executor.execute(task));
	}

	static AdvisoryLockKey key(String name) {
		return AdvisoryLockKey.of(NAMESPACE, name);
	}

	static long number(String name) {
		return key(name).value();
	}

	/**
	 * Ends what a process was doing that was killed.
	 */
	static final class Killed extends Error {

		private static final long serialVersionUID = 1;

		Killed() {
			super("killed", null, false, false);
		}

	}

	/**
	 * The failure of a job.
	 */
	static final class JobFailed extends RuntimeException {

		private static final long serialVersionUID = 1;

	}

}
