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

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDetailsDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LeaderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.JobRegistry.JobPage;
import io.github.advisorylock.actuate.JobRegistry.JobSummary;
import io.github.advisorylock.actuate.JobRegistry.RecordedFacts;
import io.github.advisorylock.actuate.JobRegistry.RecordedInstance;
import io.github.advisorylock.actuate.JobRegistry.RecordedJob;
import io.github.advisorylock.actuate.JobRegistry.RunPage;
import io.github.advisorylock.actuate.JobRegistry.RunPeriod;
import io.github.advisorylock.actuate.OverviewDescriptor.JobsDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.RunsDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.TicksDescriptor;
import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.monitor.LockActivity;
import io.github.advisorylock.monitor.LockMonitor;
import io.github.advisorylock.monitor.LockNumber;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.util.Assert;

/**
 * Puts together what the methods of this instance, the records of runs and the server's
 * table of locks know.
 *
 * @since 0.1.0
 */
public class AdvisoryLocksSource {

	/**
	 * The states of jobs that can be asked for.
	 */
	public static final List<String> STATES = JobFilter.STATES;

	/**
	 * The orders that jobs can be asked for in: by key, what is next, ran last, took
	 * longest, or failed most often in a row first.
	 */
	public static final List<String> SORTS = JobFilter.SORTS;

	private static final String ALL = "all";

	private static final List<String> OUTCOMES = List.of(ALL, "EXECUTED", "FAILED", "ABANDONED", "RUNNING");

	private static final String LATEST = "latest";

	private static final int RUNS_OF_PAGE = 20;

	private static final int MOST_RUNS_OF_PAGE = 100;

	private static final int MOST_PAGES = 1_000_000;

	private static final int MOST_JOBS = 1000;

	private final GuardedApplication application;

	private final LockMonitor monitor;

	private final JobRegistry registry;

	private final CallCounter counter;

	private final Sanitizer sanitizer;

	/**
	 * By transaction manager, the default database first, which is this one.
	 */
	private Supplier<Map<String, AdvisoryLocksSource>> databases = () -> Map.of("", this);

	/**
	 * Create a source.
	 * @param application what this instance guards
	 * @param monitor looks at locks
	 * @param registry knows what is recorded
	 * @param counter knows how the calls of this instance ended
	 * @param sanitizer hides values
	 */
	public AdvisoryLocksSource(GuardedApplication application, LockMonitor monitor, JobRegistry registry,
			CallCounter counter, Sanitizer sanitizer) {
		this.application = application;
		this.monitor = monitor;
		this.registry = registry;
		this.counter = counter;
		this.sanitizer = sanitizer;
	}

	/**
	 * Have this source tell of further databases, too.
	 * @param databases the source of each by the name of its transaction manager, this
	 * one first
	 */
	public void setDatabases(Supplier<Map<String, AdvisoryLocksSource>> databases) {
		this.databases = databases;
	}

	OperatorActions actions(Supplier<LeaderElection> election, ApplicationEventPublisher eventPublisher) {
		OperatorActions actions = new OperatorActions(this.application, this.registry, this.monitor.holders(), election,
				eventPublisher);
		actions.setDatabases((manager) -> {
			AdvisoryLocksSource source = (manager != null) ? this.databases.get().get(manager) : null;
			return (source != null && source != this) ? source.actions(election, eventPublisher) : null;
		});
		return actions;
	}

	Redaction redaction(boolean showUnsanitized) {
		return new Redaction(this.sanitizer, showUnsanitized);
	}

	private JobTable table() {
		return new JobTable(this.application, this.registry.ownKeys(), this.counter);
	}

	/**
	 * Return where to look for records, which are not kept before they are needed.
	 */
	private JobRegistry records() {
		return this.registry.isInUse() ? this.registry : JobRegistry.NONE;
	}

