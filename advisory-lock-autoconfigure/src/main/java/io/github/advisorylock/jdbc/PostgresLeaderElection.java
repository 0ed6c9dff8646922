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

package io.github.advisorylock.jdbc;

import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.context.SmartLifecycle;
import org.springframework.util.Assert;

/**
 * Elects leaders by the session locks of PostgreSQL. The key of a role is made of
 * {@value LeaderElection#KEY_PREFIX} and its name, in the namespace of the application.
 * No annotated method may have a key that starts like that, and no request should.
 * <p>
 * Stops after the schedulers have stopped, and then hands over at once.
 *
 * @since 0.1.0
 */
public final class PostgresLeaderElection implements LeaderElection, SmartLifecycle {

	private static final Log logger = LogFactory.getLog(PostgresLeaderElection.class);

	private static final long TICK_MILLIS = 25;

	private static final long STOP_SECONDS = 10;

	private final Map<String, LeaderRole> roles = new ConcurrentHashMap<>();

	private final LockSession session;

	private final String namespace;

	private final AdvisoryLockKeyFactory keyFactory;

	private final Consumer<Object> eventPublisher;

	private final ExecutorService events = new ThreadPoolExecutor(0, 1, 10, TimeUnit.SECONDS,
			new LinkedBlockingQueue<>(), daemon("advisory-lock-leader-events"));

	private @Nullable ScheduledThreadPoolExecutor elector;

	private boolean running;

	/**
	 * Create an election that has not started yet.
	 * @param session carries the locks; no other election may use it
	 * @param namespace the namespace of the application
	 * @param keyFactory makes the keys of roles
	 * @param eventPublisher is given a {@link LeadershipGainedEvent} or
	 * {@link LeadershipLostEvent} for each change, one after the other
	 */
	public PostgresLeaderElection(LockSession session, String namespace, AdvisoryLockKeyFactory keyFactory,
			Consumer<Object> eventPublisher) {
		Assert.notNull(session, "'session' must not be null");
		this.session = session;
		this.namespace = namespace;
		this.keyFactory = keyFactory;
		this.eventPublisher = eventPublisher;
	}

	@Override
	public boolean isLeader(String role) {
		return join(role).isLeader();
	}

	@Override
	public OptionalLong term(String role) {
		return join(role).term();
	}

	/**
	 * Begin to take part in elections, as soon as there is a role.
	 */
	@Override
	public synchronized void start() {
		this.running = true;
		if (!this.roles.isEmpty()) {
			startElector();
		}
	}

	@SuppressWarnings("FutureReturnValueIgnored") // ends with its executor
	private synchronized void startElector() {
		if (this.running && this.elector == null) {
			this.session.setListener(new Listener());
			this.elector = new ScheduledThreadPoolExecutor(1, daemon("advisory-lock-elector"));
			this.elector.scheduleWithFixedDelay(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
		}
	}

	/**
	 * Resign from all roles.
	 */
	@Override
	public synchronized void stop() {
		this.running = false;
		ScheduledThreadPoolExecutor stopped = this.elector;
		if (stopped == null) {
			return;
		}
		this.elector = null;
		stopped.shutdown();
		try {
			if (stopped.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
				this.roles.values().forEach(LeaderRole::resign);
			}
			this.events.submit(() -> {
			}).get(1, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.debug("Listeners have not finished", ex);
		}
	}

	@Override
	public synchronized boolean isRunning() {
		return this.running;
	}

	/**
	 * Return the phase below that of the schedulers, so that what runs by leadership ends
	 * first.
	 */
	@Override
	public int getPhase() {
		return Integer.MAX_VALUE - 1;
	}

	private LeaderRole join(String role) {
		LeaderRole known = this.roles.get(role);
		if (known != null) {
			return known;
		}
		Assert.isTrue(LeaderElection.isRole(role), () -> "'role' must be 1 to 64 letters, digits, dots, underscores "
				+ "or hyphens, and is '" + role + "'");
		LeaderRole joined = this.roles.computeIfAbsent(role, (name) -> new LeaderRole(name,
				this.keyFactory.createKey(this.namespace, KEY_PREFIX + name), this.session, this::publish));
		startElector();
		return joined;
	}

	private void tick() {
		if (this.roles.values().stream().anyMatch(LeaderRole::isFollower)) {
			this.session.hearIfIdle();
		}
		this.roles.values().forEach(LeaderRole::tick);
	}

	private void publish(Object event) {
		this.events.execute(() -> {
			try {
				this.eventPublisher.accept(event);
			}
			catch (RuntimeException ex) {
				logger.warn("A listener failed on " + event, ex);
			}
		});
	}

	private static ThreadFactory daemon(String name) {
		return (task) -> {
			Thread thread = new Thread(task, name);
			thread.setDaemon(true);
			return thread;
		};
	}

	/**
	 * Passes on to all roles what is heard.
	 */
	private final class Listener implements SessionListener {

		@Override
		public void connected() {
			PostgresLeaderElection.this.roles.values().forEach(LeaderRole::connected);
		}

		@Override
		public void heard(String message) {
			PostgresLeaderElection.this.roles.values().forEach((role) -> role.heard(message));
		}

	}

}
