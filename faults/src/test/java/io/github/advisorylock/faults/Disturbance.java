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

package io.github.advisorylock.faults;

/**
 * A fault that has happened.
 *
 * @param fault which one
 * @param begin when it began, by the machine's own clock
 * @param end when it was healed
 */
record Disturbance(Fault fault, long begin, long end) {

	private static final long NEAR = 1_000;

	/**
	 * How long after a fault a server may still give up a connection that it was cut off
	 * from ({@code dead-client-timeout}, 10 s, and its retries).
	 */
	private static final long AFTERMATH = 20_000;

	/**
	 * Return whether it may be the cause of a failure at a moment.
	 */
	boolean isNear(long moment) {
		return this.begin - NEAR <= moment && moment <= this.end + NEAR;
	}

	/**
	 * Return whether locks may end at a moment for this.
	 */
	boolean mayEndLocksAt(long moment) {
		return this.fault.endsLocks() && this.begin <= moment && moment <= this.end + AFTERMATH;
	}

	/**
	 * Return whether a tick that was run at a moment may be run again at another, as far
	 * as it is only remembered.
	 */
	boolean mayRepeatTicksBetween(long from, long to) {
		return this.begin <= to && from <= this.end + this.fault.plansAhead();
	}

	/**
	 * Return whether what was committed at a moment may have been lost.
	 */
	boolean mayLoseCommitOf(long moment) {
		return this.fault.losesCommits() && this.begin - 1000 <= moment && moment <= this.end + 1000;
	}

}
