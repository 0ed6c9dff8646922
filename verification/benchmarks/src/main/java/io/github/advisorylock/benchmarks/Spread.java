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
 * What several measurements of one thing say together.
 */
record Spread(double median, double min, double max) {

	static Spread of(List<Double> values) {
		List<Double> sorted = values.stream().sorted().toList();
		int middle = sorted.size() / 2;
		double median = (sorted.size() % 2 == 1) ? sorted.get(middle)
				: (sorted.get(middle - 1) + sorted.get(middle)) / 2;
		return new Spread(median, sorted.get(0), sorted.get(sorted.size() - 1));
	}

	Map<String, Object> toMap() {
		return Map.of("median", this.median, "min", this.min, "max", this.max);
	}

	/**
	 * Format microseconds, those of a call that asks no server with what is behind the
	 * point.
	 */
	String formatShort() {
		return format((this.median < 10) ? "%.2f" : "%.0f");
	}

	/**
	 * Format a ratio, however small.
	 */
	String formatRatio() {
		return format((this.median < 0.1) ? "%.4f" : "%.2f");
	}

	String format(String pattern) {
		return (pattern + " (" + pattern + " to " + pattern + ")").formatted(this.median, this.min, this.max);
	}

}
