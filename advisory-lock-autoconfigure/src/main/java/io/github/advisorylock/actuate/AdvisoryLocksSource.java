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

import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDetailsDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LeaderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ProblemDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ProblemGroup;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunStatistics;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunsDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.StackDescriptor;
import io.github.advisorylock.actuate.JobRegistry.RecordedInstance;
import io.github.advisorylock.actuate.JobRegistry.RecordedJob;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.thread.TimeLimit;
import io.github.advisorylock.monitor.LockActivity;
import io.github.advisorylock.monitor.LockMonitor;
import io.github.advisorylock.monitor.LockNumber;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.util.Assert;

/**
 * Puts together what the methods of this instance, the records of runs and the server's
 * table of locks know of one database.
 *
 * @since 0.1.0
 */
class AdvisoryLocksSource {

	private static final int RUNS = 60;

	private static final int LATEST_KEYS = 5;

	private static final int MOST_INSTANCES = 50;

	private final String name;

	private final GuardedApplication application;

	private final LockMonitor monitor;

	private final JobRegistry registry;

	private final CallCounter counter;

	private final Sanitizer sanitizer;

	private final Supplier<? extends @Nullable LockSession> session;

	private final Supplier<Map<String, AdvisoryLocksSource>> others;

	private final TimeLimit limit;

	/**
	 * Create a source.
	 * @param name the name of the database's transaction manager
	 * @param application what this instance guards
	 * @param monitor looks at locks
	 * @param registry knows what is recorded
	 * @param counter knows how the calls of this instance ended
	 * @param sanitizer hides values
	 * @param session counts the members, {@code null} where there is none
	 * @param others the sources of further databases, by the names of their transaction
	 * managers
	 */
	AdvisoryLocksSource(String name, GuardedApplication application, LockMonitor monitor, JobRegistry registry,
			CallCounter counter, Sanitizer sanitizer, Supplier<? extends @Nullable LockSession> session,
			Supplier<Map<String, AdvisoryLocksSource>> others) {
		this.name = name;
		this.application = application;
		this.monitor = monitor;
		this.registry = registry;
		this.counter = counter;
		this.sanitizer = sanitizer;
		this.session = session;
		this.others = others;
		this.limit = new TimeLimit(application.threads());
	}

	/**
	 * Return the sources of all databases by transaction manager, this one first.
	 */
	Map<String, AdvisoryLocksSource> all() {
		Map<String, AdvisoryLocksSource> all = new LinkedHashMap<>();
		all.put(this.name, this);
		all.putAll(this.others.get());
		return all;
	}

	/**
	 * Return the source of a database.
	 * @param manager the name of its transaction manager, {@code null} for the default
	 * one
	 * @throws IllegalArgumentException if there is no such database
	 */
	AdvisoryLocksSource in(@Nullable String manager) {
		Map<String, AdvisoryLocksSource> all = all();
		AdvisoryLocksSource source = (manager != null) ? all.get(manager) : this;
		Assert.isTrue(source != null,
				() -> "There are no locks in a database of transaction manager '"
						+ AdvisoryLockKey.display(String.valueOf(manager)) + "', only in those of "
						+ String.join(", ", all.keySet()));
		return source;
	}

	/**
	 * Return this database once it has answered: most acts have no limit of their own.
	 * @param asked whether it is asked for more than what its ledger knows
	 */
	AdvisoryLocksSource answering(boolean asked) {
		if (asked || records().isInUse()) {
			ask(() -> {
				this.monitor.ping();
				return true;
			});
		}
		return this;
	}

	OperatorActions actions(Supplier<LeaderElection> election, ApplicationEventPublisher eventPublisher) {
		return new OperatorActions(this.application, this.registry, this.monitor.holders(), election, eventPublisher);
	}

	Redaction redaction(boolean showUnsanitized) {
		return new Redaction(this.sanitizer, showUnsanitized);
	}

	private JobTable table() {
		return new JobTable(this.application, this.counter);
	}

	/**
	 * Return where to look for records, which are not kept before they are needed.
	 */
	private JobRegistry records() {
		return this.registry.isInUse() ? this.registry : JobRegistry.NONE;
	}

