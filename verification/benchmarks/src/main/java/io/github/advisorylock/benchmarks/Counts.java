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

/**
 * What a call sends to the server, and what the server writes to its log.
 *
 * @param roundTrips the round trips
 * @param statements the statements
 * @param walBytes the bytes of the log that most calls have written
 * @param share the part of the calls that have written just as much; others found a page
 * that was full, or a sequence that had to be logged
 */
record Counts(double roundTrips, double statements, long walBytes, double share) {

	/**
	 * Say what differs from what is allowed, where the share is a least one.
	 * @return an empty text if nothing does
	 */
	String differences(Counts allowed) {
		StringBuilder text = new StringBuilder();
		if (this.roundTrips != allowed.roundTrips) {
			text.append(" %.3f round trips, and not %.0f;".formatted(this.roundTrips, allowed.roundTrips));
		}
		if (this.statements != allowed.statements) {
			text.append(" %.3f statements, and not %.0f;".formatted(this.statements, allowed.statements));
		}
		if (this.walBytes != allowed.walBytes) {
			text.append(" %d bytes of WAL, and not %d;".formatted(this.walBytes, allowed.walBytes));
		}
		if (this.share < allowed.share) {
			text.append(" %.2f of the calls with no more WAL, and not %.2f;".formatted(this.share, allowed.share));
		}
		return text.toString();
	}

}
