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

import java.time.Instant;

/**
 * What all instances are called for at one instant.
 *
 * @param use how they share the jobs
 * @param jobs how many there are
 * @param tick the planned time
 * @param start when to begin, by a clock that all processes of a machine have in common
 */
record Call(Use use, int jobs, Instant tick, long start) {

	static Call parse(String line) {
		String[] words = line.split(" ", -1);
		return new Call(Use.valueOf(words[0]), Integer.parseInt(words[1]),
				Instant.ofEpochMilli(Long.parseLong(words[2])), Long.parseLong(words[3]));
	}

	String format() {
		return this.use + " " + this.jobs + " " + this.tick.toEpochMilli() + " " + this.start;
	}

	/**
	 * Return how many nanoseconds are left until the start.
	 */
	long left() {
		return this.start - System.nanoTime();
	}

}
