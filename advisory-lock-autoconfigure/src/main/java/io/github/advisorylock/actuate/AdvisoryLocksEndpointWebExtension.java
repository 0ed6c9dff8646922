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

import java.security.Principal;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ActionDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.AllJobsActionDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ErrorDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceActionDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDetailsDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PreviewDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunsDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.StackDescriptor;
import io.github.advisorylock.monitor.LockMonitor;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.dao.DataAccessException;

/**
 * {@link EndpointWebExtension @EndpointWebExtension} of the
 * {@link AdvisoryLocksEndpoint}: who asks, and statuses.
 *
 * @since 0.1.0
 */
@EndpointWebExtension(endpoint = AdvisoryLocksEndpoint.class)
@ImportRuntimeHints(AdvisoryLocksEndpointWebExtension.Hints.class)
class AdvisoryLocksEndpointWebExtension {

	private static final Log logger = LogFactory.getLog(AdvisoryLocksEndpointWebExtension.class);

	/**
	 * Stands for who is not logged in. Not a name that somebody could log in with by
	 * chance, such as that of an anonymous authentication.
	 */
	private static final String UNAUTHENTICATED = "unauthenticated";

	/**
	 * Behind a key in the path: what its run is doing.
	 */
	private static final String STACK = "stack";

	private static final String NO_JOB = "There is no such job, and nobody holds its lock";

	private static final int STATUS_CONFLICT = 409;

	private final AdvisoryLocksSource source;

	private final Function<AdvisoryLocksSource, OperatorActions> actions;

	private final Show showValues;

	private final Set<String> roles;

	/**
	 * Create an extension.
	 * @param source knows jobs and locks
	 * @param election knows who leads; asked for when a role is handed over
	 * @param eventPublisher is told what operators do
	 * @param showValues to whom values are shown
	 * @param roles which roles may see values, empty for any user that is logged in
	 */
	AdvisoryLocksEndpointWebExtension(AdvisoryLocksSource source, Supplier<LeaderElection> election,
			ApplicationEventPublisher eventPublisher, Show showValues, Set<String> roles) {
		this.source = source;
		this.actions = (database) -> database.actions(election, eventPublisher);
		this.showValues = showValues;
		this.roles = roles;
	}

	/**
	 * Return what lets the path alone say which job a request to the endpoint is for.
	 * @return an advisor of the operations of the endpoint
	 */
	static OperationInvokerAdvisor pathOnly() {
		return new PathOnly();
	}

	/**
	 * Return jobs, or, with {@code runs}, the latest runs of all jobs.
	 * @param securityContext who asks
	 * @param q what keys or methods of the jobs must contain
	 * @param state the state the jobs must have
	 * @param sort their order
	 * @param page which page of the jobs, from 1
	 * @param size how many jobs are on a page, 100 unless set, 1000 at most
	 * @param runs how many runs are wanted in the place of jobs, 1000 at most
	 * @param outcome how they have ended
	 * @param instance who ran them
	 * @param from the earliest begin of a run
	 * @param to the first begin that is too late
	 * @param transactionManager the transaction manager of the database they are in
	 * @return jobs or runs; status 400 if they can't be asked for like this, 503 if the
	 * database can't be asked
	 */
	@ReadOperation
	WebEndpointResponse<Object> advisoryLocks(SecurityContext securityContext, @Nullable String q,
			@Nullable String state, @Nullable String sort, @Nullable Integer page, @Nullable Integer size,
			@Nullable Integer runs, @Nullable String outcome, @Nullable String instance, @Nullable String from,
			@Nullable String to, @Nullable String transactionManager) {
		boolean shown = isShown(securityContext);
		return answer(() -> {
			RunFilter filter = RunFilter.of(runs, outcome, instance, from, to, q, state, sort, page, size);
			return (filter != null) ? this.source.getRuns(transactionManager, filter, shown)
					: this.source.getLocks(transactionManager, q, state, sort, page, size, shown);
		});
	}

	/**
	 * Return one job with its last runs, or, where {@code stack} stands behind its key,
	 * what is done under that now, on whatever instance. A key that ends so itself is
	 * named by what stands for it in addresses.
	 * @param securityContext who asks
	 * @param namespace the namespace of its key
	 * @param transactionManager the transaction manager of the database it is in
	 * @param cron a cron expression, for when the job would be called with it; empty for
	 * that of the annotation
	 * @param zone the time zone of that
	 * @param interval an interval in the place of a cron expression
	 * @param key its key, or what stands for it in addresses
	 * @return the job, or what is done, or the next five times; status 404 if there is no
	 * job of that key
	 */
	@ReadOperation
	WebEndpointResponse<Object> job(SecurityContext securityContext, @Nullable String namespace,
			@Nullable String transactionManager, @Nullable String cron, @Nullable String zone,
			@Nullable String interval, @Selector(match = Match.ALL_REMAINING) String... key) {
		JobRegistry.Schedule schedule = new JobRegistry.Schedule(cron, zone, interval);
		if (schedule.isNamed()) {
			return answer(() -> preview(transactionManager, namespace, String.join("/", key), schedule));
		}
		boolean shown = isShown(securityContext);
		int last = key.length - 1;
		return answer(() -> {
			AdvisoryLocksSource database = this.source.in(transactionManager);
			return (last > 0 && STACK.equals(key[last]))
					? database.getStack(namespace, String.join("/", Arrays.copyOf(key, last)), shown).orElse(null)
					: database.getJob(namespace, String.join("/", key), shown).orElse(null);
		});
	}