	/**
	 * Return jobs and locks as they are now.
	 * @param text what keys and methods of the jobs must contain
	 * @param state the state the jobs must have, one of {@link #STATES}
	 * @param page which page of the jobs, from 1
	 * @param size how many jobs are on a page, 1000 at most
	 * @param showUnsanitized whether values may be seen
	 * @return a page of jobs, and the locks
	 * @throws IllegalArgumentException if they can't be asked for like this
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public AdvisoryLocksDescriptor getLocks(@Nullable String text, @Nullable String state, @Nullable Integer page,
			@Nullable Integer size, boolean showUnsanitized) {
		JobFilter filter = JobFilter.of(text, state, null, page, size);
		return getLocks(filter, redaction(showUnsanitized));
	}

	private AdvisoryLocksDescriptor getLocks(JobFilter filter, Redaction redaction) {
		Map<String, JobList> lists = lists(redaction, true);
		JobList.Pages pages = JobList.pages(lists, filter);
		AdvisoryLocksDescriptor all = ask(lists, (name, list) -> list.locks(pages.of(name), filter),
				AdvisoryLocksDescriptor::in, AdvisoryLocksDescriptor::and);
		return (lists.size() == 1) ? all : all.with(pages.sort(all.jobs().stream()));
	}

	/**
	 * Return locks, instances and leaders as they are now, without any job.
	 * @param showUnsanitized whether values may be seen
	 * @return the locks, and who takes part
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public AdvisoryLocksDescriptor getActivity(boolean showUnsanitized) {
		JobFilter none = JobFilter.of(null, null, null, null, 1);
		return ask(lists(redaction(showUnsanitized), true), (name, list) -> list.locks(JobPage.NONE, none),
				AdvisoryLocksDescriptor::in, AdvisoryLocksDescriptor::and);
	}

	/**
	 * Put together what each database answers, which names itself where there are
	 * several.
	 */
	private static <D, T> T ask(Map<String, D> databases, BiFunction<String, D, T> question,
			BiFunction<T, String, T> named, BinaryOperator<T> merge) {
		return databases.entrySet().stream().map((database) -> {
			T answer = question.apply(database.getKey(), database.getValue());
			return (databases.size() == 1) ? answer : named.apply(answer, database.getKey());
		}).reduce(merge).orElseThrow();
	}

	private Map<String, JobList> lists(Redaction redaction, boolean allLocks) {
		Map<String, JobList> lists = new LinkedHashMap<>();
		this.databases.get().forEach((name, source) -> lists.put(name, source.list(redaction, allLocks)));
		return lists;
	}

	private JobList list(Redaction redaction, boolean allLocks) {
		return new JobList(this.application, this.monitor, records(), table(), redaction, allLocks);
	}

	/**
	 * Return what needs an operator now.
	 * @param showUnsanitized whether values may be seen
	 * @return problems, and how much there is of everything
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public OverviewDescriptor getOverview(boolean showUnsanitized) {
		Redaction redaction = redaction(showUnsanitized);
		return ask(this.databases.get(), (name, source) -> source.getOwnOverview(redaction), OverviewDescriptor::in,
				Overviews::merge);
	}

	/**
	 * Four statements: locks, instances, schedules, jobs.
	 */
	private OverviewDescriptor getOwnOverview(Redaction redaction) {
		JobRegistry records = records();
		if (!records.isInUse()) {
			JobFilter all = JobFilter.of(null, null, null, null, MOST_JOBS);
			JobList list = list(redaction, true);
			return Overviews.of(list.locks(JobList.pages(Map.of("", list), all).of(""), all));
		}
		JobTable table = table();
		List<RecordedInstance> instances = records.instances(this.application.namespace());
		Leaders leaders = new Leaders(this.application, instances);
		Set<LockNumber> numbers = new LinkedHashSet<>(leaders.numbers());
		numbers.addAll(table.numbers());
		LockActivity activity = this.monitor.locks(numbers, true);
		LockTable locks = new LockTable(activity, redaction::query);
		List<LeaderDescriptor> leading = leaders.describe(locks);
		JobSummary jobs = records.summary(table.own(), table::key, redaction);
		return Overviews.of(activity, this.application.namespace(), jobs, locks, table::key, table.problems(),
				Leaders.describe(instances, leading), leading);
	}

