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

package io.github.advisorylock.ledger.jdbc;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.jspecify.annotations.Nullable;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * Says in the ledger that this instance is there: each 12 seconds, whenever it begins or
 * ceases to lead a role, and when it ends in order. Does so on a thread and a connection
 * of its own choice, in nobody's way, and only while the ledger is in use.
 *
 * @since 0.1.0
 */
public final class InstancePresence implements SmartLifecycle {

	/**
	 * After schedulers and executors have stopped, and roles were handed over.
	 */
	static final int PHASE = ExecutorConfigurationSupport.DEFAULT_PHASE - 2048;

	/**
	 * The ledger takes an instance for gone that has said nothing for 35 seconds: one
	 * such word may get lost.
	 */
	private static final Duration PERIOD = Duration.ofSeconds(12);

	/**
	 * Instances that were started together do not stay so.
	 */
	private static final int MOST_LATE_MILLIS = 1000;

	private static final long LONGEST_FAREWELL_SECONDS = 2;

	private final Supplier<PostgresAdvisoryLockLedger> ledger;

	private final String namespace;

	private final @Nullable String version;

	private final Supplier<? extends Collection<String>> roles;

	private final Map<String, KnownInstance.Role> led = new ConcurrentHashMap<>();

	private final LockScheduler.Ticker ticker;

	private final LockScheduler scheduler;

	private final SafeTask beat = new SafeTask(
			"Failed to say in the ledger of advisory locks that this instance " + "is there, will try again",
			this::beat);

	private boolean running;

	private boolean opened;

	private volatile boolean known;

	/**
	 * Create what does not say anything yet.
	 * @param ledger where to say it
	 * @param namespace the namespace of this application
	 * @param version the version of this application, {@code null} if that is not known
	 * @param roles the roles that this instance may have; asked for each time
	 * @param threads has the workers
	 */
	public InstancePresence(Supplier<PostgresAdvisoryLockLedger> ledger, String namespace, @Nullable String version,
			Supplier<? extends Collection<String>> roles, LockScheduler.Threads threads) {
		this.ledger = ledger;
		this.namespace = namespace;
		this.version = version;
		this.roles = roles;
		this.ticker = threads.ticker();
		this.scheduler = LockScheduler.inTurn(threads);
	}

	/**
	 * Begin with the first use of the ledger, which may be long after the start.
	 */
	public synchronized void ledgerOpened() {
		this.opened = true;
		if (this.running) {
			Duration period = PERIOD.plusMillis(ThreadLocalRandom.current().nextInt(MOST_LATE_MILLIS));
			this.scheduler.every(Duration.ZERO, period, this.beat);
		}
	}

	@Override
	public synchronized void start() {
		this.running = true;
		if (this.opened) {
			ledgerOpened();
		}
	}

	/**
	 * Say that this instance ends, which nobody waits for longer than a moment. It may be
	 * saying at this moment that it is there.
	 */
	@Override
	public void stop() {
		if (!end()) {
			return;
		}
		CountDownLatch said = new CountDownLatch(1);
		SafeTask farewell = new SafeTask("Failed to say in the ledger of advisory locks that this instance ends",
				this::leave);
		this.scheduler.execute(() -> {
			farewell.run();
			said.countDown();
		});
		try {
			said.await(LONGEST_FAREWELL_SECONDS, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private synchronized boolean end() {
		boolean begun = this.running && this.opened;
		this.running = false;
		this.scheduler.stop();
		return begun;
	}

	private void leave() {
		if (this.known) {
			this.known = false;
			this.ledger.get().repository().instances().leave(this.namespace);
		}
	}

	@Override
	public synchronized boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	/**
	 * Say that this instance leads a role now.
	 * @param role the role
	 * @param term its term
	 */
	public void gained(String role, long term) {
		this.led.put(role, new KnownInstance.Role(role, term, this.ticker.now()));
		beatSoon();
	}

	/**
	 * Say that this instance does not lead a role any more.
	 * @param role the role
	 */
	public void lost(String role) {
		this.led.remove(role);
		beatSoon();
	}

	private synchronized void beatSoon() {
		if (this.running && this.opened) {
			this.scheduler.execute(this.beat);
		}
	}

	/**
	 * Say that this instance is there.
	 */
	void beat() {
		List<KnownInstance.Role> roles = Stream.concat(this.led.keySet().stream(), this.roles.get().stream())
			.distinct()
			.sorted()
			.map((role) -> this.led.getOrDefault(role, new KnownInstance.Role(role, null, null)))
			.toList();
		PostgresAdvisoryLockLedger ledger = this.ledger.get();
		InstanceRepository.Told told = ledger.repository()
			.instances()
			.appear(this.namespace, this.version, roles, !this.known);
		while (told == null) {
			String before = ledger.instance().name();
			ledger.instance().giveWay();
			if (this.known) {
				ledger.repository().instances().rename(this.namespace, before);
			}
			told = ledger.repository().instances().appear(this.namespace, this.version, roles, !this.known);
		}
		this.known = true;
		ledger.drained(told.drained());
		ledger.seeSchedules(told.schedules());
	}

}
