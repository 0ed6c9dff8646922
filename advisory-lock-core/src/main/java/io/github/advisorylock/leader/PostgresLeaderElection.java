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

package io.github.advisorylock.leader;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;
import org.springframework.util.Assert;

/**
 * Elects leaders by the session locks of PostgreSQL. The key of a role is made of
 * {@value LeaderElection#KEY_PREFIX} and its name, in the namespace of the application.
 * No annotated method may have a key that starts like that, and no request should.
 * <p>
 * Stops after the schedulers have stopped, and hands over each role as soon as no work of
 * its leader is running any more, or when the time of the shutdown is over.
 *
 * @since 0.1.0
 */
public final class PostgresLeaderElection implements LeaderElection, LeaderOnlyGate, SmartLifecycle, DisposableBean {

	/**
	 * Below that of Spring's schedulers and executors, which stop first.
	 */
	static final int PHASE = ExecutorConfigurationSupport.DEFAULT_PHASE - 1024;

	/**
	 * The highest number that all terms can be told to be higher than: it leaves room for
	 * what the server counts.
	 */
	public static final long MOST_TERMS_ABOVE = 1L << 62;

	private static final int MOST_ROLES = 100;

	/**
	 * The server answers a column for each.
	 */
	private static final int MOST_ROLES_AND_SHARDS = 512;

	private static final long STOP_SECONDS = 10;

	private final Map<String, LeaderRole> roles = new ConcurrentHashMap<>();

	private final Map<String, Shards> shards = new ConcurrentHashMap<>();

	private final LockSession session;

	private final String namespace;

	private final AdvisoryLockKeyFactory keyFactory;

	private final long termsAbove;

	private final Consumer<Object> eventPublisher;

	private final UnaryOperator<Runnable> shutdown;

	private final LockScheduler events;

	private final Elector elector;

	private volatile boolean running;

	/**
	 * Create an election that has not started yet.
	 * @param session carries the locks; no other election may use it
	 * @param namespace the namespace of the application
	 * @param keyFactory makes the keys of roles
	 * @param termsAbove a number that all terms are higher than; terms rise only if all
	 * instances have the same one, or a higher one than those before them
	 * @param eventPublisher is given a {@link LeadershipGainedEvent} or
	 * {@link LeadershipLostEvent} for each change, one after the other
	 */
	public PostgresLeaderElection(LockSession session, String namespace, AdvisoryLockKeyFactory keyFactory,
			long termsAbove, Consumer<Object> eventPublisher) {
		this(session, namespace, keyFactory, termsAbove, eventPublisher, UnaryOperator.identity());
	}

	/**
	 * Create an election that has not started yet.
	 * @param session carries the locks; no other election may use it
	 * @param namespace the namespace of the application
	 * @param keyFactory makes the keys of roles
	 * @param termsAbove a number that all terms are higher than
	 * @param eventPublisher is told of each change
	 * @param shutdown has something done no later than the
	 * {@linkplain io.github.advisorylock.jdbc.LockLifecycle.Time time of a shutdown} is
	 * over
	 */
	public PostgresLeaderElection(LockSession session, String namespace, AdvisoryLockKeyFactory keyFactory,
			long termsAbove, Consumer<Object> eventPublisher, UnaryOperator<Runnable> shutdown) {
		Assert.notNull(session, "'session' must not be null");
		Assert.isTrue(termsAbove >= 0 && termsAbove <= MOST_TERMS_ABOVE,
				() -> "'termsAbove' must be from 0 to " + MOST_TERMS_ABOVE + ", and is " + termsAbove);
		this.termsAbove = termsAbove;
		this.session = session;
		this.namespace = namespace;
		this.keyFactory = keyFactory;
		this.eventPublisher = eventPublisher;
		this.shutdown = shutdown;
		this.events = LockScheduler.inTurn(session.threads());
		this.elector = new Elector(this.roles.values(), this.shards.values(), session);
		session.threads().instance().whenChanged(this::takePartUnlessDrained);
	}

	@Override
	public boolean isLeader(String role) {
		return join(role).isLeader();
	}

	@Override
	public OptionalLong term(String role) {
		return join(role).term();
	}

	@Override
	public void resign(String role) {
		Shards divided = this.shards.get(role);
		if (divided != null) {
			divided.roles().forEach((shard) -> shard.leadership().resign());
			this.elector.wake();
		}
		else {
			join(role).resign();
		}
	}

	@Override
	public Set<Integer> shards(String role, int number) {
		LeaderOnlyGate.checkShards(role, number);
		Shards divided = this.shards.get(role);
		int known = ((divided != null) ? divided : divide(role, number)).roles().size();
		Assert.state(known == number, () -> "Failed to run for role '" + role + "' in " + number
				+ " shards: this instance runs for it in " + known + "; use one number for the role, or another role");
		return IntStream.range(0, number)
			.filter((shard) -> isLeader(LeaderOnlyGate.shard(role, shard)))
			.boxed()
			.collect(Collectors.toCollection(TreeSet::new));
	}

