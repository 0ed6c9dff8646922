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

package io.github.advisorylock.ledger;

import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The jobs of this application, which the ledger is told of whenever a schedule may have
 * changed.
 */
final class RegisteredJobs {

	private static final int NEVER = -1;

	private final LedgerConnections connections;

	private final Supplier<List<JobFacts>> jobs;

	/**
	 * Tells how often what was registered may have changed since.
	 */
	private final IntSupplier changedSchedules;

	/**
	 * What that told when the jobs were registered.
	 */
	private volatile int registered = NEVER;

	/**
	 * By their names: several methods may have one key.
	 */
	private volatile Map<JobName, JobFacts> known = Map.of();

	RegisteredJobs(LedgerConnections connections, Supplier<List<JobFacts>> jobs, IntSupplier changedSchedules) {
		this.connections = connections;
		this.jobs = jobs;
		this.changedSchedules = changedSchedules;
	}

	/**
	 * Add the jobs, in a transaction of its own: left for later where the current one has
	 * what may be the only connection.
	 */
	void register(JobRepository repository) {
		int changes = this.changedSchedules.getAsInt();
		List<JobFacts> jobs = this.jobs.get().stream().filter(this::hasRoom).toList();
		if (!jobs.isEmpty() && this.connections.areInTransaction()) {
			return;
		}
		this.known = jobs.stream().collect(Collectors.toMap(JobFacts::name, (job) -> job, (one, other) -> one));
		if (!jobs.isEmpty()) {
			repository.register(jobs);
		}
		this.registered = changes;
	}

	/**
	 * A key that is never recorded may be one that the database can't have.
	 */
	private boolean hasRoom(JobFacts job) {
		String name = job.name().toString();
		return (job.recorded() && !job.template()) || this.connections.text().of(name).equals(name);
	}

	boolean areRegistered() {
		return this.registered == this.changedSchedules.getAsInt();
	}

	@Nullable JobFacts find(JobName name) {
		return this.known.get(name);
	}

}
