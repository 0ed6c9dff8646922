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
import java.util.Map;

/**
 * How many classes the library may add to what an application loads until it has started:
 * the time of a start follows from that, and wavers too much to be guarded itself.
 */
enum GuardedStart {

	/**
	 * The starter, and nothing that uses it.
	 */
	STARTER(StartupVariant.STARTER, 139),

	/**
	 * The starter and a guarded method, beside one with a transaction.
	 */
	ONE_METHOD(StartupVariant.STARTER_JOB, 459);

	/**
	 * How many classes more are within what differs from start to start.
	 */
	private static final double MARGIN = 1.02;

	private final StartupVariant variant;

	private final int classes;

	GuardedStart(StartupVariant variant, int classes) {
		this.variant = variant;
		this.classes = classes;
	}

	/**
	 * Return the applications to start.
	 */
	static List<StartupVariant> variants() {
		return List.of(StartupVariant.EMPTY, StartupVariant.STARTER, StartupVariant.TRANSACTIONAL,
				StartupVariant.STARTER_JOB);
	}

	/**
	 * Return how many classes were added.
	 */
	int added(Map<StartupVariant, List<StartupMeasurement.Start>> starts) {
		StartupVariant baseline = this.variant.baseline();
		if (baseline == null) {
			throw new IllegalStateException("There is nothing to compare with: " + this);
		}
		return classes(starts, this.variant) - classes(starts, baseline);
	}

	private static int classes(Map<StartupVariant, List<StartupMeasurement.Start>> starts, StartupVariant variant) {
		return starts.getOrDefault(variant, List.of())
			.stream()
			.mapToInt(StartupMeasurement.Start::classes)
			.min()
			.orElseThrow();
	}

	String description() {
		return this.variant.description();
	}

	/**
	 * Return how many classes may be added.
	 */
	int most() {
		return (int) (this.classes * MARGIN);
	}

}
