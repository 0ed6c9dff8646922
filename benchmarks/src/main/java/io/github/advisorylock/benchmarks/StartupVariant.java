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

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * An application whose start is timed, and the one that it is compared with.
 */
enum StartupVariant {

	EMPTY("JDBC only", false, null),

	STARTER("with the starter", true, EMPTY),

	QUERY("JDBC only, one query at start", false, null, EmptyApplication.QueryAtStart.class),

	STARTER_QUERY("with the starter, one query at start", true, QUERY, EmptyApplication.QueryAtStart.class),

	TRANSACTIONAL("JDBC only, one query at start, one @Transactional", false, QUERY,
			EmptyApplication.QueryAtStart.class, EmptyApplication.OneTransaction.class),

	STARTER_JOB("with the starter, one query at start, one @SingleRunner", true, TRANSACTIONAL,
			EmptyApplication.QueryAtStart.class, EmptyApplication.OneJob.class);

	private final String description;

	private final boolean starter;

	private final @Nullable StartupVariant baseline;

	@SuppressWarnings("ImmutableEnumChecker") // made by List.of
	private final List<Class<?>> sources;

	StartupVariant(String description, boolean starter, @Nullable StartupVariant baseline, Class<?>... sources) {
		this.description = description;
		this.starter = starter;
		this.baseline = baseline;
		this.sources = List.of(sources);
	}

	String description() {
		return this.description;
	}

	boolean starter() {
		return this.starter;
	}

	@Nullable StartupVariant baseline() {
		return this.baseline;
	}

	List<String> sources() {
		return this.sources.stream().map(Class::getName).toList();
	}

}
