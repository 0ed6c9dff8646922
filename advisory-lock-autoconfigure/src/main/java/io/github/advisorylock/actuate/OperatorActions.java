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

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ActionDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.AllJobsActionDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceActionDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PreviewDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.ledger.jdbc.JobName;
import io.github.advisorylock.ledger.jdbc.PostgresAdvisoryLockLedger;
import io.github.advisorylock.monitor.LockHolders;
import io.github.advisorylock.monitor.LockNumber;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.dao.DataAccessException;
import org.springframework.util.Assert;

/**
 * Does what operators ask for, and publishes it as an {@link AuditEvent} of type
 * {@code ADVISORY_LOCK_PAUSED}, {@code ADVISORY_LOCK_RESUMED},
 * {@code ADVISORY_LOCK_RUNNING}, {@code ADVISORY_LOCK_RETRIED},
 * {@code ADVISORY_LOCK_RESCHEDULED}, {@code ADVISORY_LOCK_BACKFILLED},
 * {@code ADVISORY_LOCK_FORGOTTEN} or {@code ADVISORY_LOCK_CANCELLED}, for a role of this
 * instance {@code ADVISORY_LOCK_RESIGNED}, with namespace and key;
 * {@code ADVISORY_LOCK_ALL_PAUSED} and {@code ADVISORY_LOCK_ALL_RESUMED} with the
 * namespace; {@code ADVISORY_LOCK_INSTANCE_DRAINED} and
 * {@code ADVISORY_LOCK_INSTANCE_RESUMED} with the instance, too.
 */
final class OperatorActions {

	static final String RUNNING = "running";

	static final String RETRIED = "retried";

	static final String BACKFILLED = "backfilled";

	static final String PAUSED = "paused";

	static final String RESUMED = "resumed";

	static final String RESCHEDULED = "rescheduled";

	static final String FORGOTTEN = "forgotten";

	static final String RESIGNED = "resigned";

	static final String CANCELLED = "cancelled";

	static final String DRAINED = "drained";

	private static final Log logger = LogFactory.getLog(OperatorActions.class);

	private static final long PATIENCE = 1000;

	/**
	 * How many times of another schedule are told.
	 */
	private static final int TIMES = 5;

	private final GuardedApplication application;

	private final JobRegistry registry;

	private final LockHolders lockHolders;

	private final Supplier<LeaderElection> election;

	private final ApplicationEventPublisher eventPublisher;

	private final Executor executor;

	OperatorActions(GuardedApplication application, JobRegistry registry, LockHolders lockHolders,
			Supplier<LeaderElection> election, ApplicationEventPublisher eventPublisher) {
		this.application = application;
		this.registry = registry;
		this.lockHolders = lockHolders;
		this.election = election;
		this.eventPublisher = eventPublisher;
		this.executor = new SimpleAsyncTaskExecutor(application.threads().named("advisory-lock-run-now"));
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
		return new ActionDescriptor(key, namespace, RESIGNED, user, null, null, null);
	}

	private static String role(String key) {
		return key.substring(LeaderElection.KEY_PREFIX.length());
	}

	/**
	 * Do something with a job.
	 * @throws IllegalArgumentException if that can't be done with it
	 */
	ActionDescriptor act(JobDescriptor job, String state, ActSubject subject, @Nullable String reason,
			JobRegistry.Schedule schedule, String user, Redaction redaction) {
		Assert.isTrue(!schedule.isNamed() || state.equals(RESCHEDULED),
				() -> "'cron', 'zone' and 'interval' are for state '" + RESCHEDULED + "' only");
		subject.checkTick(job.key(), job.openTick());
		if (state.equals(RESCHEDULED)) {
			return reschedule(job, schedule, reason, user);
		}
		if (subject.span() != null) {
			return backfill(job, subject.span(), reason, user, redaction);
		}
		Assert.isTrue(this.registry.isWritable() && job.actions().contains(state), () -> JobTable.whyNot(job, state));
		Assert.isTrue(reason == null || state.equals(PAUSED),
				"'reason' is for states '" + PAUSED + "' and '" + RESCHEDULED + "' only");
		boolean drained = this.application.threads().instance().isDrained();
		if (drained && state.equals(RUNNING)) {
			throw refusal(job, "run '%s' now");
		}
		audit(job.namespace(), job.key(), state, user);
		PostgresAdvisoryLockLedger ledger = this.registry.ledger();
		JobName name = name(job);
		if (state.equals(RUNNING)) {
			return run(name, state, () -> ledger.runNow(name, user), user, redaction);
		}
		if (state.equals(RETRIED)) {
			Supplier<LockOutcome> retry = ledger.retry(name, subject.tick(), user);
			return (retry != null && !drained) ? run(name, state, retry, user, redaction)
					: ran(name, state, user, null, null);
		}
		switch (state) {
			case PAUSED -> ledger.pause(name, user, reason);
			case RESUMED -> ledger.resume(name, user);
			default -> ledger.forget(name, user);
		}
		return ran(name, state, user, null, null);
	}

