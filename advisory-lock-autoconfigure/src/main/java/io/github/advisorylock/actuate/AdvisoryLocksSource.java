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
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDetailsDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.jdbc.JobHistory;
import io.github.advisorylock.jdbc.JobName;
import io.github.advisorylock.jdbc.LockActivity;
import io.github.advisorylock.jdbc.PostgresLockMonitor;
import io.github.advisorylock.jdbc.RunPeriod;

import org.springframework.boot.actuate.endpoint.Sanitizer;

/**
 * Puts together what the methods of this instance, the ledger and the server's table of
 * locks know.
 *
 * @since 0.1.0
 */
public class AdvisoryLocksSource {

	private static final int RUNS = 60;

	private final GuardedApplication application;

	private final PostgresLockMonitor monitor;

	private final BooleanSupplier ledgerInUse;

	private final CallCounts counts;

	private final Sanitizer sanitizer;

	/**
	 * Create a source.
	 * @param application what this instance guards
	 * @param monitor looks at locks and runs
	 * @param ledgerInUse whether there are runs to look at
	 * @param counts how the calls of this instance ended
	 * @param sanitizer hides values
	 */
	public AdvisoryLocksSource(GuardedApplication application, PostgresLockMonitor monitor, BooleanSupplier ledgerInUse,
			CallCounts counts, Sanitizer sanitizer) {
		this.application = application;
		this.monitor = monitor;
		this.ledgerInUse = ledgerInUse;
		this.counts = counts;
		this.sanitizer = sanitizer;
	}

	/**
	 * Return jobs and locks as they are now.
	 * @param showUnsanitized whether values may be seen
	 * @return all jobs and locks
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public AdvisoryLocksDescriptor getLocks(boolean showUnsanitized) {
		Redaction redaction = new Redaction(this.sanitizer, showUnsanitized);
		boolean ledger = this.ledgerInUse.getAsBoolean();
		List<JobHistory> histories = ledger ? this.monitor.jobs(RUNS) : List.of();
		LockActivity activity = this.monitor.locks();
		LockTable locks = new LockTable(activity, redaction::query);
		JobTable jobs = new JobTable(this.application, this.counts, locks, redaction);
		List<JobDescriptor> descriptors = jobs.describe(histories)
			.stream()
			.sorted(Comparator.comparing(JobDescriptor::namespace).thenComparing(JobDescriptor::key))
			.toList();
		return new AdvisoryLocksDescriptor(activity.time(), activity.skew().truncatedTo(ChronoUnit.MILLIS),
				InstanceName.get(), this.application.settings().namespace(), activity.database(), ledger, descriptors,
				locks.all());
	}

	/**
	 * Return one job as it is now.
	 * @param key its key, or its namespace, a slash and its key
	 * @param showUnsanitized whether values may be seen
	 * @return the job, or empty if there is none of that key
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	public Optional<JobDetailsDescriptor> getJob(String key, boolean showUnsanitized) {
		return find(getLocks(showUnsanitized).jobs(), key)
			.map((job) -> new JobDetailsDescriptor(job, getRuns(job, showUnsanitized)));
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
		return this.monitor.runs(job.namespace(), job.key(), RUNS)
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
		return this.monitor.periods(names, lookBack, slot);
	}

	private Optional<JobDescriptor> find(List<JobDescriptor> jobs, String key) {
		String namespace = this.application.settings().namespace();
		return jobs.stream()
			.filter((job) -> job.key().equals(key) || (job.namespace() + "/" + job.key()).equals(key))
			.min(Comparator.comparing((JobDescriptor job) -> !job.namespace().equals(namespace)));
	}

}
