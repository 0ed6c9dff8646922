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

package io.github.advisorylock.benchmarks.fleet;

import java.util.List;
import java.util.Locale;

/**
 * What some rounds have shown.
 *
 * @param path how the instances reach the server
 * @param instances how many they are
 * @param use how they share the jobs
 * @param jobs how many jobs there are
 * @param known after how many nanoseconds each instance knew of all jobs, in order
 * @param runs how often jobs were done in a round
 * @param costs what each round cost the server
 * @param errors what instances had to complain of
 */
record Result(String path, int instances, Use use, int jobs, List<Long> known, int runs, List<Cost> costs,
		List<String> errors) {

	/**
	 * Return when half, all but a hundredth, and the last of the instances knew, and how
	 * many errors there were.
	 */
	String formatTimes() {
		String complaints = this.errors.isEmpty() ? "" : ", " + this.errors.size() + " errors";
		return millis(0.5) + " / " + millis(0.99) + " / " + millis(1) + complaints;
	}

	private String millis(double share) {
		int index = (int) Math.ceil(share * this.known.size()) - 1;
		return "%,.0f".formatted(this.known.get(index) / 1e6);
	}

	/**
	 * Return what a round cost.
	 */
	String formatCost() {
		double statements = this.costs.stream().mapToLong(Cost::statements).average().orElseThrow();
		double seconds = this.costs.stream().mapToDouble(Cost::processorSeconds).average().orElseThrow();
		return String.format(Locale.ROOT, "%,d runs, %,.0f statements, %.2f s", this.runs, statements, seconds);
	}

	int connections() {
		return this.costs.stream().mapToInt(Cost::connections).max().orElseThrow();
	}

}