	private static JobName name(JobDescriptor job) {
		return new JobName(job.namespace(), job.key());
	}

	private static ActSubject.RefusedException refusal(JobDescriptor job, String act) {
		return new ActSubject.RefusedException("Failed to " + act.formatted(AdvisoryLockKey.display(job.key()))
				+ ": this instance is drained; ask another one, or resume it");
	}

	private ActionDescriptor reschedule(JobDescriptor job, JobRegistry.Schedule schedule, @Nullable String reason,
			String user) {
		audit(job.namespace(), job.key(), RESCHEDULED, user);
		Instant effectiveAt = asking(job, (ledger) -> ledger.reschedule(name(job), schedule.cron(), schedule.zone(),
				schedule.interval(), user, reason));
		return new ActionDescriptor(job.key(), job.namespace(), RESCHEDULED, user, null, null, effectiveAt);
	}

	/**
	 * Return when a job would be called next with another schedule.
	 * @throws ActSubject.RefusedException if it can't have one
	 */
	PreviewDescriptor preview(JobDescriptor job, JobRegistry.Schedule schedule) {
		return new PreviewDescriptor(job.key(), asking(job,
				(ledger) -> ledger.preview(name(job), schedule.cron(), schedule.zone(), schedule.interval(), TIMES)));
	}

	private <T> T asking(JobDescriptor job, Function<PostgresAdvisoryLockLedger, T> question) {
		if (!this.registry.isWritable()) {
			throw new ActSubject.RefusedException("Failed to change the schedule of '"
					+ AdvisoryLockKey.display(job.key()) + "': its runs are not recorded in the ledger");
		}
		return refused(() -> question.apply(this.registry.ledger()));
	}

	/**
	 * The ledger tells by an exception that a job is not one for that.
	 */
	private static <T> T refused(Supplier<T> act) {
		try {
			return act.get();
		}
		catch (IllegalStateException ex) {
			throw new ActSubject.RefusedException(String.valueOf(ex.getMessage()));
		}
	}

	private ActionDescriptor backfill(JobDescriptor job, ActSubject.Span span, @Nullable String reason, String user,
			Redaction redaction) {
		Assert.isTrue(reason == null, "'reason' is for states '" + PAUSED + "' and '" + RESCHEDULED + "' only");
		if (this.application.threads().instance().isDrained()) {
			throw refusal(job, "backfill '%s'");
		}
		return refused(() -> {
			Assert.state(this.registry.isWritable() && job.actions().contains(BACKFILLED),
					() -> JobTable.whyNot(job, BACKFILLED));
			audit(job.namespace(), job.key(), BACKFILLED, user);
			JobName name = name(job);
			Supplier<LockOutcome> backfill = this.registry.ledger()
				.backfill(name, span.from(), span.to(), span.again(), user);
			return run(name, BACKFILLED, backfill, user, redaction);
		});
	}

	/**
	 * Do something with an instance, which has no part in one of its databases only.
	 * @param databases what acts in each of them
	 * @return what was done, {@code null} if no instance of that name lives
	 * @throws IllegalArgumentException if that can't be done
	 * @throws ActSubject.RefusedException if nobody here can do that with it
	 */
	@Nullable InstanceActionDescriptor actOn(String instance, String state, @Nullable String reason, String user,
			List<OperatorActions> databases) {
		boolean drain = DRAINED.equals(state);
		Assert.isTrue(drain || RESUMED.equals(state), () -> "Unknown state '" + AdvisoryLockKey.display(state)
				+ "' of an instance: choose '" + DRAINED + "' or '" + RESUMED + "'");
		Assert.isTrue(reason == null, "'reason' is for state '" + PAUSED + "' only");
		LockInstance own = this.application.threads().instance();
		boolean itself = instance.equals(own.name());
		List<OperatorActions> recording = databases.stream().filter((database) -> database.registry.isInUse()).toList();
		if (!itself && recording.isEmpty()) {
			throw new ActSubject.RefusedException("Failed to change instance '" + AdvisoryLockKey.display(instance)
					+ "': without the ledger, an instance can be asked for itself only, and this one is '" + own.name()
					+ "'");
		}
		audit("INSTANCE_" + state, user, Map.of("namespace", this.application.namespace(), "instance", instance));
		boolean recorded = false;
		try {
			for (OperatorActions database : recording) {
				recorded |= instance.indexOf('\0') < 0
						&& database.registry.ledger().drain(instance, drain ? user : null);
			}
		}
		catch (DataAccessException ex) {
			if (!itself || !drain) {
				throw ex;
			}
			logger.warn("The ledger can't be told that this instance, '" + own.name() + "', is drained, which it is",
					ex);
		}
		if (itself) {
			own.drain(LockInstance.class, drain && !recorded);
		}
		if (!recorded && !itself) {
			return null;
		}
		if (!itself) {
			recording.forEach((database) -> database.lockHolders.say(LockSession.INSTANCE));
		}
		return new InstanceActionDescriptor(this.application.namespace(), instance, state, user);
	}

