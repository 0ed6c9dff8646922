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
 * What calls may cost: as much as they do, and no more. Whoever makes one cheaper lowers
 * its bounds here; whoever makes one dearer has to raise them, and say why.
 */
enum GuardedCost {

	/**
	 * A run, by the programmatic API.
	 */
	TRANSACTION_EXECUTE("TRANSACTION, execute", 2, 4, 0, 1.5),

	/**
	 * A run, by the annotation.
	 */
	TRANSACTION_ANNOTATION("TRANSACTION, @SingleRunner", 2, 4, 0, 1.5),

	/**
	 * A run, by the annotation with Spring's own.
	 */
	TRANSACTION_TRANSACTIONAL("TRANSACTION, @SingleRunner @Transactional", 2, 4, 0, 1.5),

	/**
	 * A run, by the programmatic API.
	 */
	SESSION_EXECUTE("SESSION, execute", 2, 2, 0, 1.4),

	/**
	 * A run, by the annotation.
	 */
	SESSION_ANNOTATION("SESSION, @SingleRunner", 2, 2, 0, 1.4),

	/**
	 * A skip, as another session has the lock.
	 */
	BUSY_ELSEWHERE("busy elsewhere, @SingleRunner", 2, 4, 0, 1.4),

	/**
	 * A skip, as this application has the lock.
	 */
	BUSY_HERE("busy here, @SingleRunner", 0, 0, 0, 0),

	/**
	 * A recorded run.
	 */
	PER_TICK("PER_TICK", 3, 6, 552, 0),

	/**
	 * A recorded run.
	 */
	PER_TICK_IN_SESSION("PER_TICK in SESSION", 5, 6, 1064, 0),

	/**
	 * A recorded run.
	 */
	PER_KEY("PER_KEY", 3, 6, 712, 0),

	/**
	 * A skip, as the ledger knows better.
	 */
	ALREADY_RAN("ALREADY_RAN", 1, 1, 0, 0);

	private final String description;

	private final int roundTrips;

	private final int statements;

	private final int walBytes;

	private final double processorRatio;

	GuardedCost(String description, int roundTrips, int statements, int walBytes, double processorRatio) {
		this.description = description;
		this.roundTrips = roundTrips;
		this.statements = statements;
		this.walBytes = walBytes;
		this.processorRatio = processorRatio;
	}

	String description() {
		return this.description;
	}

	int roundTrips() {
		return this.roundTrips;
	}

	int statements() {
		return this.statements;
	}

	/**
	 * Return how many bytes of WAL a call may write where no page is written for the
	 * first time. A recorded run contains the name of the instance, in steps of eight
	 * bytes; the bounds are for one of twelve characters.
	 */
	int walBytes(String instance) {
		int longer = Math.max(0, instance.length() - 12);
		return (this.walBytes > 0) ? this.walBytes + (longer + 7) / 8 * 8 : 0;
	}

	/**
	 * Return how much processor time a call may take, of client and server together,
	 * beside that of plain JDBC which does the same; 0 where there is no such thing.
	 */
	double processorRatio() {
		return this.processorRatio;
	}

}
