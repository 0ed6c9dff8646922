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

package io.github.advisorylock.benchmarks;

import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * An application whose start is timed, and the one that it is compared with.
 */
enum StartupVariant {

	EMPTY("JDBC only", Starter.NONE, null),

	STARTER("with the starter", Starter.OURS, EMPTY),

	QUERY("JDBC only, one query at start", Starter.NONE, null, EmptyApplication.QueryAtStart.class),

	STARTER_QUERY("with the starter, one query at start", Starter.OURS, QUERY, EmptyApplication.QueryAtStart.class),

	TRANSACTIONAL("JDBC only, one query at start, one @Transactional", Starter.NONE, QUERY,
			EmptyApplication.QueryAtStart.class, EmptyApplication.OneTransaction.class),

	STARTER_JOB("with the starter, one query at start, one @SingleRunner", Starter.OURS, TRANSACTIONAL,
			EmptyApplication.QueryAtStart.class, EmptyApplication.OneJob.class),

	STARTER_LEDGER("with the starter, one query at start, one recorded @SingleRunner", Starter.OURS, TRANSACTIONAL,
			EmptyApplication.QueryAtStart.class, EmptyApplication.OneRecordedJob.class),

	STARTER_LEADER("with the starter, one query at start, one @LeaderOnly", Starter.OURS, TRANSACTIONAL,
			EmptyApplication.QueryAtStart.class, EmptyApplication.OneLeader.class),

	NIGHTLY("JDBC only, one query at start, one @Scheduled", Starter.NONE, null, EmptyApplication.QueryAtStart.class,
			NightlyJobs.Everywhere.class),

	NIGHTLY_UNUSED("the same with the starter", Starter.OURS, NIGHTLY, EmptyApplication.QueryAtStart.class,
			NightlyJobs.Everywhere.class),

	NIGHTLY_GUARDED("the same with the starter, a @SingleRunner", Starter.OURS, NIGHTLY,
			EmptyApplication.QueryAtStart.class, NightlyJobs.Guarded.class),

	NIGHTLY_SHEDLOCK("the same with ShedLock", Starter.SHEDLOCK, NIGHTLY, EmptyApplication.QueryAtStart.class,
			NightlyJobs.ShedLock.class),

	NIGHTLY_QUARTZ("a job of Quartz, in the database, clustered", Starter.QUARTZ, NIGHTLY,
			EmptyApplication.QueryAtStart.class, NightlyJobs.Quartz.class),

	NIGHTLY_DB_SCHEDULER("a task of db-scheduler", Starter.DB_SCHEDULER, NIGHTLY, EmptyApplication.QueryAtStart.class,
			NightlyJobs.DbScheduler.class),

	NIGHTLY_JOBRUNR("a job of JobRunr", Starter.JOBRUNR, NIGHTLY, EmptyApplication.QueryAtStart.class,
			NightlyJobs.JobRunr.class),

	BEANS_100("with the starter, 100 beans of 100 methods", null, new GeneratedBeans(100, 100, GeneratedBeans.PLAIN)),

	TRANSACTIONAL_100("the same, each method @Transactional", BEANS_100,
			new GeneratedBeans(100, 100, GeneratedBeans.TRANSACTIONAL)),

	JOBS_100("the same, each method a @SingleRunner", BEANS_100, new GeneratedBeans(100, 100, GeneratedBeans.GUARDED)),

	BEANS_1000("with the starter, 1,000 beans of 10 methods", null, new GeneratedBeans(1000, 10, GeneratedBeans.PLAIN)),

	TRANSACTIONAL_1000("the same, each method @Transactional", BEANS_1000,
			new GeneratedBeans(1000, 10, GeneratedBeans.TRANSACTIONAL)),

	JOBS_1000("the same, each method a @SingleRunner", BEANS_1000,
			new GeneratedBeans(1000, 10, GeneratedBeans.GUARDED));

	private final String description;

	private final Starter starter;

	private final @Nullable StartupVariant baseline;

	@SuppressWarnings("ImmutableEnumChecker") // a record of numbers
	private final @Nullable GeneratedBeans generated;

	@SuppressWarnings("ImmutableEnumChecker") // made by List.of
	private final List<Class<?>> sources;

	StartupVariant(String description, Starter starter, @Nullable StartupVariant baseline, Class<?>... sources) {
		this.description = description;
		this.starter = starter;
		this.baseline = baseline;
		this.sources = List.of(sources);
		this.generated = null;
	}

	StartupVariant(String description, @Nullable StartupVariant baseline, GeneratedBeans generated) {
		this.description = description;
		this.starter = Starter.OURS;
		this.baseline = baseline;
		this.sources = List.of(EmptyApplication.QueryAtStart.class);
		this.generated = generated;
	}

	static List<StartupVariant> ofFewMethods() {
		return Arrays.stream(values()).filter((variant) -> variant.generated == null).toList();
	}

	/**
	 * Return the applications of many methods.
	 * @param quick whether those of the most beans are enough
	 */
	static List<StartupVariant> ofManyMethods(boolean quick) {
		return quick ? List.of(BEANS_1000, JOBS_1000)
				: List.of(BEANS_100, TRANSACTIONAL_100, JOBS_100, BEANS_1000, TRANSACTIONAL_1000, JOBS_1000);
	}

	@Nullable GeneratedBeans generated() {
		return this.generated;
	}

	String description() {
		return this.description;
	}

	Starter starter() {
		return this.starter;
	}

	@Nullable StartupVariant baseline() {
		return this.baseline;
	}

	List<String> sources() {
		return this.sources.stream().map(Class::getName).toList();
	}

}