	/**
	 * Return the jobs of a database as they are now, and what needs an operator.
	 * @param manager the transaction manager of the database, {@code null} for the
	 * default one
	 * @param text what keys and methods of the jobs must contain
	 * @param state the state the jobs must have
	 * @param sort their order, by key unless set
	 * @param page which page of the jobs, from 1
	 * @param size how many jobs are on a page, 1000 at most
	 * @param showUnsanitized whether values may be seen
	 * @return a page of jobs
	 * @throws IllegalArgumentException if they can't be asked for like this
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	AdvisoryLocksDescriptor getLocks(@Nullable String manager, @Nullable String text, @Nullable String state,
			@Nullable String sort, @Nullable Integer page, @Nullable Integer size, boolean showUnsanitized) {
		JobFilter filter = JobFilter.of(text, state, sort, page, size);
		return in(manager).list(filter, managers(), redaction(showUnsanitized));
	}

	private @Nullable List<String> managers() {
		Set<String> managers = all().keySet();
		return (managers.size() > 1) ? List.copyOf(managers) : null;
	}

	private AdvisoryLocksDescriptor list(JobFilter filter, @Nullable List<String> managers, Redaction redaction) {
		String namespace = this.application.namespace();
		JobRegistry records = records();
		JobTable table = table();
		JobRegistry.Overview recorded = ask(() -> records.overview(namespace, redaction));
		List<RecordedInstance> known = recorded.instances();
		Leaders leaders = new Leaders(this.application, known);
		Map<JobId, RecordedJob> jobs = byId(recorded);
		Set<JobId> ids = ids(table, jobs);
		AdvisoryLockKey ofMembers = AdvisoryLockKey.of(namespace, LockSession.MEMBERS);
		Set<LockNumber> numbers = Stream
			.of(Stream.of(ofMembers), leaders.keys().stream(),
					ids.stream().flatMap((id) -> table.locks(id, jobs.get(id)).stream()))
			.flatMap(Function.identity())
			.map(LockNumber::of)
			.collect(Collectors.toSet());
		LockActivity activity = ask(() -> this.monitor.locks(numbers));
		LockTable locks = new LockTable(activity, names(known), redaction::query);
		List<JobDescriptor> all = describe(ids, table, locks, jobs);
		List<JobDescriptor> matching = all.stream().filter(filter::matches).sorted(filter.order()).toList();
		List<LeaderDescriptor> leading = leaders.describe(locks);
		List<InstanceDescriptor> instances = Leaders.describe(known, leading);
		int members = locks.holders(List.of(ofMembers), null).size();
		LockSession session = this.session.get();
		List<ProblemDescriptor> unlike = (session != null && session.hasUnlikeMembers())
				? List.of(new ProblemDescriptor(null, namespace, null, null,
						"keys, schedules, scopes, permits or 'once' differ from those of " + instance()))
				: List.of();
		List<ProblemGroup> problems = Problems.of(all, instances, recorded.differing(), unlike);
		return new AdvisoryLocksDescriptor(activity.time(), activity.skew().truncatedTo(ChronoUnit.MILLIS),
				activity.skewBetween(), instance(),
				this.application.threads().instance().isDrained() ? Boolean.TRUE : null, namespace, activity.database(),
				managers, records.isInUse(), (members > 0) ? members : null, recorded.pause(),
				(recorded.pause() != null) ? goOn(all) : null, all.size(), states(all),
				problems.stream().mapToInt(ProblemGroup::count).sum(), problems, matching.size(), filter.page(),
				filter.size(),
				matching.stream().skip(filter.offset()).limit(filter.size()).map(JobDescriptor::brief).toList(),
				leading, instances.stream().limit(MOST_INSTANCES).toList());
	}

	private static Map<JobId, RecordedJob> byId(JobRegistry.Overview recorded) {
		return recorded.jobs().stream().collect(Collectors.toMap(RecordedJob::id, Function.identity()));
	}

	private static Set<JobId> ids(JobTable table, Map<JobId, RecordedJob> jobs) {
		Set<JobId> ids = new TreeSet<>(table.ids());
		ids.addAll(jobs.keySet());
		return ids;
	}

	private static List<JobDescriptor> describe(Set<JobId> ids, JobTable table, LockTable locks,
			Map<JobId, RecordedJob> jobs) {
		return ids.stream().flatMap((id) -> table.describe(id, locks, jobs.get(id), null).stream()).toList();
	}

	/**
	 * Return the latest runs of all jobs of a database, and when jobs are called next.
	 * @param manager the transaction manager of the database, {@code null} for the
	 * default one
	 */
	RunsDescriptor getRuns(@Nullable String manager, RunFilter filter, boolean showUnsanitized) {
		return in(manager).runs(filter, managers(), redaction(showUnsanitized));
	}

