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

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDetailsDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.ledger.JobName;
import io.github.advisorylock.ledger.JobRepository;
import io.github.advisorylock.ledger.JobRepository.JobHistory;
import io.github.advisorylock.ledger.JobRepository.JobNamesPage;
import io.github.advisorylock.ledger.JobRepository.KeysOfTemplate;
import io.github.advisorylock.ledger.JobRepository.RunPeriod;
import io.github.advisorylock.ledger.LedgerCapacity;
import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.monitor.LockActivity;
import io.github.advisorylock.monitor.LockMonitor;
import io.github.advisorylock.monitor.LockNumber;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.util.Assert;

/**
 * Puts together what the methods of this instance, the ledger and the server's table of
 * locks know.
 *
 * @since 0.1.0
 */
public class AdvisoryLocksSource {

	private static final int RUNS = 60;

	private static final int LATEST_KEYS = 5;

	private final GuardedApplication application;

	private final LockMonitor locks;

	private final @Nullable JobRepository jobs;

	private final BooleanSupplier ledgerInUse;

	private final CallCounts counts;

	private final Sanitizer sanitizer;

	/**
	 * Create a source.
	 * @param application what this instance guards
	 * @param locks looks at locks
	 * @param jobs looks at runs, {@code null} without a ledger
	 * @param ledgerInUse whether there are runs to look at
	 * @param counts how the calls of this instance ended
	 * @param sanitizer hides values
	 */
	public AdvisoryLocksSource(GuardedApplication application, LockMonitor locks, @Nullable JobRepository jobs,
			BooleanSupplier ledgerInUse, CallCounts counts, Sanitizer sanitizer) {
		this.application = application;
		this.locks = locks;
		this.jobs = jobs;
		this.ledgerInUse = ledgerInUse;
		this.counts = counts;
		this.sanitizer = sanitizer;
	}

	private JobRepository jobs() {
		Assert.state(this.jobs != null, "'jobs' must not be null");
		return this.jobs;
	}

	/**
	 * Return jobs and locks as they are now.
	 * @param filter which jobs
	 * @param showUnsanitized whether values may be seen
	 * @return a page of jobs, and the locks
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public AdvisoryLocksDescriptor getLocks(JobFilter filter, boolean showUnsanitized) {
		boolean ledger = this.ledgerInUse.getAsBoolean();
		Redaction redaction = new Redaction(this.sanitizer, showUnsanitized);
		JobTable table = new JobTable(this.application, this.counts, redaction);
		LockActivity activity = this.locks.locks(table.numbers(), true);
		List<JobName> templates = ledger ? jobs().templates() : List.of();
		List<JobName> own = find(filter, table, templates, new LockTable(activity, redaction::query));
		JobNamesPage alone = ledger ? jobs().alone(table.names(), filter.text(), filter.state(),
				Math.max(0, filter.offset() - own.size()), filter.size() - (int) page(own.stream(), filter).count())
				: JobNamesPage.NONE;
		List<JobName> names = Stream.concat(page(own.stream(), filter), alone.names().stream()).toList();
		LockTable locks = new LockTable(withLocksOf(alone.names(), table, activity), redaction::query);
		List<JobDescriptor> jobs = describe(names, new HashSet<>(templates), table, locks);
		int others = (int) templates.stream().filter((template) -> !table.names().contains(template)).count();
		return new AdvisoryLocksDescriptor(activity.time(), activity.skew().truncatedTo(ChronoUnit.MILLIS),
				InstanceName.get(), this.application.settings().namespace(), activity.database(), ledger,
				table.names().size() + others + alone.seen(), own.size() + alone.total(), filter.page(), filter.size(),
				jobs, activity.total(), locks.all());
	}

	/**
	 * Return the jobs of this instance, and the templates of others, that are asked for.
	 */
	private List<JobName> find(JobFilter filter, JobTable table, List<JobName> templates, LockTable locks) {
		Map<JobName, LedgerJob> rows = new HashMap<>();
		if (this.ledgerInUse.getAsBoolean()) {
			jobs().jobs(table.names()).forEach((job) -> rows.put(JobName.of(job), job));
		}
		table.nameLocks(locks, List.of());
		return Stream.concat(table.names().stream(), templates.stream())
			.distinct()
			.filter((name) -> table.describe(name, locks, history(rows.get(name)), null)
				.stream()
				.anyMatch(filter::matches))
			.sorted(JobTable.ORDER)
			.toList();
	}

	private static @Nullable JobHistory history(@Nullable LedgerJob job) {
		return (job != null) ? new JobHistory(job, null, "") : null;
	}

	private static Stream<JobName> page(Stream<JobName> names, JobFilter filter) {
		return names.skip(filter.offset()).limit(filter.size());
	}

	/**
	 * Not all locks are told where there are many: have those of some jobs among them.
	 */
	private LockActivity withLocksOf(List<JobName> names, JobTable table, LockActivity activity) {
		if (names.isEmpty() || activity.total() <= activity.entries().size()) {
			return activity;
		}
		Set<LockNumber> numbers = names.stream()
			.map((name) -> LockNumber.of(table.key(name)))
			.collect(Collectors.toSet());
		return activity.with(numbers, this.locks.locks(numbers, false));
	}