	/**
	 * Do something with all jobs of the namespace.
	 * @throws IllegalArgumentException if that can't be done
	 */
	AllJobsActionDescriptor actAll(String state, @Nullable String reason, String user) {
		boolean pause = PAUSED.equals(state);
		String namespace = this.application.namespace();
		Assert.isTrue(pause || RESUMED.equals(state), () -> "Unknown state '" + AdvisoryLockKey.display(state)
				+ "' of all jobs: choose '" + PAUSED + "' or '" + RESUMED + "'");
		Assert.isTrue(reason == null || pause, "'reason' is for state '" + PAUSED + "' only");
		Assert.isTrue(this.registry.isInUse(), "The ledger is not in use: there is no job that could be paused");
		audit("ALL_" + state, user, Map.of("namespace", namespace));
		PostgresAdvisoryLockLedger ledger = this.registry.ledger();
		int jobs = pause ? ledger.pauseAll(namespace, user, reason) : ledger.resumeAll(namespace, user);
		return new AllJobsActionDescriptor(namespace, state, user, jobs);
	}

	/**
	 * Tell the run that holds a lock to end, and unless it is named, a backfill.
	 * @return what was done, {@code null} if nobody holds the lock
	 * @throws ActSubject.RefusedException if that can't be done, or another run holds it
	 * than the one that is meant
	 */
	@Nullable ActionDescriptor cancel(AdvisoryLockKey key, ActSubject subject, String user, Redaction redaction) {
		Instant looked = this.lockHolders.time();
		boolean backfill = subject.run() == null && subject.since() == null && this.registry.isInUse()
				&& this.registry.ledger().cancelBackfill(JobName.of(key));
		Map<LockNumber, List<LockHolders.Holder>> held = held(key);
		List<LockHolders.Holder> found = held.values().stream().flatMap(List::stream).toList();
		if (backfill && found.stream().allMatch((holder) -> holder.instance() == null)) {
			audit(key.namespace(), key.name(), CANCELLED, user);
			return new ActionDescriptor(key.name(), key.namespace(), CANCELLED, user, "ENDED", null, null);
		}
		if (found.isEmpty()) {
			return null;
		}
		checkOurs(key, found);
		LockHolders.Holder holder = found.get(0);
		RunDescriptor last = lastRun(key, redaction);
		subject.checkRun(key, holder, last);
		audit(CANCELLED, user, Map.of("namespace", key.namespace(), "key", key.name(), "holder",
				String.valueOf(holder.instance()), "pid", String.valueOf(holder.pid())));
		LockNumber number = held.keySet().iterator().next();
		Instant since = ActSubject.since(holder, last);
		boolean ended = this.lockHolders.cancel(number, subject.lookedAt(looked, holder, last), subject.run(), user,
				() -> this.lockHolders.find(number, key.namespace())
					.stream()
					.anyMatch((one) -> Objects.equals(one.pid(), holder.pid())
							&& isSame(since, ActSubject.since(one, lastRun(key, redaction)))));
		if (!ended && subject.isComparedThereOnly(holder, last)) {
			throw new ActSubject.RefusedException("'" + key + "' goes on, on '" + holder.instance()
					+ "': its run is another one than the one that is meant, or ignores its interrupt");
		}
		if (!ended && holder.stranger() != null) {
			throw new ActSubject.RefusedException("'" + key + "' goes on: '" + holder.instance()
					+ "' holds it, has logged in as "
					+ ((holder.role() != null) ? "'" + holder.role() + "'" : "a role that was dropped")
					+ ", and believes no other role. This instance has logged in as '" + holder.stranger()
					+ "': ask that instance, or have all logins set one role that they are members of (ALTER ROLE "
					+ "... SET role = ...)");
		}
		return new ActionDescriptor(key.name(), key.namespace(), CANCELLED, user, ended ? "ENDED" : null, null, null);
	}