	private RunsDescriptor runs(RunFilter filter, @Nullable List<String> managers, Redaction redaction) {
		String namespace = this.application.namespace();
		JobRegistry records = records();
		JobTable table = table();
		Map<JobId, RecordedJob> jobs = byId(ask(() -> records.overview(namespace, redaction)));
		LockActivity activity = ask(() -> this.monitor.locks(Set.of()));
		LockTable locks = new LockTable(activity, List.of(), redaction::query);
		List<JobDescriptor> all = describe(ids(table, jobs), table, locks, jobs);
		return new RunsDescriptor(activity.time(), instance(), namespace, activity.database(), managers,
				records.isInUse(), ask(() -> records.latest(namespace, filter, redaction)),
				Forecast.of(all, activity.time()));
	}

	private static int goOn(List<JobDescriptor> jobs) {
		return (int) jobs.stream().filter((job) -> job.paused() == null || !job.holders().isEmpty()).count();
	}

	private <T extends @Nullable Object> T ask(Supplier<T> question) {
		return this.limit.ask(question, this.monitor::ping);
	}

	private String instance() {
		return this.application.threads().instance().name();
	}

	private List<String> names(List<RecordedInstance> instances) {
		return Stream.concat(Stream.of(instance()), instances.stream().map((one) -> one.instance().instance()))
			.toList();
	}

	private static Map<String, Integer> states(List<JobDescriptor> jobs) {
		Map<String, Integer> states = new LinkedHashMap<>();
		JobTable.STATES.forEach((state) -> states.put(state, 0));
		jobs.forEach((job) -> states.merge(job.state(), 1, Integer::sum));
		return states;
	}

	/**
	 * Return one job as it is now.
	 * @param namespace the namespace of its key, {@code null} for that of the application
	 * @param key its key, or what stands for it in addresses
	 * @param showUnsanitized whether values may be seen
	 * @return the job, or empty if there is none of that key
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	Optional<JobDetailsDescriptor> getJob(@Nullable String namespace, String key, boolean showUnsanitized) {
		Redaction redaction = redaction(showUnsanitized);
		JobRegistry records = records();
		JobTable table = table();
		JobId id = id(namespace, key);
		RecordedJob recorded = (id != null) ? ask(() -> records.job(id, redaction)).orElse(null) : null;
		if (id == null || (recorded == null && !table.ids().contains(id))) {
			return Optional.empty();
		}
		Set<LockNumber> numbers = table.locks(id, recorded).stream().map(LockNumber::of).collect(Collectors.toSet());
		LockActivity activity = ask(() -> this.monitor.locks(numbers));
		LockTable locks = new LockTable(activity, names(List.of()), redaction::query);
		boolean template = table.isTemplate(id) || (recorded != null && recorded.template());
		List<RunDescriptor> runs = ask(() -> records.runs(id, template, RUNS, redaction));
		KeysDescriptor rows = template ? ask(() -> records.keys(id, LATEST_KEYS, redaction)) : null;
		KeysDescriptor keys = (rows != null) ? rows.with(runs) : null;
		JobDescriptor job = table.describe(id, locks, recorded, keys).get(0);
		return Optional.of(new JobDetailsDescriptor(activity.time(), instance(),
				job.with(RunStatistics.of(runs), ask(() -> records.lastBackfill(id, redaction))), runs));
	}

	/**
	 * Return what is done under a key now, on whatever instance. Waits for that for five
	 * seconds at most.
	 * @param namespace the namespace of the key, {@code null} for that of the application
	 * @param name the key, or what stands for it in addresses
	 * @param showUnsanitized whether values may be seen
	 * @return what is done, or empty if nobody holds its lock and there is no such job
	 * @throws IllegalArgumentException if the key is one of the library's own
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	Optional<StackDescriptor> getStack(@Nullable String namespace, String name, boolean showUnsanitized) {
		AdvisoryLockKey key = key(namespace, name);
		if (key == null) {
			return Optional.empty();
		}
		StackDescriptor stack = new RunStacks(this.application, records(), this.monitor.holders(),
				redaction(showUnsanitized))
			.describe(key);
		return (!stack.runs().isEmpty() || getJob(namespace, name, showUnsanitized).isPresent()) ? Optional.of(stack)
				: Optional.empty();
	}

	private @Nullable JobId id(@Nullable String namespace, String key) {
		return JobId.of((namespace != null) ? namespace : this.application.namespace(), key);
	}

	/**
	 * Return what is locked for a key, whether or not a job is known of it.
	 * @return the key, {@code null} if there can be none
	 * @throws IllegalArgumentException if it is one that is kept for others
	 */
	@Nullable AdvisoryLockKey key(@Nullable String namespace, String key) {
		JobId id = id(namespace, key);
		return (id == null || id.key().isBlank()) ? null
				: LockRequest.of(id.key()).key(id.namespace(), this.application.keyFactory());
	}

}