	private List<JobDescriptor> describe(List<JobName> names, Set<JobName> templates, JobTable table, LockTable locks) {
		boolean ledger = this.ledgerInUse.getAsBoolean();
		Map<JobName, JobHistory> histories = new LinkedHashMap<>();
		Map<JobName, KeysOfTemplate> keys = new HashMap<>();
		if (ledger) {
			jobs().histories(names, RUNS).forEach((job) -> histories.put(JobName.of(job.job()), job));
			List<JobName> parents = names.stream()
				.filter((name) -> !histories.containsKey(name) || templates.contains(name) || table.isTemplate(name))
				.toList();
			jobs().keys(parents, LATEST_KEYS).forEach((template) -> keys.put(template.name(), template));
		}
		table.nameLocks(locks, histories.values());
		return names.stream()
			.sorted(JobTable.ORDER)
			.flatMap((name) -> table.describe(name, locks, histories.get(name), keys.get(name)).stream())
			.toList();
	}

	/**
	 * Return one job as it is now.
	 * @param key its id, its key, or its namespace, a slash and its key
	 * @param showUnsanitized whether values may be seen
	 * @return the job, or empty if there is none of that key
	 * @throws IllegalArgumentException if several jobs could be meant
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public Optional<JobDetailsDescriptor> getJob(String key, boolean showUnsanitized) {
		Redaction redaction = new Redaction(this.sanitizer, showUnsanitized);
		JobTable table = new JobTable(this.application, this.counts, redaction);
		JobName name = find(key, table);
		if (name == null) {
			return Optional.empty();
		}
		Set<LockNumber> numbers = table.numbers(name);
		LockTable locks = new LockTable(this.locks.locks(numbers, false), redaction::query);
		JobDescriptor job = describe(List.of(name), Set.of(), table, locks).get(0);
		return Optional.of(new JobDetailsDescriptor(job, getRuns(job, showUnsanitized)));
	}

	/**
	 * Find the job that a text means. Methods of this instance go before what only the
	 * ledger knows.
	 */
	private @Nullable JobName find(String text, JobTable table) {
		if (JobId.isId(text)) {
			JobName name = JobId.parse(text);
			return table.names()
				.stream()
				.filter((one) -> JobId.of(one).equals(text))
				.findFirst()
				.orElseGet(() -> (name != null) ? known(List.of(name)).stream().findFirst().orElse(null) : null);
		}
		String namespace = this.application.settings().namespace();
		Optional<JobName> ofMethod = table.names()
			.stream()
			.filter((name) -> name.key().equals(text) || (name.namespace() + "/" + name.key()).equals(text))
			.min(Comparator.comparing((name) -> !name.namespace().equals(namespace)));
		if (ofMethod.isPresent()) {
			return ofMethod.get();
		}
		List<JobName> known = known(meanings(text, namespace));
		Assert.isTrue(known.size() <= 1, () -> "'" + AdvisoryLockKey.display(text)
				+ "' may mean several jobs; name one of them by its id: " + known.stream().map(JobId::of).toList());
		return known.isEmpty() ? null : known.get(0);
	}

	private static List<JobName> meanings(String text, String namespace) {
		int slash = text.indexOf('/');
		return Stream
			.of(new JobName(namespace, text), new JobName("", text),
					new JobName(text.substring(0, Math.max(0, slash)), text.substring(slash + 1)))
			.distinct()
			.toList();
	}

	/**
	 * Return those of some names that the ledger knows, as a job or as a template.
	 */
	private List<JobName> known(List<JobName> names) {
		if (!this.ledgerInUse.getAsBoolean()) {
			return List.of();
		}
		List<JobName> asked = names.stream().filter(AdvisoryLocksSource::hasRoom).toList();
		List<JobName> jobs = jobs().jobs(asked).stream().map(JobName::of).toList();
		return !jobs.isEmpty() ? jobs : jobs().keys(asked, 1).stream().map(KeysOfTemplate::name).toList();
	}

	/**
	 * What can't be stored, the ledger can't be asked for either.
	 */
	private static boolean hasRoom(JobName name) {
		return !name.key().isBlank() && name.namespace().indexOf('/') < 0
				&& LedgerCapacity.findExcess(AdvisoryLockKey.of(name.namespace(), name.key())) == null
				&& StandardCharsets.UTF_8.newEncoder().canEncode(name.namespace() + name.key());
	}

	/**
	 * Return the last 60 runs of a job.
	 * @param job the job
	 * @param showUnsanitized whether values may be seen
	 * @return the runs, the latest first; empty without a ledger
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public List<RunDescriptor> getRuns(JobDescriptor job, boolean showUnsanitized) {
		if (!this.ledgerInUse.getAsBoolean()) {
			return List.of();
		}
		Redaction redaction = new Redaction(this.sanitizer, showUnsanitized);
		return jobs().runs(job.namespace(), job.key(), RUNS)
			.stream()
			.map((run) -> JobTable.describe(run, redaction))
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
		if (!this.ledgerInUse.getAsBoolean()) {
			return List.of();
		}
		List<JobName> names = jobs.stream().map(JobActions::name).distinct().toList();
		return jobs().periods(names, lookBack, slot);
	}

}