	private @Nullable Object preview(@Nullable String manager, @Nullable String namespace, String key,
			JobRegistry.Schedule schedule) {
		AdvisoryLocksSource database = this.source.in(manager);
		return database.getJob(namespace, key, false)
			.map((job) -> this.actions.apply(database).preview(job.job(), schedule.withoutBlanks()))
			.orElse(null);
	}

	/**
	 * Pause or resume all jobs of the namespace, or drain or resume an instance.
	 * @param securityContext who asks
	 * @param state what is asked for: {@code paused} or {@code resumed}, of an instance
	 * {@code drained} or {@code resumed}
	 * @param reason why jobs are paused, {@code null} if that is not told
	 * @param instance the name of the instance, {@code null} for all jobs
	 * @param transactionManager the transaction manager of the database they are in
	 * @return what was done; status 400 if that can't be done, 404 if no instance of that
	 * name lives, 409 if this one can't reach it
	 */
	@WriteOperation
	WebEndpointResponse<Object> actAll(SecurityContext securityContext, String state, @Nullable String reason,
			@Nullable String instance, @Nullable String transactionManager) {
		String user = user(securityContext);
		return answer(() -> {
			OperatorActions acts = this.actions.apply(this.source.in(transactionManager).answering(instance == null));
			return (instance != null)
					? acts.actOn(instance, state, reason, user,
							this.source.all().values().stream().map(this.actions).toList())
					: acts.actAll(state, reason, user);
		}, (instance != null) ? "There is no living instance '" + AdvisoryLockKey.display(instance) + "'" : NO_JOB);
	}

	/**
	 * Pause, resume or run a job, give it another schedule, retry its tick, forget it,
	 * cancel its run, or hand over a role that this instance leads.
	 * @param securityContext who asks
	 * @param state what is asked for: {@code paused}, {@code resumed}, {@code running},
	 * {@code retried}, {@code rescheduled}, {@code backfilled}, {@code forgotten} or
	 * {@code cancelled}, for a role {@code resigned}
	 * @param reason why a job is paused or has another schedule, {@code null} if that is
	 * not told
	 * @param cron the cron expression of another schedule
	 * @param zone the time zone of that, {@code null} for that of the annotation
	 * @param interval the interval of another schedule
	 * @param run the fencing token of the run that is to be cancelled, {@code null} for
	 * whichever is under way
	 * @param since since when that run lasts
	 * @param tick the tick that is to be retried, {@code null} for the one that is open
	 * @param from the first time whose ticks are backfilled
	 * @param to the first time whose ticks are not any more
	 * @param again whether ticks are backfilled that were executed, too
	 * @param namespace the namespace of its key
	 * @param transactionManager the transaction manager of the database it is in
	 * @param key its key, or what stands for it in addresses
	 * @return what was done; status 404 if there is no job of that key, 400 if that can't
	 * be done with it, 409 if who holds the lock stands in the way, or another run or
	 * tick is meant than the present one
	 */
	@WriteOperation
	WebEndpointResponse<Object> act(SecurityContext securityContext, String state, @Nullable String reason,
			@Nullable String run, @Nullable String since, @Nullable String tick, @Nullable String cron,
			@Nullable String zone, @Nullable String interval, @Nullable String from, @Nullable String to,
			@Nullable String again, @Nullable String namespace, @Nullable String transactionManager,
			@Selector(match = Match.ALL_REMAINING) String... key) {
		return answer(() -> act(this.source.in(transactionManager), namespace, String.join("/", key), state, reason,
				ActSubject.of(state, run, since, tick, from, to, again), new JobRegistry.Schedule(cron, zone, interval),
				securityContext));
	}

