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
 * A call whose latency is measured, and what it is compared with. The order is that of
 * the run: a case stands close to its baseline.
 */
enum LatencyCase {

	TRANSACTION_PLAIN("TRANSACTION, plain JDBC", "transactionPlain", 1, null, 0),

	TRANSACTION_LIBRARY("TRANSACTION, execute", "transactionLibrary", 1, TRANSACTION_PLAIN, 1.05),

	TRANSACTION_ANNOTATION("TRANSACTION, @SingleRunner", "transactionAnnotation", 1, TRANSACTION_PLAIN, 1.05),

	TRANSACTION_TRANSACTIONAL("TRANSACTION, @SingleRunner @Transactional", "transactionAnnotationTransactional", 1,
			TRANSACTION_PLAIN, 1.05),

	SESSION_PLAIN("SESSION, plain JDBC", "sessionPlain", 1, null, 0),

	SESSION_LIBRARY("SESSION, execute", "sessionLibrary", 1, SESSION_PLAIN, 1.05),

	SESSION_ANNOTATION("SESSION, @SingleRunner", "sessionAnnotation", 1, SESSION_PLAIN, 1.05),

	BUSY_PLAIN("busy elsewhere, plain JDBC", "busyPlain", 1, null, 0),

	BUSY_LIBRARY("busy elsewhere, execute", "busyLibraryTransaction", 1, BUSY_PLAIN, 1.05),

	BUSY_ANNOTATION("busy elsewhere, @SingleRunner", "busyAnnotation", 1, BUSY_PLAIN, 1.05),

	LOCAL_LIBRARY("busy here, execute", "localLibrary", 1, null, 0),

	LOCAL_ANNOTATION("busy here, @SingleRunner", "localAnnotation", 1, null, 0),

	TRANSACTION_PLAIN_8("TRANSACTION, plain JDBC", "transactionPlain", 8, null, 0),

	TRANSACTION_LIBRARY_8("TRANSACTION, execute", "transactionLibrary", 8, TRANSACTION_PLAIN_8, 1.05),

	SESSION_PLAIN_8("SESSION, plain JDBC, a connection per thread", "sessionPlain", 8, null, 0),

	SESSION_LIBRARY_8("SESSION, execute, one connection", "sessionLibrary", 8, SESSION_PLAIN_8, 1.2),

	SHEDLOCK("ShedLock", "shedLock", 1, null, 0),

	RECORDED_TRANSACTION("PER_TICK in TRANSACTION", "recordedTransaction", 1, SHEDLOCK, 1),

	RECORDED_SESSION("PER_TICK in SESSION", "recordedSession", 1, SHEDLOCK, 0),

	SHEDLOCK_8("ShedLock", "shedLock", 8, null, 0),

	RECORDED_TRANSACTION_8("PER_TICK in TRANSACTION", "recordedTransaction", 8, SHEDLOCK_8, 1),

	RECORDED_SESSION_8("PER_TICK in SESSION", "recordedSession", 8, SHEDLOCK_8, 0),

	TRANSACTION_VIRTUAL("TRANSACTION, execute, virtual thread", "transactionLibrary", 1, TRANSACTION_PLAIN, 0),

	TRANSACTION_VIRTUAL_8("TRANSACTION, execute, virtual threads", "transactionLibrary", 8, TRANSACTION_PLAIN_8, 0),

	SESSION_VIRTUAL("SESSION, execute, virtual thread", "sessionLibrary", 1, SESSION_PLAIN, 0),

	SESSION_VIRTUAL_8("SESSION, execute, one connection, virtual threads", "sessionLibrary", 8, SESSION_PLAIN_8, 0);

	private final String description;

	private final String method;

	private final int threads;

	private final @Nullable LatencyCase baseline;

	private final double target;

	LatencyCase(String description, String method, int threads, @Nullable LatencyCase baseline, double target) {
		this.description = description;
		this.method = method;
		this.threads = threads;
		this.baseline = baseline;
		this.target = target;
	}

	String description() {
		return this.description;
	}

	/**
	 * Return whether the calls come from virtual threads.
	 */
	boolean isVirtual() {
		return name().contains("_VIRTUAL");
	}

	/**
	 * Return whether this JVM can run the calls.
	 */
	boolean isPossible() {
		return !isVirtual() || Runtime.version().feature() >= 21;
	}

	String method() {
		return this.method;
	}

	int threads() {
		return this.threads;
	}

	@Nullable LatencyCase baseline() {
		return this.baseline;
	}

	/**
	 * Return the ratio to the baseline that must not be exceeded on a wire of a
	 * millisecond, 0 if there is none.
	 */
	double target() {
		return this.target;
	}

}
