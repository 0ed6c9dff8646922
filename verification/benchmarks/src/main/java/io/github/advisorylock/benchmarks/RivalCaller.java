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

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * A thread that calls, with keys of its own.
 */
final class RivalCaller implements AutoCloseable {

	private final ApplicationState application;

	private final ThreadState thread = new ThreadState();

	private final GuardedCalls guarded = new GuardedCalls();

	private final LedgerCalls ledger;

	private final RivalCalls shedLock;

	private final IntegrationCalls integration;

	RivalCaller(ApplicationState application, int number) throws SQLException {
		this.application = application;
		this.thread.open(application);
		this.ledger = new LedgerCalls(application, "-" + number);
		this.shedLock = new RivalCalls(application.jdbcTemplate(), "rival-" + number);
		this.integration = new IntegrationCalls(application.jdbcTemplate(), "rival-" + number);
	}

	/**
	 * Call until a point in time.
	 * @return the microseconds of each call
	 */
	List<Double> callUntil(Kind kind, long end) throws Exception {
		List<Double> micros = new ArrayList<>();
		long started = System.nanoTime();
		do {
			call(kind);
			long ended = System.nanoTime();
			micros.add((ended - started) / 1000.0);
			started = ended;
		}
		while (started < end);
		return micros;
	}

	void call(Kind kind) throws Exception {
		switch (kind) {
			case RUN_PLAIN, RUN_AGAIN -> this.guarded.transactionPlain(this.application, this.thread);
			case RUN_PLAIN_SESSION, RUN_SESSION_AGAIN -> this.guarded.sessionPlain(this.thread);
			case RUN_TRANSACTION -> this.guarded.transactionLibrary(this.application, this.thread);
			case RUN_SESSION -> this.guarded.sessionLibrary(this.application, this.thread);
			case RUN_SHEDLOCK -> this.shedLock.empty();
			case RUN_INTEGRATION -> this.integration.run();
			case SKIP_TRANSACTION -> this.guarded.busyLibraryTransaction(this.application);
			case SKIP_SESSION -> this.guarded.busyLibrarySession(this.application);
			case SKIP_SHEDLOCK -> this.shedLock.skip();
			case SKIP_INTEGRATION -> this.integration.skip();
			case TICK_TRANSACTION -> this.ledger.perTick();
			case TICK_SESSION -> this.ledger.perTickInSession();
			case KEY_LEDGER -> this.ledger.perKey();
			case KEY_SHEDLOCK -> this.shedLock.oncePerKey();
		}
	}

	@Override
	public void close() throws SQLException {
		this.thread.close();
	}

	/**
	 * What is called.
	 */
	enum Kind {

		/**
		 * The baseline of all.
		 */
		RUN_PLAIN("a run: plain JDBC, TRANSACTION"),

		/**
		 * The baseline again.
		 */
		RUN_AGAIN("the same again"),

		/**
		 * The baseline of what the library does on its own connection: one for each
		 * thread.
		 */
		RUN_PLAIN_SESSION("a run: plain JDBC, SESSION, a connection for each thread"),

		/**
		 * That baseline again.
		 */
		RUN_SESSION_AGAIN("the same again, SESSION"),

		/**
		 * A run.
		 */
		RUN_TRANSACTION("a run: TRANSACTION, `execute`"),

		/**
		 * A run.
		 */
		RUN_SESSION("a run: SESSION, `execute`"),

		/**
		 * A run.
		 */
		RUN_SHEDLOCK("a run: ShedLock"),

		/**
		 * A run.
		 */
		RUN_INTEGRATION("a run: `JdbcLockRegistry`"),

		/**
		 * A skip.
		 */
		SKIP_TRANSACTION("a skip: TRANSACTION, `execute`"),

		/**
		 * A skip.
		 */
		SKIP_SESSION("a skip: SESSION, `execute`"),

		/**
		 * A skip.
		 */
		SKIP_SHEDLOCK("a skip: ShedLock"),

		/**
		 * A skip.
		 */
		SKIP_INTEGRATION("a skip: `JdbcLockRegistry`"),

		/**
		 * A recorded run.
		 */
		TICK_TRANSACTION("a recorded run: PER_TICK, TRANSACTION"),

		/**
		 * A recorded run.
		 */
		TICK_SESSION("a recorded run: PER_TICK, SESSION"),

		/**
		 * A webhook.
		 */
		KEY_LEDGER("a webhook, each with a key: PER_KEY"),

		/**
		 * A webhook.
		 */
		KEY_SHEDLOCK("a webhook, each with a key: ShedLock, `lockAtLeastFor`");

		private final String description;

		Kind(String description) {
			this.description = description;
		}

		String description() {
			return this.description;
		}

		/**
		 * Return what the latency is compared with.
		 */
		Kind baseline() {
			return switch (this) {
				case RUN_PLAIN_SESSION, RUN_SESSION_AGAIN, RUN_SESSION, SKIP_SESSION -> RUN_PLAIN_SESSION;
				default -> RUN_PLAIN;
			};
		}

	}

}
