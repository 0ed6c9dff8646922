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

package io.github.advisorylock.ledger.jdbc;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.LockInstance;
import io.github.advisorylock.interceptor.CronTicks;

/**
 * Jobs of which nothing but their names is known, for ledgers without annotated methods.
 *
 * @param methods the methods that have them
 */
record NamedJobs(Supplier<? extends Collection<JobFinder.LedgerMethod>> methods) implements LedgerOpening.Methods {

	/**
	 * Create a ledger of an instance, with its jobs.
	 */
	static PostgresAdvisoryLockLedger ledger(DataSource dataSource, LedgerSettings settings, String namespace,
			String instance, Supplier<? extends Collection<JobFinder.LedgerMethod>> methods) {
		return new PostgresAdvisoryLockLedger(dataSource, settings, namespace, new LockInstance(instance),
				new NamedJobs(methods), (event) -> {
				});
	}

	static JobFacts unknown(JobName name) {
		return new JobFacts(name, null, null, null, null, null, null, null, true, false, 0, CronTicks.Changes.NONE);
	}

	@Override
	public Collection<JobFinder.LedgerMethod> withFixedKey() {
		return List.copyOf(this.methods.get());
	}

	@Override
	public List<JobFacts> jobs() {
		return this.methods.get().stream().map((method) -> unknown(method.name())).toList();
	}

	@Override
	public void reschedule(Map<JobName, CronTicks.Changes> changes, boolean certain) {
	}

	@Override
	public void whenRescheduled(Runnable listener) {
	}

}
