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
import java.util.stream.IntStream;

/**
 * What calls cost.
 *
 * @param counts what each sends and writes
 * @param medians the median microseconds of each block of turns
 */
record CostResults(Map<CostCall, Counts> counts, Map<CostSetting, Map<CostCall, List<Double>>> medians) {

	MarkdownTable toTable() {
		List<String> head = new ArrayList<>(List.of("call", "round trips", "waits", "statements", "WAL bytes"));
		this.medians.keySet().forEach((setting) -> head.add(setting.description()));
		head.addAll(List.of("beside", "target", "p50 in µs: wire", "loopback"));
		MarkdownTable table = new MarkdownTable(head.toArray(String[]::new));
		for (CostLine line : CostLine.values()) {
			Counts counts = counts(line.call());
			List<Object> cells = new ArrayList<>(List.of(line.description(), "%.0f".formatted(counts.roundTrips()),
					"%.1f".formatted(waits(line)), "%.0f".formatted(counts.statements()), counts.walBytes()));
			this.medians.keySet().forEach((setting) -> cells.add(ratio(line, setting).formatRatio()));
			cells.addAll(List.of(CostLine.valueOf(line.baseline().name()).description(),
					line.verdict(waits(line), ratio(line, CostSetting.WIRE).median(),
							ratio(line, CostSetting.WIRE_OF_8).median()),
					micros(line.call(), CostSetting.WIRE).formatShort(),
					micros(line.call(), CostSetting.LOOPBACK).formatShort()));
			table.row(cells.toArray());
		}
		return table;
	}

	Map<String, Object> toMap() {
		Map<String, Object> lines = new LinkedHashMap<>();
		for (CostLine line : CostLine.values()) {
			Counts counts = counts(line.call());
			Map<String, Object> figures = new LinkedHashMap<>(
					Map.of("baseline", line.baseline().name(), "roundTrips", counts.roundTrips(), "statements",
							counts.statements(), "walBytes", counts.walBytes(), "waits", waits(line)));
			this.medians.keySet()
				.forEach((setting) -> figures.put(setting.description(), Map.of("p50Micros",
						micros(line.call(), setting).toMap(), "ratio", ratio(line, setting).toMap())));
			lines.put(line.name(), figures);
		}
		return lines;
	}

	/**
	 * Return how often a call waits for the server, by what the wire adds to it: plain
	 * JDBC waits twice. Round trips that are made at the same time are one wait.
	 */
	private double waits(CostLine line) {
		return 2 * added(line.call()) / added(CostCall.PLAIN);
	}

	private double added(CostCall call) {
		return micros(call, CostSetting.WIRE).median() - micros(call, CostSetting.LOOPBACK).median();
	}

	private Counts counts(CostCall call) {
		return known(this.counts, call);
	}

	private List<Double> medians(CostCall call, CostSetting setting) {
		return known(known(this.medians, setting), call);
	}

	private Spread micros(CostCall call, CostSetting setting) {
		return Spread.of(medians(call, setting));
	}

	private Spread ratio(CostLine line, CostSetting setting) {
		List<Double> values = medians(line.call(), setting);
		List<Double> baselines = medians(line.baseline(), setting);
		return Spread.of(IntStream.range(0, values.size())
			.mapToObj((block) -> values.get(block) / baselines.get(block))
			.toList());
	}

	private static <K, V> V known(Map<K, V> values, K key) {
		V value = values.get(key);
		if (value == null) {
			throw new IllegalStateException("Nothing is known of " + key);
		}
		return value;
	}

}
