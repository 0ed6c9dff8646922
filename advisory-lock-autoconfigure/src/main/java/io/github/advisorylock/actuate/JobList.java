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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Kind;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LeaderDescriptor;
import io.github.advisorylock.actuate.JobRegistry.JobPage;
import io.github.advisorylock.actuate.JobRegistry.Place;
import io.github.advisorylock.actuate.JobRegistry.RecordedInstance;
import io.github.advisorylock.actuate.JobRegistry.RecordedJob;
import io.github.advisorylock.actuate.OverviewDescriptor.JobsDescriptor;
import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.monitor.LockActivity;
import io.github.advisorylock.monitor.LockMonitor;
import io.github.advisorylock.monitor.LockNumber;
import io.github.advisorylock.monitor.LockWaits;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of one database that are asked for. Where there is a ledger, it finds and
 * sorts them; else they are those of the methods of this instance.
 */
final class JobList {

	/**
	 * How many of its last runs a job comes with.
	 */
	static final int RUNS = 60;

	private static final int LATEST_KEYS = 5;

	private final GuardedApplication application;

	private final LockMonitor monitor;

	private final JobRegistry records;

	private final JobTable table;

	private final Redaction redaction;

	private final boolean allLocks;

	private @Nullable LockActivity activity;

	/**
	 * Create a list for one answer.
	 * @param allLocks whether all locks are told beside the jobs
	 */
	JobList(GuardedApplication application, LockMonitor monitor, JobRegistry records, JobTable table,
			Redaction redaction, boolean allLocks) {
		this.application = application;
		this.monitor = monitor;
		this.records = records;
		this.table = table;
		this.redaction = redaction;
		this.allLocks = allLocks;
	}

	/**
	 * Find the jobs of a page that several databases have parts of.
	 */
	static Pages pages(Map<String, JobList> lists, JobFilter filter) {
		Map<String, JobPage> parts = new LinkedHashMap<>();
		if (lists.size() == 1) {
			lists.forEach((name, list) -> parts.put(name, list.page(filter, filter.offset(), filter.size())));
			return new Pages(parts, Map.of());
		}
		lists.forEach((name, list) -> parts.put(name, list.page(filter, 0, filter.offset() + filter.size())));
		return Pages.merge(parts, filter);
	}

	private JobPage page(JobFilter filter, int offset, int limit) {
		if (this.records.isInUse()) {
			return this.records.page(this.table.own(), this.table::key, filter, offset, limit);
		}
		LockTable locks = new LockTable(activity(), this.redaction::query);
		List<Place> places = this.table.ids()
			.stream()
			.map((id) -> this.table.describe(id, locks, null, null))
			.filter((jobs) -> jobs.stream().anyMatch(filter::matches))
			.map((jobs) -> new Place(id(jobs.get(0)), filter.rank(jobs.get(0))))
			.sorted(Pages.ORDER)
			.toList();
		return new JobPage(this.table.ids().size(), places.size(), places.stream().skip(offset).limit(limit).toList());
	}

	private static JobId id(JobDescriptor job) {
		return new JobId(job.namespace(), job.key());
	}

	/**
	 * Return the locks of the methods of this instance, and others if they are wanted.
	 */
	private LockActivity activity() {
		if (this.activity == null) {
			this.activity = this.monitor.locks(this.table.numbers(), this.allLocks);
		}
		return this.activity;
	}

	/**
	 * Not all locks are told where there are many: have those of some jobs among them.
	 */
	private LockActivity activity(JobPage page) {
		LockActivity activity = activity();
		Set<LockNumber> numbers = numbers(page);
		return (numbers.isEmpty() || activity.total() <= activity.entries().size()) ? activity
				: activity.with(numbers, this.monitor.locks(numbers, false));
	}

	private Set<LockNumber> numbers(JobPage page) {
		return page.ids().stream().map((id) -> LockNumber.of(this.table.key(id))).collect(Collectors.toSet());
	}

	/**
	 * Describe the jobs of a page, and nothing else.
	 */
	JobsDescriptor jobs(JobPage page, JobFilter filter) {
		LockActivity activity = this.records.isInUse() ? this.monitor.locks(numbers(page), false) : activity();
		List<JobDescriptor> jobs = describe(page.ids(), this.table, this.records,
				new LockTable(activity, this.redaction::query), this.redaction);
		return new JobsDescriptor(activity.time(), InstanceName.get(), this.application.namespace(),
				this.records.isInUse(), page.seen(), page.total(), filter.page(), filter.size(), filter.sort(),
				this.records.pauseOfAll(this.application.namespace()), jobs);
	}