	private @Nullable Object act(AdvisoryLocksSource database, @Nullable String namespace, String name, String state,
			@Nullable String reason, ActSubject subject, JobRegistry.Schedule schedule,
			SecurityContext securityContext) {
		String user = user(securityContext);
		Redaction redaction = database.redaction(isShown(securityContext));
		OperatorActions acts = this.actions.apply(database);
		if (acts.isRole(name)) {
			return acts.act(name, state, user);
		}
		if (OperatorActions.CANCELLED.equals(state)) {
			AdvisoryLockKey key = database.answering(true).key(namespace, name);
			Object done = (key != null) ? acts.cancel(key, subject, user, redaction) : null;
			if (done == null && database.getJob(namespace, name, false).isPresent()) {
				throw new ActSubject.RefusedException("There is no holder of the lock of '" + key + "'");
			}
			return done;
		}
		return database.getJob(namespace, name, redaction.showUnsanitized())
			.map((job) -> acts.act(job.job(), state, subject, reason, schedule, user, redaction))
			.orElse(null);
	}

	private static WebEndpointResponse<Object> answer(Supplier<@Nullable Object> answer) {
		return answer(answer, NO_JOB);
	}

	private static WebEndpointResponse<Object> answer(Supplier<@Nullable Object> answer, String missing) {
		try {
			Object body = answer.get();
			return (body != null) ? new WebEndpointResponse<>(body)
					: new WebEndpointResponse<>(new ErrorDescriptor(missing), WebEndpointResponse.STATUS_NOT_FOUND);
		}
		catch (IllegalArgumentException ex) {
			return new WebEndpointResponse<>(new ErrorDescriptor(String.valueOf(ex.getMessage())),
					WebEndpointResponse.STATUS_BAD_REQUEST);
		}
		catch (ActSubject.RefusedException ex) {
			return new WebEndpointResponse<>(new ErrorDescriptor(String.valueOf(ex.getMessage())), STATUS_CONFLICT);
		}
		catch (DataAccessException ex) {
			logger.debug("The database could not be asked", ex);
			return new WebEndpointResponse<>(new ErrorDescriptor(LockMonitor.explain(ex)),
					WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
		}
	}

	private boolean isShown(SecurityContext securityContext) {
		return this.showValues.isShown(securityContext, this.roles);
	}

	private static String user(SecurityContext securityContext) {
		Principal principal = securityContext.getPrincipal();
		return (principal != null) ? principal.getName() : UNAUTHENTICATED;
	}

	/**
	 * {@link OperationInvokerAdvisor} that lets the path alone say which job a request to
	 * the endpoint is for. Actuator puts the fields of the body and of the query over the
	 * variables of the path, in one map; only those of the path come as an array.
	 */
	private static final class PathOnly implements OperationInvokerAdvisor {

		private static final EndpointId ENDPOINT = EndpointId.of("advisorylocks");

		private static final String KEY = "key";

		private static final String STATE = "state";

		@Override
		public OperationInvoker apply(EndpointId endpointId, OperationType operationType,
				OperationParameters parameters, OperationInvoker invoker) {
			if (!endpointId.equals(ENDPOINT)
					|| parameters.stream().noneMatch((parameter) -> parameter.getType() == SecurityContext.class)) {
				return invoker;
			}
			Set<String> known = parameters.stream()
				.filter((parameter) -> parameter.getType() != SecurityContext.class)
				.map(OperationParameter::getName)
				.collect(Collectors.toSet());
			return (context) -> {
				String reason = findMistake(context.getArguments(), known, operationType == OperationType.WRITE);
				return (reason != null)
						? new WebEndpointResponse<>(new ErrorDescriptor(reason), WebEndpointResponse.STATUS_BAD_REQUEST)
						: invoker.invoke(context);
			};
		}

		private static @Nullable String findMistake(Map<String, Object> arguments, Set<String> known, boolean write) {
			if (known.contains(KEY) && !(arguments.get(KEY) instanceof String[])) {
				return "'key' must stand in the path only";
			}
			if (!write) {
				return null;
			}
			for (String name : arguments.keySet()) {
				if (!known.contains(name)) {
					return "Unknown field '" + AdvisoryLockKey.display(name) + "': only 'state', " + (known
						.contains(KEY)
								? "'run', 'since', 'tick', 'cron', 'zone', 'interval', 'from', 'to', 'again', 'namespace', "
								: "'instance', ")
							+ "'reason' and 'transactionManager' are known";
				}
			}
			return (arguments.get(STATE) instanceof String) ? null : "'state' must be a text";
		}

	}

	/**
	 * Lets a native image write the descriptors as JSON.
	 */
	static final class Hints implements RuntimeHintsRegistrar {

		private final BindingReflectionHintsRegistrar bindings = new BindingReflectionHintsRegistrar();

		@Override
		public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
			this.bindings.registerReflectionHints(hints.reflection(), AdvisoryLocksDescriptor.class,
					JobDetailsDescriptor.class, RunsDescriptor.class, StackDescriptor.class, ActionDescriptor.class,
					AllJobsActionDescriptor.class, InstanceActionDescriptor.class, PreviewDescriptor.class,
					ErrorDescriptor.class);
		}

	}

}