	/**
	 * Return who tells what is asked for, and when, without any job or lock.
	 * @return nothing of the moment but the moment
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public AdvisoryLocksDescriptor getMoment() {
		return ask(this.databases.get(), (name, source) -> source.moment(source.monitor.locks(Set.of(), false)),
				AdvisoryLocksDescriptor::in, AdvisoryLocksDescriptor::and);
	}

	private AdvisoryLocksDescriptor moment(LockActivity activity) {
		return new AdvisoryLocksDescriptor(activity.time(), activity.skew().truncatedTo(ChronoUnit.MILLIS),
				InstanceName.get(), this.application.namespace(), activity.database(), records().isInUse(), 0, 0, 1, 1,
				List.of(), 0, List.of(), List.of(), List.of(), List.of(), null);
	}

	/**
	 * Return some of the jobs as they are now.
	 * @param text what keys and methods of the jobs must contain
	 * @param state the state the jobs must have, one of {@link #STATES}
	 * @param sort their order, one of {@link #SORTS}
	 * @param page which page of them, from 1
	 * @param size how many are on a page, 1000 at most
	 * @param showUnsanitized whether values may be seen
	 * @return a page of jobs
	 * @throws IllegalArgumentException if they can't be asked for like this
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public JobsDescriptor getJobs(@Nullable String text, @Nullable String state, @Nullable String sort,
			@Nullable Integer page, @Nullable Integer size, boolean showUnsanitized) {
		JobFilter filter = JobFilter.of(text, state, sort, page, size);
		Redaction redaction = redaction(showUnsanitized);
		Map<String, JobList> lists = lists(redaction, false);
		JobList.Pages pages = JobList.pages(lists, filter);
		return ask(lists, (name, list) -> list.jobs(pages.of(name), filter), JobsDescriptor::in,
				(one, other) -> one.and(other, pages::sort));
	}

	/**
	 * Return some of the runs of a job.
	 * @param key its id, its key, or its namespace, a slash and its key
	 * @param manager the transaction manager of the database it is in, {@code null} where
	 * that is clear without
	 * @param outcome how they must have ended, {@code EXECUTED}, {@code FAILED},
	 * {@code ABANDONED} or {@code RUNNING}, {@code null} for all
	 * @param sort their order: {@code latest}, which is that of {@code null}, or
	 * {@code duration} for the longest first
	 * @param page which page of them, from 1
	 * @param size how many are on a page, 20 unless set, 100 at most
	 * @param showUnsanitized whether values may be seen
	 * @return a page of runs, or empty if there is no job of that key
	 * @throws IllegalArgumentException if they can't be asked for like this
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public Optional<RunsDescriptor> getRuns(String key, @Nullable String manager, @Nullable String outcome,
			@Nullable String sort, @Nullable Integer page, @Nullable Integer size, boolean showUnsanitized) {
		int number = (page != null) ? page : 1;
		int rows = (size != null) ? size : RUNS_OF_PAGE;
		String order = (sort != null) ? sort : LATEST;
		String ended = (outcome != null) ? outcome : ALL;
		Assert.isTrue(number >= 1 && number <= MOST_PAGES, "'page' must be from 1 to " + MOST_PAGES);
		Assert.isTrue(rows >= 1 && rows <= MOST_RUNS_OF_PAGE, "'size' must be from 1 to " + MOST_RUNS_OF_PAGE);
		Assert.isTrue(order.equals(LATEST) || order.equals("duration"), "'sort' must be 'latest' or 'duration'");
		Assert.isTrue(OUTCOMES.contains(ended), "'outcome' must be one of " + OUTCOMES);
		Redaction redaction = redaction(showUnsanitized);
		return ofJob(key, manager, (source, id) -> {
			RunPage runs = source.records()
				.runs(id, ended, order.equals("duration"), (number - 1) * rows, rows, redaction);
			return new RunsDescriptor(runs.total(), number, rows, order, runs.runs());
		});
	}

	/**
	 * Ask the database that has a job.
	 */
	private <T> Optional<T> ofJob(String key, @Nullable String manager,
			BiFunction<AdvisoryLocksSource, JobId, T> question) {
		Map<String, AdvisoryLocksSource> databases = databases(manager);
		return Stream.of(true, false)
			.flatMap((byMethod) -> databases.values()
				.stream()
				.filter((source) -> !byMethod || source.hasMethod(key))
				.flatMap((source) -> Stream
					.ofNullable((databases.size() == 1) ? source.meant(key)
							: source.find(key, source.table(), source.records()))
					.map((id) -> question.apply(source, id))))
			.findFirst();
	}

	/**
	 * An id says which job is meant: there is nothing to ask, and nothing to tell if
	 * there is none.
	 */
	private @Nullable JobId meant(String key) {
		JobId id = JobId.isId(key) ? JobId.parse(key) : null;
		return (id != null) ? id : find(key, table(), records());
	}

