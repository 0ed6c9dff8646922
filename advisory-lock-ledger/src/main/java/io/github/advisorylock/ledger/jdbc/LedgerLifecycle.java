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
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.server.JdbcUrl;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessResourceFailureException;

/**
 * Prepares the ledger at start-up if anything uses it, and does what it does by itself
 * while the application runs. Where nothing is recorded there is no more of the ledger
 * than this.
 *
 * @since 0.1.0
 */
public final class LedgerLifecycle implements SmartLifecycle {

	private static final Log logger = LogFactory.getLog(LedgerLifecycle.class);

	private final Supplier<PostgresAdvisoryLockLedger> ledger;

	private final Supplier<@Nullable AdvisoryLockOperations> operations;

	private final RecordedMethodRegistry methods;

	private final ConfigurableApplicationContext context;

	private final LedgerSettings settings;

	private final boolean always;

	private final LockScheduler.Threads threads;

	private @Nullable LedgerHousekeeping housekeeping;

	private @Nullable OverdueJobWatcher overdueJobs;

	private @Nullable UnfinishedTickWatcher openTicks;

	private @Nullable PostgresAdvisoryLockLedger opened;

	private boolean running;

	private boolean ready;

	/**
	 * Create a lifecycle.
	 * @param ledger the ledger, asked for when something uses it
	 * @param operations takes the locks, {@code null} if nothing does
	 * @param methods knows the annotated methods
	 * @param isHere whether a method has its lock in the database of the ledger
	 * @param context has their beans, and tells how calls of them end
	 * @param settings how the ledger is kept
	 * @param always whether the ledger is prepared even if no method is recorded
	 * @param threads makes the threads of what it does by itself
	 */
	public LedgerLifecycle(Supplier<PostgresAdvisoryLockLedger> ledger,
			Supplier<@Nullable AdvisoryLockOperations> operations, SingleRunnerAnnotationBeanPostProcessor methods,
			Predicate<SingleRunnerMethod> isHere, ConfigurableApplicationContext context, LedgerSettings settings,
			boolean always, LockScheduler.Threads threads) {
		this.ledger = ledger;
		this.operations = operations;
		this.methods = new RecordedMethodRegistry(methods, context, isHere);
		this.context = context;
		this.settings = settings;
		this.always = always;
		this.threads = threads;
	}

	/**
	 * Prepare the ledger. Leaves that to the first run where the database can't be
	 * reached for now; what the doctor thinks of that was said before.
	 */
	public void prepare() {
		List<SingleRunnerMethod> recorded = this.methods.recorded();
		if ((!this.always && recorded.isEmpty()) || !(this.operations.get() instanceof PostgresAdvisoryLockTemplate)) {
			return;
		}
		recorded.forEach((method) -> check(method, this.settings.rememberKeys()));
		recorded.forEach(new MinIntervalCheck(this.context.getBeanFactory()::resolveEmbeddedValue)::check);
		try {
			this.ledger.get().prepare();
		}
		catch (DataAccessResourceFailureException ex) {
			logger.warn("The ledger of advisory locks could not be prepared yet, and the first run tries again ("
					+ JdbcUrl.redact(String.valueOf(ex.getMostSpecificCause().getMessage())) + ")");
			logger.debug("The ledger could not be prepared", ex);
		}
	}

	/**
	 * Refuse a method whose runs could not be kept. The last start under a key with
	 * arguments is forgotten after a while.
	 * @param method a method whose runs are recorded
	 * @param remembered how long keys with arguments are remembered
	 */
	public static void check(SingleRunnerMethod method, Duration remembered) {
		AdvisoryLockKey key = method.fixedKey();
		String excess = (key != null) ? JobName.of(key).findExcess() : null;
		if (excess != null) {
			throw invalid(method, "attribute " + excess, "Shorten the key or its namespace.");
		}
		Duration minInterval = method.operation().ledger().minInterval();
		if (key == null && minInterval != null && minInterval.compareTo(remembered) > 0) {
			throw invalid(method,
					"attribute 'minInterval' is longer than keys with arguments are remembered, " + remembered,
					"Raise 'advisory-lock.ledger.remember-keys' to " + minInterval + " at least.");
		}
	}

	private static InvalidSingleRunnerException invalid(SingleRunnerMethod method, String problem, String action) {
		return new InvalidSingleRunnerException(method.beanName(), method.method(), "is unusable: " + problem, action,
				null);
	}

	/**
	 * Begin to forget what is old, with the first use of the ledger, which may be long
	 * after the start, if this instance may delete it.
	 */
	public synchronized void ledgerOpened() {
		PostgresAdvisoryLockLedger ledger = this.ledger.get();
		this.opened = ledger;
		if (this.housekeeping == null && this.operations.get() != null) {
			this.housekeeping = ledger.housekeeping(this.threads);
		}
		if (this.running && this.housekeeping != null) {
			this.housekeeping.start();
		}
	}

	@Override
	public synchronized void start() {
		this.running = true;
		if (this.opened != null) {
			this.opened.shutDown(false);
		}
		if (this.housekeeping != null) {
			this.housekeeping.start();
		}
		if (!this.methods.scheduled().isEmpty() && this.operations.get() instanceof PostgresAdvisoryLockTemplate) {
			this.overdueJobs = new OverdueJobWatcher(this.ledger.get(), this.methods, this.threads);
			this.overdueJobs.start();
			watchUnfinishedTicks();
		}
	}

	private void watchUnfinishedTicks() {
		if (!this.methods.catchingUp().isEmpty()) {
			this.openTicks = new UnfinishedTickWatcher(this.ledger.get(), this.methods, this.threads);
			this.context.addApplicationListener(this.openTicks);
			if (this.ready) {
				this.openTicks.openLatest();
			}
		}
	}

	/**
	 * In the first phase, before anything is interrupted. The ledger can't be asked for
	 * any more when a context is closed.
	 */
	@Override
	public synchronized void stop() {
		this.running = false;
		if (this.opened != null) {
			this.opened.shutDown(true);
		}
		if (this.openTicks != null) {
			this.context.removeApplicationListener(this.openTicks);
			this.openTicks.stop();
			this.openTicks = null;
		}
		if (this.overdueJobs != null) {
			this.overdueJobs.stop();
		}
		if (this.housekeeping != null) {
			this.housekeeping.stop();
		}
	}

	@Override
	public synchronized boolean isRunning() {
		return this.running;
	}

	/**
	 * Make up for what nobody has completed, now that this instance is ready, whenever it
	 * is started.
	 */
	public synchronized void catchUp() {
		this.ready = true;
		if (this.openTicks != null) {
			this.openTicks.openLatest();
		}
	}

	synchronized @Nullable LedgerHousekeeping housekeeping() {
		return this.housekeeping;
	}

	synchronized @Nullable OverdueJobWatcher overdueJobs() {
		return this.overdueJobs;
	}

	synchronized @Nullable UnfinishedTickWatcher openTicks() {
		return this.openTicks;
	}

}
