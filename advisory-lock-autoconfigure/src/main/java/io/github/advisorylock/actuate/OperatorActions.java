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

package io.github.advisorylock.actuate;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ActionDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.util.Assert;

/**
 * Does what operators ask for, and publishes it as an {@link AuditEvent} of type
 * {@code ADVISORY_LOCK_PAUSED}, {@code ADVISORY_LOCK_RESUMED},
 * {@code ADVISORY_LOCK_RUNNING}, {@code ADVISORY_LOCK_TICK_UNDONE} or
 * {@code ADVISORY_LOCK_FORGOTTEN}, for a role of this instance {@code
 * ADVISORY_LOCK_RESIGNED}, with namespace and key.
 */
final class OperatorActions {

	static final String RUNNING = "running";

	static final String PAUSED = "paused";

	static final String RESUMED = "resumed";

	static final String TICK_UNDONE = "tick-undone";

	static final String FORGOTTEN = "forgotten";

	static final String RESIGNED = "resigned";

	private static final Log logger = LogFactory.getLog(OperatorActions.class);

	private static final long PATIENCE = 1000;

	private final GuardedApplication application;

	private final JobRegistry registry;

	private final Supplier<LeaderElection> election;

	private final ApplicationEventPublisher eventPublisher;

	private Function<@Nullable String, @Nullable OperatorActions> databases = (manager) -> null;

	private final SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("advisory-lock-run-now-");

	OperatorActions(GuardedApplication application, JobRegistry registry, Supplier<LeaderElection> election,
			ApplicationEventPublisher eventPublisher) {
		this.application = application;
		this.registry = registry;
		this.election = election;
		this.eventPublisher = eventPublisher;
		this.executor.setDaemon(true);
	}

	/**
	 * Set what acts on jobs of further databases.
	 * @param databases tells it for the transaction manager of a job, or {@code null} for
	 * what is done here
	 */
	void setDatabases(Function<@Nullable String, @Nullable OperatorActions> databases) {
		this.databases = databases;
	}

	/**
	 * Return whether a key is that of a role of this instance.
	 */
	boolean isRole(String key) {
		return key.startsWith(LeaderElection.KEY_PREFIX) && this.application.roles().get().contains(role(key));
	}

	/**
	 * Do something with a role: the one thing there is, to hand it over.
	 * @throws IllegalArgumentException if that can't be done with it
	 */
	ActionDescriptor act(String key, String state, String user) {
		Assert.isTrue(RESIGNED.equals(state), () -> "Unknown state '" + AdvisoryLockKey.display(state)
				+ "' of the role of a leader: choose '" + RESIGNED + "'");
		String namespace = this.application.namespace();
		audit(namespace, key, state, user);
		this.election.get().resign(role(key));
		return new ActionDescriptor(key, namespace, RESIGNED, user, null, null);
	}

	private static String role(String key) {
		return key.substring(LeaderElection.KEY_PREFIX.length());
	}

	/**
	 * Do something with a job.
	 * @throws IllegalArgumentException if that can't be done with it
	 */
	ActionDescriptor act(JobDescriptor job, String state, String user, Redaction redaction) {
		OperatorActions there = this.databases.apply(job.transactionManager());
		if (there != null) {
			return there.act(job, state, user, redaction);
		}
		Assert.isTrue(this.registry.isWritable() && job.actions().contains(state), () -> reason(job, state));
		audit(job.namespace(), job.key(), state, user);
		JobId id = new JobId(job.namespace(), job.key());
		if (state.equals(RUNNING)) {
			return run(id, user, redaction);
		}
		switch (state) {
			case PAUSED -> this.registry.pause(id, user);
			case RESUMED -> this.registry.resume(id, user);
			case TICK_UNDONE -> this.registry.undoTick(id, user);
			default -> this.registry.forget(id, user);
		}
		return new ActionDescriptor(job.key(), job.namespace(), state, user, null, null);
	}

	private void audit(String namespace, String key, String state, String user) {
		this.eventPublisher.publishEvent(
				new AuditApplicationEvent(user, "ADVISORY_LOCK_" + state.toUpperCase(Locale.ROOT).replace('-', '_'),
						Map.of("namespace", namespace, "key", key)));
	}

	private static String reason(JobDescriptor job, String state) {
		String key = AdvisoryLockKey.display(job.key());
		return switch (state) {
			case RUNNING -> "Failed to run '" + key + "' now: this instance has no method of that key which is "
					+ "recorded in the ledger and takes no arguments";
			case PAUSED, RESUMED -> "Failed to change '" + key + "': it is not recorded in the ledger";
			case TICK_UNDONE -> "Failed to undo the last tick of '" + key + "': it is not in the future";
			case FORGOTTEN -> "Failed to forget '" + key
					+ "': it runs, or has a method on this instance, or is not recorded in the ledger";
			default -> "Unknown state '" + AdvisoryLockKey.display(state) + "': choose '" + RUNNING + "', '" + PAUSED
					+ "', '" + RESUMED + "', '" + TICK_UNDONE + "' or '" + FORGOTTEN + "'";
		};
	}

	/**
	 * Run a job on a thread of its own, and wait a moment for how it ends: most skips are
	 * known at once.
	 */
	private ActionDescriptor run(JobId id, String user, Redaction redaction) {
		CompletableFuture<LockOutcome> run = CompletableFuture
			.supplyAsync(() -> this.registry.runNow(id, user), this.executor)
			.whenComplete((outcome, failure) -> {
				if (failure != null) {
					logger.warn("'" + AdvisoryLockKey.display(id.key()) + "' failed, which was run now for "
							+ AdvisoryLockKey.display(user), failure);
				}
			});
		try {
			return ran(id, user, run.get(PATIENCE, TimeUnit.MILLISECONDS).name(), null);
		}
		catch (TimeoutException ex) {
			return ran(id, user, null, null);
		}
		catch (ExecutionException ex) {
			Throwable failure = (ex.getCause() != null) ? ex.getCause() : ex;
			return ran(id, user, "FAILED", this.registry.describe(failure, redaction));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return ran(id, user, null, null);
		}
	}

	private static ActionDescriptor ran(JobId id, String user, @Nullable String outcome, @Nullable String error) {
		return new ActionDescriptor(id.key(), id.namespace(), RUNNING, user, outcome, error);
	}

}