	/**
	 * Return the ticks of a job: the next ones, and those that no run is known of.
	 * @param key its id, its key, or its namespace, a slash and its key
	 * @param manager the transaction manager of the database it is in, {@code null} where
	 * that is clear without
	 * @return its ticks, or empty if there is no job of that key
	 * @throws IllegalArgumentException if several jobs could be meant
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public Optional<TicksDescriptor> getTicks(String key, @Nullable String manager) {
		return ofJob(key, manager, AdvisoryLocksSource::getTicks);
	}

	private TicksDescriptor getTicks(JobId id) {
		List<RecordedJob> jobs = records().histories(List.of(id), 1, redaction(false));
		if (jobs.isEmpty()) {
			return new TicksDescriptor(List.of(), null, 0, List.of());
		}
		RecordedFacts facts = jobs.get(0).facts();
		Instant now = Instant.now();
		List<Instant> known = facts.operation().oncePerTick() ? records().ticks(id) : List.of();
		return facts.schedule().ticks(now, known, jobs.get(0).openTick() != null || jobs.get(0).paused() != null);
	}

	/**
	 * Return one job as it is now.
	 * @param key its id, its key, or its namespace, a slash and its key
	 * @param manager the transaction manager of the database it is in, {@code null} for
	 * that of the method on this instance, or the one where it is recorded
	 * @param showUnsanitized whether values may be seen
	 * @return the job, or empty if there is none of that key
	 * @throws IllegalArgumentException if several jobs could be meant, or there is no
	 * such database
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public Optional<JobDetailsDescriptor> getJob(String key, @Nullable String manager, boolean showUnsanitized) {
		Map<String, AdvisoryLocksSource> databases = databases(manager);
		if (this.databases.get().size() == 1) {
			return getOwnJob(key, showUnsanitized).map(JobAtMoment::job);
		}
		List<String> ofMethod = databases.keySet()
			.stream()
			.filter((name) -> get(databases, name).hasMethod(key))
			.toList();
		List<JobDetailsDescriptor> found = (!ofMethod.isEmpty() ? ofMethod : List.copyOf(databases.keySet())).stream()
			.flatMap((name) -> get(databases, name).getOwnJob(key, showUnsanitized)
				.map(JobAtMoment::job)
				.map((job) -> new JobDetailsDescriptor(job.job().in(name), job.runs()))
				.stream())
			.toList();
		Assert.isTrue(found.size() <= 1, () -> OperatorActions.several(key,
				found.stream().map((job) -> String.valueOf(job.job().transactionManager())).toList()));
		return found.stream().findFirst();
	}

	/**
	 * Return one job as it is now, and who tells that.
	 * @param key its id, its key, or its namespace, a slash and its key
	 * @param manager the transaction manager of the database it is in, {@code null} for
	 * that of the method on this instance, or the one where it is recorded
	 * @param showUnsanitized whether values may be seen
	 * @return the job, or empty if there is none of that key
	 * @throws IllegalArgumentException if several jobs could be meant, or there is no
	 * such database
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public Optional<JobAtMoment> getJobAtMoment(String key, @Nullable String manager, boolean showUnsanitized) {
		databases(manager);
		return (this.databases.get().size() == 1) ? getOwnJob(key, showUnsanitized)
				: getJob(key, manager, showUnsanitized).map((job) -> new JobAtMoment(getMoment(), job));
	}

	/**
	 * Return the databases that are asked for.
	 * @param manager the transaction manager of the only one, {@code null} for all
	 * @throws IllegalArgumentException if there is no such database
	 */
	private Map<String, AdvisoryLocksSource> databases(@Nullable String manager) {
		Map<String, AdvisoryLocksSource> all = this.databases.get();
		Assert.isTrue(manager == null || all.containsKey(manager),
				() -> "There are no locks in a database of transaction manager '"
						+ AdvisoryLockKey.display(String.valueOf(manager)) + "', only in those of "
						+ String.join(", ", all.keySet()));
		return (manager != null) ? Map.of(manager, get(all, manager)) : all;
	}

	private static AdvisoryLocksSource get(Map<String, AdvisoryLocksSource> databases, String manager) {
		AdvisoryLocksSource source = databases.get(manager);
		Assert.state(source != null, "'manager' must be the name of a database");
		return source;
	}

	/**
	 * Return in which databases a key can be that nothing tells more of.
	 * @param manager the transaction manager of the only one, {@code null} for all
	 * @throws IllegalArgumentException if there is no such database
	 */
	Set<String> managers(@Nullable String manager) {
		return databases(manager).keySet();
	}

	private boolean hasMethod(String key) {
		JobTable table = table();
		JobId id = find(key, table, JobRegistry.NONE);
		return id != null && table.ids().contains(id);
	}

