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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * What the instances of a fleet say of an instant at which all wanted the same jobs.
 */
final class Round {

	private final List<Long> known = Collections.synchronizedList(new ArrayList<>());

	private final List<List<Run>> runs;

	private final List<String> errors = Collections.synchronizedList(new ArrayList<>());

	/**
	 * Create a round that nobody has spoken of.
	 * @param jobs how many jobs there are
	 */
	Round(int jobs) {
		this.runs = new ArrayList<>();
		for (int i = 0; i < jobs; i++) {
			this.runs.add(Collections.synchronizedList(new ArrayList<>()));
		}
	}

	/**
	 * Read what a JVM says.
	 * @param line {@code known} with nanoseconds, {@code run} with job, begin and end, or
	 * {@code error} with a reason
	 */
	void hear(String line) {
		String[] words = line.split(" ", 2);
		switch (words[0]) {
			case "known" -> this.known.add(Long.valueOf(words[1]));
			case "run" -> {
				long[] numbers = Arrays.stream(words[1].split(" ", -1)).mapToLong(Long::parseLong).toArray();
				this.runs.get((int) numbers[0]).add(new Run(numbers[1], numbers[2]));
			}
			default -> this.errors.add(line);
		}
	}

	/**
	 * Note as errors if not all instances came through, and if a job was done twice, or
	 * by two at a time.
	 * @param instances how many instances there are
	 */
	void check(Use use, int instances) {
		if (this.known.size() != instances) {
			this.errors.add(this.known.size() + " of " + instances + " instances came through with " + use);
		}
		for (int job = 0; job < this.runs.size(); job++) {
			check(use, job, this.runs.get(job).stream().sorted().toList());
		}
	}

	private void check(Use use, int job, List<Run> done) {
		if (done.isEmpty() || (done.size() > 1 && use.isOnce())) {
			this.errors.add("Job " + job + " was done " + done.size() + " times with " + use);
		}
		for (int i = 1; i < done.size(); i++) {
			if (done.get(i).begin() <= done.get(i - 1).end()) {
				this.errors.add("Two did job " + job + " at a time with " + use);
			}
		}
	}

	int runs() {
		return this.runs.stream().mapToInt(List::size).sum();
	}

	/**
	 * Return what instances had to complain of.
	 */
	List<String> errors() {
		return this.errors;
	}

	/**
	 * Return after how many nanoseconds each instance knew of all jobs who did them.
	 */
	List<Long> known() {
		return this.known;
	}

	/**
	 * A job that was done, by a clock which all processes of a machine have in common.
	 */
	private record Run(long begin, long end) implements Comparable<Run> {

		@Override
		public int compareTo(Run other) {
			return Long.compare(this.begin, other.begin);
		}

	}

}