	/**
	 * Describe the jobs of a page, and all locks.
	 */
	AdvisoryLocksDescriptor locks(JobPage page, JobFilter filter) {
		LockActivity activity = activity(page);
		LockWaits waits = this.monitor.waits();
		LockTable locks = new LockTable(activity, this.redaction::query);
		List<RecordedInstance> instances = this.records.instances(this.application.namespace());
		Leaders leaders = new Leaders(this.application, instances);
		leaders.keys().forEach((key) -> locks.name(key, Kind.LEADER, null));
		List<LeaderDescriptor> leading = leaders.describe(locks);
		List<JobDescriptor> jobs = describe(page.ids(), this.table, this.records, locks, this.redaction);
		this.table.nameOtherLocks(locks, this.records);
		return new AdvisoryLocksDescriptor(activity.time(), activity.skew().truncatedTo(ChronoUnit.MILLIS),
				InstanceName.get(), this.application.namespace(), activity.database(), this.records.isInUse(),
				page.seen(), page.total(), filter.page(), filter.size(), jobs, activity.total(), locks.all(),
				locks.waits(waits), Leaders.describe(instances, leading), leading, null);
	}

	/**
	 * Describe some jobs, in their order.
	 */
	static List<JobDescriptor> describe(List<JobId> ids, JobTable table, JobRegistry records, LockTable locks,
			Redaction redaction) {
		if (ids.isEmpty()) {
			table.nameLocks(locks, List.of());
			return List.of();
		}
		Map<JobId, RecordedJob> jobs = records.histories(ids, RUNS, redaction)
			.stream()
			.collect(Collectors.toMap(RecordedJob::id, Function.identity(), (one, same) -> same));
		List<JobId> parents = ids.stream().filter((id) -> !jobs.containsKey(id) || table.isTemplate(id)).toList();
		Map<JobId, KeysDescriptor> keys = parents.isEmpty() ? Map.of() : records.keys(parents, LATEST_KEYS, redaction);
		table.nameLocks(locks, jobs.values());
		return ids.stream().flatMap((id) -> table.describe(id, locks, jobs.get(id), keys.get(id)).stream()).toList();
	}

	/**
	 * The parts of a page.
	 *
	 * @param parts what each database has of it
	 * @param order the place of each job among all, by database and id; empty where there
	 * is one database
	 */
	record Pages(Map<String, JobPage> parts, Map<List<String>, Integer> order) {

		private static final Comparator<Place> ORDER = Comparator
			.comparing(Place::rank, Comparator.nullsLast(Comparator.<Double>naturalOrder()))
			.thenComparing(Place::id);

		private static Pages merge(Map<String, JobPage> heads, JobFilter filter) {
			Map<String, Integer> taken = new LinkedHashMap<>();
			Map<String, JobPage> parts = new LinkedHashMap<>();
			Map<List<String>, Integer> order = new LinkedHashMap<>();
			heads.forEach((name, head) -> {
				taken.put(name, 0);
				parts.put(name, new JobPage(head.seen(), head.total(), new ArrayList<>()));
			});
			for (int i = 0; i < filter.offset() + filter.size(); i++) {
				String next = heads.keySet()
					.stream()
					.filter((name) -> head(heads, taken, name) != null)
					.min(Comparator.comparing((name) -> head(heads, taken, name), ORDER))
					.orElse(null);
				if (next == null) {
					break;
				}
				Place place = Objects.requireNonNull(head(heads, taken, next));
				taken.merge(next, 1, Integer::sum);
				if (i >= filter.offset()) {
					Objects.requireNonNull(parts.get(next)).places().add(place);
					order.put(List.of(next, place.id().text()), i);
				}
			}
			return new Pages(parts, order);
		}

		private static @Nullable Place head(Map<String, JobPage> heads, Map<String, Integer> taken, String name) {
			List<Place> places = Objects.requireNonNull(heads.get(name)).places();
			int next = Objects.requireNonNull(taken.get(name));
			return (next < places.size()) ? places.get(next) : null;
		}

		JobPage of(String database) {
			return this.parts.getOrDefault(database, JobPage.NONE);
		}

		/**
		 * Put the jobs of all databases in one order.
		 */
		List<JobDescriptor> sort(Stream<JobDescriptor> jobs) {
			return jobs
				.sorted(Comparator.comparing((job) -> this.order
					.getOrDefault(List.of(String.valueOf(job.transactionManager()), job.id()), Integer.MAX_VALUE)))
				.toList();
		}

	}

}
