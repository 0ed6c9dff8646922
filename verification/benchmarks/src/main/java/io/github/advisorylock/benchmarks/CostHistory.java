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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.springframework.util.Assert;

/**
 * What calls have cost in the latest nights. A ratio is too high if it is higher than in
 * each of them and {@value #MORE} times their median: machines differ from night to
 * night, and so does what a busy one measures.
 *
 * @param nights the ratios of each night, the oldest first
 */
record CostHistory(List<Map<GuardedCost, Double>> nights) {

	static final int NIGHTS = 20;

	/**
	 * How many nights have to be known until a ratio is judged.
	 */
	static final int LEAST_NIGHTS = 5;

	static final double MORE = 1.05;

	/**
	 * Read a history, of which each line is a night: {@code COST=ratio}, with blanks
	 * between them.
	 * @return an empty one if there is no such file
	 */
	static CostHistory read(Path file) throws IOException {
		List<Map<GuardedCost, Double>> nights = new ArrayList<>();
		if (Files.exists(file)) {
			for (String line : Files.readAllLines(file)) {
				nights.add(parse(line));
			}
		}
		return new CostHistory(nights);
	}

	private static Map<GuardedCost, Double> parse(String line) {
		Map<GuardedCost, Double> night = new EnumMap<>(GuardedCost.class);
		for (String cost : line.split(" ", -1)) {
			String[] parts = cost.split("=", -1);
			Assert.isTrue(parts.length == 2, () -> "Not a night: " + line);
			night.put(GuardedCost.valueOf(parts[0]), Double.valueOf(parts[1]));
		}
		return night;
	}

	/**
	 * Say which ratios are too high.
	 */
	List<String> excesses(Map<GuardedCost, Double> ratios) {
		List<String> excesses = new ArrayList<>();
		ratios.forEach((cost, ratio) -> {
			List<Double> before = this.nights.stream()
				.map((night) -> night.getOrDefault(cost, 0.0))
				.filter((value) -> value > 0)
				.toList();
			if (before.size() >= LEAST_NIGHTS) {
				Spread spread = Spread.of(before);
				if (ratio > spread.max() && ratio > spread.median() * MORE) {
					excesses.add("%s: %.2f times the processor time of %s, which was %s in %d nights;".formatted(
							cost.description(), ratio, cost.baseline().description(), spread.format("%.2f"),
							before.size()));
				}
			}
		});
		return excesses;
	}

	/**
	 * Return this history with another night, and without those that are too old.
	 */
	CostHistory with(Map<GuardedCost, Double> ratios) {
		List<Map<GuardedCost, Double>> all = new ArrayList<>(this.nights);
		all.add(ratios);
		return new CostHistory(all.subList(Math.max(0, all.size() - NIGHTS), all.size()));
	}

	void write(Path file) throws IOException {
		Files.write(file, this.nights.stream().map(CostHistory::format).toList());
	}

	private static String format(Map<GuardedCost, Double> night) {
		return night.entrySet()
			.stream()
			.map((cost) -> cost.getKey().name() + "=" + cost.getValue())
			.collect(Collectors.joining(" "));
	}

}