	private Optional<JobAtMoment> getOwnJob(String key, boolean showUnsanitized) {
		JobRegistry records = records();
		JobTable table = table();
		JobId id = find(key, table, records);
		if (id == null) {
			return Optional.empty();
		}
		Redaction redaction = redaction(showUnsanitized);
		LockActivity activity = this.monitor.locks(table.numbers(id), false);
		LockTable locks = new LockTable(activity, redaction::query);
		JobDescriptor job = JobList.describe(List.of(id), table, records, locks, redaction).get(0);
		List<RunDescriptor> runs = (job.keys() == null && !table.isTemplate(id))
				? records.runs(id, JobList.RUNS, redaction)
				: records.runs(id, ALL, false, 0, JobList.RUNS, redaction).runs();
		return Optional.of(new JobAtMoment(moment(activity), new JobDetailsDescriptor(job, runs)));
	}

	/**
	 * Find the job that a text means. Methods of this instance go before what is only
	 * recorded.
	 */
	private @Nullable JobId find(String text, JobTable table, JobRegistry records) {
		if (JobId.isId(text)) {
			JobId id = JobId.parse(text);
			return table.ids()
				.stream()
				.filter((one) -> one.text().equals(text))
				.findFirst()
				.orElseGet(() -> (id != null) ? records.known(List.of(id)).stream().findFirst().orElse(null) : null);
		}
		String namespace = this.application.namespace();
		Optional<JobId> ofMethod = table.ids()
			.stream()
			.filter((id) -> id.key().equals(text) || (id.namespace() + "/" + id.key()).equals(text))
			.min(Comparator.comparing((id) -> !id.namespace().equals(namespace)));
		if (ofMethod.isPresent()) {
			return ofMethod.get();
		}
		List<JobId> known = records.known(meanings(text, namespace));
		Assert.isTrue(known.size() <= 1, () -> "'" + AdvisoryLockKey.display(text)
				+ "' may mean several jobs; name one of them by its id: " + known.stream().map(JobId::text).toList());
		return known.isEmpty() ? null : known.get(0);
	}

	/**
	 * Return what a text may mean as a key that somebody holds: a job, or one that
	 * nothing is recorded of.
	 * @param job the job of that text, {@code null} if there is none
	 * @throws IllegalArgumentException if it is one that is kept for others
	 */
	List<AdvisoryLockKey> keys(String text, @Nullable JobDescriptor job) {
		List<JobId> ids = (job != null) ? List.of(new JobId(job.namespace(), job.key())) : JobId.isId(text) ? List.of()
				: meanings(text, this.application.namespace()).stream().filter((id) -> !id.key().isBlank()).toList();
		return ids.stream()
			.map((id) -> LockRequest.of(id.key()).key(id.namespace(), this.application.keyFactory()))
			.toList();
	}

	private static List<JobId> meanings(String text, String namespace) {
		int slash = text.indexOf('/');
		return Stream
			.of(new JobId(namespace, text), new JobId("", text),
					new JobId(text.substring(0, Math.max(0, slash)), text.substring(slash + 1)))
			.distinct()
			.toList();
	}

	/**
	 * Return when which instance ran some jobs.
	 * @param jobs the jobs
	 * @param lookBack how far to look back
	 * @param slot the shortest time that is told apart
	 * @return the periods, in the order of the jobs and of their start
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public List<RunPeriod> getPeriods(List<JobDescriptor> jobs, Duration lookBack, Duration slot) {
		return this.databases.get()
			.entrySet()
			.stream()
			.flatMap((database) -> database.getValue()
				.getOwnPeriods(jobs.stream()
					.filter((job) -> job.transactionManager() == null
							|| job.transactionManager().equals(database.getKey()))
					.toList(), lookBack, slot)
				.stream())
			.toList();
	}

	private List<RunPeriod> getOwnPeriods(List<JobDescriptor> jobs, Duration lookBack, Duration slot) {
		List<JobId> ids = jobs.stream().map((job) -> new JobId(job.namespace(), job.key())).distinct().toList();
		return records().periods(ids, lookBack, slot);
	}

	/**
	 * A job, and who tells of it.
	 *
	 * @param moment when and by whom it was told, without any job or lock
	 * @param job the job
	 */
	public record JobAtMoment(AdvisoryLocksDescriptor moment, JobDetailsDescriptor job) {

	}

}
