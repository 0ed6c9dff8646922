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
import java.util.stream.Stream;

/**
 * From where calls come, and how far it is to the server.
 *
 * @param wire whether round trips take a millisecond longer
 * @param threads how many threads call
 * @param virtual whether they are virtual
 */
record CostSetting(boolean wire, int threads, boolean virtual) {

	static final CostSetting WIRE = new CostSetting(true, 1, false);

	static final CostSetting WIRE_OF_8 = new CostSetting(true, CostMeasurement.THREADS, false);

	static final CostSetting LOOPBACK = new CostSetting(false, 1, false);

	/**
	 * Return what this JVM can do.
	 */
	static List<CostSetting> possible() {
		List<CostSetting> platform = List.of(WIRE, WIRE_OF_8, LOOPBACK,
				new CostSetting(false, CostMeasurement.THREADS, false));
		Stream<CostSetting> virtual = (Runtime.version().feature() >= 21)
				? platform.stream().map((setting) -> new CostSetting(setting.wire, setting.threads, true))
				: Stream.empty();
		return Stream.concat(platform.stream(), virtual).toList();
	}

	String description() {
		return (this.wire ? "wire" : "loopback") + ", " + this.threads + (this.virtual ? " virtual" : "")
				+ ((this.threads > 1) ? " threads" : " thread");
	}

}
