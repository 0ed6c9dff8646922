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

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Latencies in microseconds, one for each round: the median of all calls, and the mean.
 */
record LatencyResults(Map<LatencyCase, List<Double>> medians, Map<LatencyCase, List<Double>> means) {

	/**
	 * Add a row for each case to a table of the report.
	 * @param judged whether targets are for these
	 */
	void addTo(MarkdownTable table, boolean judged) {
		this.medians.forEach((latencyCase, values) -> {
			Spread ratio = ratio(latencyCase);
			table.row(latencyCase.threads(), latencyCase.description(), Spread.of(values).format("%.2f"),
					"%.2f".formatted(mean(latencyCase)), (ratio != null) ? ratio.format("%.2f") : "",
					judged ? verdict(latencyCase, ratio) : "");
		});
	}

	List<Map<String, Object>> toMaps() {
		List<Map<String, Object>> result = new ArrayList<>();
		this.medians.forEach((latencyCase, values) -> {
			Map<String, Object> row = new LinkedHashMap<>();
			row.put("case", latencyCase.name());
			row.put("threads", latencyCase.threads());
			row.put("p50Micros", Spread.of(values).toMap());
			row.put("meanMicros", mean(latencyCase));
			Spread ratio = ratio(latencyCase);
			if (ratio != null) {
				row.put("ratio", ratio.toMap());
			}
			result.add(row);
		});
		return result;
	}

	private double mean(LatencyCase latencyCase) {
		return Spread.of(this.means.getOrDefault(latencyCase, List.of())).median();
	}

	private @Nullable Spread ratio(LatencyCase latencyCase) {
		List<Double> values = this.medians.getOrDefault(latencyCase, List.of());
		LatencyCase baseline = latencyCase.baseline();
		List<Double> baselines = (baseline != null) ? this.medians.getOrDefault(baseline, List.of()) : List.of();
		if (baselines.isEmpty()) {
			return null;
		}
		List<Double> ratios = new ArrayList<>();
		for (int i = 0; i < values.size(); i++) {
			ratios.add(values.get(i) / baselines.get(i));
		}
		return Spread.of(ratios);
	}

	private static String verdict(LatencyCase latencyCase, @Nullable Spread ratio) {
		if (ratio == null || latencyCase.target() == 0) {
			return "";
		}
		return "%.2f %s".formatted(latencyCase.target(), (ratio.median() <= latencyCase.target()) ? "met" : "missed");
	}

}
