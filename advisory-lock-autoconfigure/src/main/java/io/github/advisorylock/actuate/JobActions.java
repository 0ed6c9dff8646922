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
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ActionDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.ledger.JobName;
import io.github.advisorylock.ledger.PostgresAdvisoryLockLedger;
import io.github.advisorylock.ledger.RunFailure;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.util.Assert;

/**
 * Does what operators ask for, and publishes it as an {@link AuditEvent} of type
 * {@code ADVISORY_LOCK_PAUSED}, {@code ADVISORY_LOCK_RESUMED} or
 * {@code ADVISORY_LOCK_RUNNING} with namespace and key.
 *
 * @since 0.1.0
 */
public class JobActions {

	static final String RUNNING = "running";

	static final String PAUSED = "paused";

	static final String RESUMED = "resumed";

	private static final Log logger = LogFactory.getLog(JobActions.class);

	private static final long PATIENCE = 1000;

	private final @Nullable PostgresAdvisoryLockLedger ledger;

	private final Executor executor;

	private final ApplicationEventPublisher eventPublisher;

	private final Sanitizer sanitizer;

	/**
	 * Create actions.
	 * @param ledger keeps pauses and knows how to run methods, {@code null} if it is
	 * switched off
	 * @param executor runs jobs
	 * @param eventPublisher is told what was done
	 * @param sanitizer hides values
	 */
	public JobActions(@Nullable PostgresAdvisoryLockLedger ledger, Executor executor,
			ApplicationEventPublisher eventPublisher, Sanitizer sanitizer) {
		this.ledger = ledger;
		this.executor = executor;
		this.eventPublisher = eventPublisher;
		this.sanitizer = sanitizer;
	}

	/**
	 * Do something with a job.
	 * @throws IllegalArgumentException if that can't be done with it
	 */
	ActionDescriptor act(JobDescriptor job, String state, String user, boolean showUnsanitized) {
		PostgresAdvisoryLockLedger ledger = this.ledger;
		Assert.isTrue(ledger != null && job.actions().contains(state), () -> reason(job, state));
		this.eventPublisher
			.publishEvent(new AuditApplicationEvent(user, "ADVISORY_LOCK_" + state.toUpperCase(Locale.ROOT),
					Map.of("namespace", job.namespace(), "key", job.key())));
		if (state.equals(RUNNING)) {
			return run(ledger, job, user, new Redaction(this.sanitizer, showUnsanitized));
		}
		if (state.equals(PAUSED)) {
			ledger.pause(name(job), user);
		}
		else {
			ledger.resume(name(job), user);
		}
		return new ActionDescriptor(job.key(), job.namespace(), state, user, null, null);
	}

	private static String reason(JobDescriptor job, String state) {
		String key = AdvisoryLockKey.display(job.key());
		return switch (state) {
			case RUNNING -> "Failed to run '" + key + "' now: this instance has no method of that key which is "
					+ "recorded in the ledger and takes no arguments";
			case PAUSED, RESUMED -> "Failed to change '" + key + "': it is not recorded in the ledger";
			default -> "Unknown state '" + AdvisoryLockKey.display(state) + "': choose '" + RUNNING + "', '" + PAUSED
					+ "' or '" + RESUMED + "'";
		};
	}

	/**
	 * Run a job on a thread of its own, and wait a moment for how it ends: most skips are
	 * known at once.
	 */
	private ActionDescriptor run(PostgresAdvisoryLockLedger ledger, JobDescriptor job, String user,
			Redaction redaction) {
		CompletableFuture<LockOutcome> run = CompletableFuture
			.supplyAsync(() -> ledger.runNow(name(job), user), this.executor)
			.whenComplete((outcome, failure) -> {
				if (failure != null) {
					logger.warn("'" + AdvisoryLockKey.display(job.key()) + "' failed, which was run now for "
							+ AdvisoryLockKey.display(user), failure);
				}
			});
		try {
			return ran(job, user, run.get(PATIENCE, TimeUnit.MILLISECONDS).name(), null);
		}
		catch (TimeoutException ex) {
			return ran(job, user, null, null);
		}
		catch (ExecutionException ex) {
			RunFailure failure = RunFailure.of((ex.getCause() != null) ? ex.getCause() : ex);
			return ran(job, user, "FAILED", redaction.error(failure.type(), failure.text()));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return ran(job, user, null, null);
		}
	}

	private static ActionDescriptor ran(JobDescriptor job, String user, @Nullable String outcome,
			@Nullable String error) {
		return new ActionDescriptor(job.key(), job.namespace(), RUNNING, user, outcome, error);
	}

	static JobName name(JobDescriptor job) {
		return new JobName(job.namespace(), job.key());
	}

}