	/**
	 * A begin that is not known tells nothing.
	 */
	private static boolean isSame(@Nullable Instant since, @Nullable Instant now) {
		return since == null || now == null || since.equals(now);
	}

	private @Nullable RunDescriptor lastRun(AdvisoryLockKey key, Redaction redaction) {
		return this.registry.isInUse()
				? this.registry.job(JobId.of(key), redaction).map(JobRegistry.RecordedJob::lastRun).orElse(null) : null;
	}

	/**
	 * Return who holds a key, by what each has locked of it. One that arguments made may
	 * be that of any method whose key has some.
	 */
	private Map<LockNumber, List<LockHolders.Holder>> held(AdvisoryLockKey key) {
		int permits = this.application.methods()
			.get()
			.stream()
			.filter((method) -> method.fixedKey() == null || key.equals(method.fixedKey()))
			.mapToInt((method) -> method.operation().permits())
			.max()
			.orElse(1);
		Map<LockNumber, List<LockHolders.Holder>> held = new LinkedHashMap<>();
		for (int permit = 1; permit <= permits; permit++) {
			LockNumber number = LockNumber.of(key.permit(permit));
			List<LockHolders.Holder> holders = this.lockHolders.find(number, key.namespace());
			if (!holders.isEmpty()) {
				held.put(number, holders);
			}
		}
		return held;
	}

	private static void checkOurs(AdvisoryLockKey key, List<LockHolders.Holder> found) {
		if (found.size() > 1) {
			throw new ActSubject.RefusedException("'" + key + "' has " + found.size() + " holders: which is meant?");
		}
		LockHolders.Holder holder = found.get(0);
		if (holder.pid() == null) {
			String gid = (holder.prepared() != null) ? " " + holder.prepared() : "";
			throw new ActSubject.RefusedException(
					"'" + key + "' is held by prepared transaction" + gid + ": ROLLBACK PREPARED" + gid
							+ " or COMMIT PREPARED" + gid + " in this database frees it, as its owner or a superuser");
		}
		if (holder.instance() == null) {
			throw new ActSubject.RefusedException("'" + key + "' is held by server process " + holder.pid()
					+ " of role '" + holder.role() + "', which is no instance of an application with this library");
		}
	}

	private void audit(String namespace, String key, String state, String user) {
		audit(state, user, Map.of("namespace", namespace, "key", key));
	}

	private void audit(String act, String user, Map<String, Object> details) {
		this.eventPublisher
			.publishEvent(new AuditApplicationEvent(user, "ADVISORY_LOCK_" + act.toUpperCase(Locale.ROOT), details));
	}

	/**
	 * Run a job on a thread of its own, and wait a moment for how it ends: most skips are
	 * known at once.
	 */
	private ActionDescriptor run(JobName id, String state, Supplier<LockOutcome> work, String user,
			Redaction redaction) {
		CompletableFuture<LockOutcome> run = CompletableFuture.supplyAsync(work, this.executor)
			.whenComplete((outcome, failure) -> {
				if (failure != null) {
					logger.warn("'" + AdvisoryLockKey.display(id.key()) + "' failed, which was run now for "
							+ AdvisoryLockKey.display(user), failure);
				}
			});
		try {
			return ran(id, state, user, run.get(PATIENCE, TimeUnit.MILLISECONDS).name(), null);
		}
		catch (TimeoutException ex) {
			return ran(id, state, user, null, null);
		}
		catch (ExecutionException ex) {
			Throwable failure = (ex.getCause() != null) ? ex.getCause() : ex;
			boolean cancelled = LockLostException.isCancelled(failure, AdvisoryLockKey.of(id.namespace(), id.key()));
			LedgerRun.Failure described = LedgerRun.Failure.of(failure);
			return ran(id, state, user, cancelled ? "CANCELLED" : "FAILED",
					redaction.error(described.type(), described.text()));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return ran(id, state, user, null, null);
		}
	}

	private static ActionDescriptor ran(JobName id, String state, String user, @Nullable String outcome,
			@Nullable String error) {
		return new ActionDescriptor(id.key(), id.namespace(), state, user, outcome, error, null);
	}

}