	@Override
	public @Nullable Work beginWork(String role) throws LockLostException {
		return join(role).beginWork();
	}

	/**
	 * Begin to take part in elections, as soon as there is a role.
	 */
	@Override
	public synchronized void start() {
		this.running = true;
		takePartUnlessDrained();
		beginElections();
	}

	/**
	 * A drained instance leaves each role to others as soon as no work of its leader is
	 * running, and does not run for it.
	 */
	private synchronized void takePartUnlessDrained() {
		if (this.running) {
			boolean drained = this.session.threads().instance().isDrained();
			this.roles.values().stream().map(LeaderRole::leadership).forEach((leadership) -> {
				if (drained) {
					leadership.stop(false);
				}
				else {
					leadership.start();
				}
			});
			this.elector.wake();
		}
	}

	private synchronized void beginElections() {
		if (this.running && !this.roles.isEmpty()) {
			this.session.notifications().listen(PostgresLeaderStatements.CHANNEL, this::connected, this::heard);
			this.elector.begin();
		}
	}

	private void connected() {
		this.roles.values().forEach(LeaderRole::connected);
	}

	private void heard(String message, int process) {
		this.roles.values().forEach((role) -> role.heard(message, process));
		this.shards.values().forEach((role) -> role.undivided().overheard(message));
		this.elector.wake();
	}

	/**
	 * Resign from all roles at once, whatever work is running.
	 */
	@Override
	public void stop() {
		CountDownLatch stopped = new CountDownLatch(1);
		stop(true, stopped::countDown);
		try {
			stopped.await(STOP_SECONDS, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Resign from each role as soon as no work of its leader is running.
	 */
	@Override
	public void stop(Runnable callback) {
		stop(false, this.shutdown.apply(callback));
	}

	/**
	 * Resign from what is left when the time of the phase is over.
	 */
	@Override
	public void destroy() {
		stop();
	}

	/**
	 * Who waits for the end goes on when all listeners were told.
	 */
	private void stop(boolean force, Runnable callback) {
		if (endElections(force, callback)) {
			this.session.giveUpOpening();
		}
		else {
			callback.run();
		}
	}

	private synchronized boolean endElections(boolean force, Runnable callback) {
		this.running = false;
		this.roles.values().forEach((role) -> role.leadership().stop(force));
		return this.elector.endWhenOut(() -> this.events.execute(callback));
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	private Leadership join(String role) {
		LeaderRole known = this.roles.get(role);
		if (known != null) {
			return known.leadership();
		}
		LeaderOnlyGate.checkRole(role);
		return found(role);
	}

	private void checkRoom(String role, int most, int more) {
		Assert.state(this.roles.size() + more <= most,
				() -> "Failed to run for role '" + role + "': this instance runs for " + this.roles.size()
						+ " roles already, each for as long as it lives; names of roles must not be made of data");
	}

	/**
	 * Nobody may take a shard before it is known as one.
	 */
	private synchronized Shards divide(String role, int number) {
		Shards known = this.shards.get(role);
		if (known != null) {
			return known;
		}
		Assert.state(!this.roles.containsKey(role), () -> "Failed to run for role '" + role + "' in " + number
				+ " shards: this instance runs for it undivided; use another role for one of both");
		checkRoom(role, MOST_ROLES_AND_SHARDS, number);
		List<LeaderRole> parts = IntStream.range(0, number)
			.mapToObj((shard) -> create(LeaderOnlyGate.shard(role, shard)).asShard())
			.toList();
		Shards divided = new Shards(create(role), role, parts, this.session);
		this.shards.put(role, divided);
		for (int i = 0; i < number; i++) {
			this.roles.put(LeaderOnlyGate.shard(role, i), parts.get(i));
		}
		beginElections();
		return divided;
	}

	/**
	 * A role that is asked for first when elections end, or before they begin, is led no
	 * sooner than after the next start.
	 */
	private synchronized Leadership found(String role) {
		if (!this.roles.containsKey(role)) {
			Assert.state(!this.shards.containsKey(role), () -> "Failed to run for role '" + role
					+ "': this instance runs for it in shards; ask for those with 'shards', or use another role");
			checkRoom(role, MOST_ROLES, 1);
		}
		LeaderRole founded = this.roles.computeIfAbsent(role, this::create);
		beginElections();
		return founded.leadership();
	}

	private LeaderRole create(String name) {
		LeaderRole added = new LeaderRole(name, this.keyFactory.createKey(this.namespace, KEY_PREFIX + name),
				this.session, this.termsAbove, this::publish, this.elector::wake);
		if (!this.running || this.session.threads().instance().isDrained()) {
			added.leadership().stayOut();
		}
		return added;
	}

	private void publish(Object event) {
		Runnable publication = () -> this.events
			.execute(new SafeTask("A listener failed on " + event, () -> this.eventPublisher.accept(event)));
		new SafeTask("Failed to publish " + event, publication).run();
	}

}
