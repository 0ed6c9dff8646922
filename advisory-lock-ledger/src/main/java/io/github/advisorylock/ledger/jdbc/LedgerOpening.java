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

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import io.github.advisorylock.LockInstance;
import io.github.advisorylock.interceptor.CronTicks;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Opens the ledger: finds its tables, or creates them where that is wanted, gives way to
 * an instance of the same name, and tells the ledger of the jobs of this application,
 * again whenever a schedule may have changed.
 */
final class LedgerOpening {

	private static final int NEVER = -1;

	private final LedgerConnections connections;

	private final LedgerSettings settings;

	private final LedgerSchema schema;

	private final String namespace;

	private final LockInstance instance;

	private final Methods methods;

	private final JobSchedules schedules;

	private final ReentrantLock opening = new ReentrantLock();

	/**
	 * How often a schedule may have changed.
	 */
	private final AtomicInteger changes = new AtomicInteger();

	/**
	 * The name of the instance, as the encoding of the database can have it.
	 */
	private volatile String name = "";

	private volatile @Nullable Opened opened;

	private volatile Runnable whenOpen = () -> {
	};

	/**
	 * How often one had when the jobs were added.
	 */
	private volatile int registered = NEVER;

	LedgerOpening(LedgerConnections connections, LedgerSettings settings, String namespace, LockInstance instance,
			Methods methods) {
		this.connections = connections;
		this.settings = settings;
		this.schema = new LedgerSchema(connections, settings);
		this.namespace = namespace;
		this.instance = instance;
		this.methods = methods;
		this.schedules = new JobSchedules(() -> opened().operators(), methods::reschedule);
		methods.whenRescheduled(this.changes::incrementAndGet);
		instance.whenChanged(this::rename);
	}

	/**
	 * Set what to run as soon as the ledger is in use.
	 */
	void whenOpen(Runnable action) {
		this.whenOpen = action;
	}

	/**
	 * Open the ledger unless it is, with the jobs as they are now.
	 */
	Opened open() {
		Opened opened = this.opened;
		if (opened != null && this.registered == this.changes.get()) {
			return opened;
		}
		this.opening.lock();
		try {
			if (this.opened == null) {
				prepare();
			}
			else if (this.registered != this.changes.get()) {
				register();
			}
		}
		finally {
			this.opening.unlock();
		}
		return opened();
	}

	/**
	 * Find the tables, whether they were found before or not.
	 * @throws LedgerSchemaException if tables, columns or privileges are missing
	 */
	void prepare() {
		LedgerSchema.Opened schema = this.schema.open();
		LedgerTables tables = schema.tables();
		Supplier<String> instance = () -> this.name;
		rename();
		RunRepository runs = new RunRepository(this.connections, new RunStatements(tables), this.settings,
				this.namespace, instance, () -> this.schedules.learn(true), () -> drained(true));
		Opened opened = new Opened(runs, new JobRepository(this.connections, tables, instance),
				new OperatorRepository(this.connections, tables),
				new BackfillRepository(this.connections, tables, instance), new LedgerPurge(this.connections, tables),
				schema.deletable());
		this.opened = opened;
		this.registered = NEVER;
		// a pool of one has no connection besides that of a transaction: the next
		// heartbeat asks
		while (!this.connections.areInTransaction() && opened.jobs().instances().hasNamesake(this.namespace)) {
			this.instance.giveWay();
		}
		this.whenOpen.run();
		register();
	}

	private void rename() {
		this.name = this.connections.text().of(this.instance.name());
	}

	/**
	 * Add the jobs, in a transaction of its own: left for later where the current one has
	 * what may be the only connection.
	 */
	void register() {
		int changes = this.changes.get();
		List<JobFacts> jobs = this.methods.jobs().stream().filter(this::hasRoom).toList();
		if (!jobs.isEmpty() && this.connections.areInTransaction()) {
			return;
		}
		opened().runs().know(jobs);
		if (!jobs.isEmpty()) {
			opened().jobs().register(jobs);
		}
		this.registered = changes;
	}

	/**
	 * A key that is never recorded may be one that the database can't have.
	 */
	private boolean hasRoom(JobFacts job) {
		String name = job.name().toString();
		return (job.recorded() && !job.template()) || this.connections.text().of(name).equals(name);
	}

	/**
	 * Have this instance know whether an operator has it begin no run.
	 */
	void drained(boolean drained) {
		this.instance.drain(this, drained);
	}

	boolean isOpen() {
		return this.opened != null;
	}

	/**
	 * Return what uses the tables, which were found before.
	 */
	Opened opened() {
		Opened opened = this.opened;
		Assert.state(opened != null, "The ledger of advisory locks has not been opened");
		return opened;
	}

	/**
	 * Make sure that the tables are as they should be.
	 * @throws LedgerSchemaException if not
	 */
	void check() {
		if (this.opened == null) {
			this.schema.open();
		}
		else {
			this.schema.check();
		}
	}

	/**
	 * Return the schedules that operators have chosen.
	 */
	JobSchedules schedules() {
		return this.schedules;
	}

	/**
	 * The annotated methods of this application.
	 */
	interface Methods {

		/**
		 * Return those that are recorded under keys of their own.
		 */
		Collection<JobFinder.LedgerMethod> withFixedKey();

		/**
		 * Return what the ledger is told of each.
		 */
		List<JobFacts> jobs();

		/**
		 * Plan them as operators have chosen.
		 * @param certain whether what was chosen before and is not in it was taken back
		 */
		void reschedule(Map<JobName, CronTicks.Changes> changes, boolean certain);

		/**
		 * Have something done whenever a schedule may have changed.
		 */
		void whenRescheduled(Runnable listener);

	}

	/**
	 * What uses the tables.
	 *
	 * @param deletable whether what need not be remembered any more may be deleted
	 */
	record Opened(RunRepository runs, JobRepository jobs, OperatorRepository operators, BackfillRepository backfills,
			LedgerPurge purge, boolean deletable) {

	}

}
