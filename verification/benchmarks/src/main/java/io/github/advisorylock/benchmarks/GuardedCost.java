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

import org.jspecify.annotations.Nullable;

/**
 * What calls cost, and may cost: counts exactly as many, and a ratio of processor time
 * that is little above what was measured when it was entered here. Whoever makes a call
 * cheaper enters that, too; whoever makes one dearer has to say why.
 */
enum GuardedCost {

	/**
	 * A run, by the programmatic API.
	 */
	TRANSACTION_EXECUTE("TRANSACTION, execute", Baseline.TRANSACTION, new Counts(2, 4, 0, 0.99)),

	/**
	 * A run, by the annotation.
	 */
	TRANSACTION_ANNOTATION("TRANSACTION, @SingleRunner", Baseline.TRANSACTION, new Counts(2, 4, 0, 0.99)),

	/**
	 * A run, by the annotation with Spring's own.
	 */
	TRANSACTION_TRANSACTIONAL("TRANSACTION, @SingleRunner @Transactional", Baseline.TRANSACTION,
			new Counts(2, 4, 0, 0.99)),

	/**
	 * A run, by the programmatic API.
	 */
	SESSION_EXECUTE("SESSION, execute", Baseline.SESSION, new Counts(2, 2, 0, 0.99)),

	/**
	 * A run, by the annotation.
	 */
	SESSION_ANNOTATION("SESSION, @SingleRunner", Baseline.SESSION, new Counts(2, 2, 0, 0.99)),

	/**
	 * A skip, as another session has the lock.
	 */
	BUSY_ELSEWHERE("busy elsewhere, @SingleRunner", Baseline.BUSY, new Counts(2, 4, 0, 0.99)),

	/**
	 * A hundred skips, as this application has the lock.
	 */
	BUSY_HERE("100 times busy here, @SingleRunner", Baseline.TRANSACTION, new Counts(0, 0, 0, 0.99)),

	/**
	 * A recorded run.
	 */
	PER_TICK("PER_TICK", Baseline.SHEDLOCK, new Counts(4, 7, 792, 0.8)),

	/**
	 * A recorded run.
	 */
	PER_TICK_IN_SESSION("PER_TICK in SESSION", Baseline.SHEDLOCK, new Counts(7, 7, 1128, 0.4)),

	/**
	 * A recorded run.
	 */
	PER_KEY("PER_KEY", Baseline.SHEDLOCK_BY_KEY, new Counts(4, 7, 952, 0.75)),

	/**
	 * A skip, as the ledger knows better.
	 */
	ALREADY_RAN("ALREADY_RAN", Baseline.TRANSACTION, new Counts(1, 1, 0, 0.99)),

	/**
	 * A run beside those of seven other threads.
	 */
	TRANSACTION_OF_8("TRANSACTION, execute, 8 threads", Baseline.TRANSACTION, null),

	/**
	 * A run beside those of seven other threads, on the connection of all.
	 */
	SESSION_OF_8("SESSION, execute, 8 threads", Baseline.SESSION, null);

	private final String description;

	private final Baseline baseline;

	@SuppressWarnings("ImmutableEnumChecker") // a record of numbers
	private final @Nullable Counts counts;

	GuardedCost(String description, Baseline baseline, @Nullable Counts counts) {
		this.description = description;
		this.baseline = baseline;
		this.counts = counts;
	}

	String description() {
		return this.description;
	}

	/**
	 * Return what the processor time is compared with.
	 */
	Baseline baseline() {
		return this.baseline;
	}

	/**
	 * Return what a call sends and writes; nothing where that was counted for another one
	 * already.
	 */
	@Nullable Counts counts() {
		return this.counts;
	}

	/**
	 * What calls are compared with.
	 */
	enum Baseline {

		/**
		 * Plain JDBC.
		 */
		TRANSACTION("plain JDBC"),

		/**
		 * Plain JDBC, on a connection for each thread.
		 */
		SESSION("plain JDBC"),

		/**
		 * Plain JDBC.
		 */
		BUSY("plain JDBC"),

		/**
		 * A run of ShedLock.
		 */
		SHEDLOCK("ShedLock"),

		/**
		 * A run of ShedLock under a name of its own.
		 */
		SHEDLOCK_BY_KEY("ShedLock");

		private final String description;

		Baseline(String description) {
			this.description = description;
		}

		String description() {
			return this.description;
		}

	}

}
