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
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.RequestDetail.Interval;

import org.springframework.util.Assert;

/**
 * A thread that calls, with keys of its own.
 */
final class CostCaller implements AutoCloseable {

	/**
	 * More calls of a kind in one turn tell nothing more.
	 */
	private static final int MOST_CALLS = 200;

	private static final Duration MEMORY = Duration.ofMillis(50);

	private static final Interval INTERVAL = new Interval(Duration.ofMillis(50), Interval.Counted.FROM_BEGIN);

	private final ApplicationState application;

	private final int number;

	private final ThreadState thread;

	private final GuardedCalls guarded = new GuardedCalls();

	private final LedgerCalls ledger;

	private final RivalCalls shedLock;

	private final IntegrationCalls integration;

	/**
	 * Of its own, too: threads of one application exclude each other without a question.
	 */
	private final LockRequest busy;

	private final long busyNumber;

	/**
	 * Differs from those of other callers, and of earlier runs on the same server.
	 */
	private long next;

	private final long first;

	/**
	 * Create a caller.
	 * @param number tells it from others
	 */
	CostCaller(ApplicationState application, int number) throws SQLException {
		this.application = application;
		this.number = number;
		this.first = System.currentTimeMillis() * 1_000_000 + number * 100_000L;
		this.next = this.first + 1;
		this.thread = new ThreadState(application);
		String busy = GuardedJobs.HELD_ELSEWHERE + "-" + number;
		this.busy = LockRequest.of(busy);
		this.busyNumber = application.holdElsewhere(busy);
		this.ledger = new LedgerCalls(application, "-" + number);
		this.shedLock = new RivalCalls(application.jdbcTemplate(), "rival-" + number);
		this.integration = new IntegrationCalls(application.jdbcTemplate(), "rival-" + number);
		application.jdbcTemplate()
			.execute("CREATE TABLE IF NOT EXISTS advisory_lock_benchmark_done (id bigint PRIMARY KEY)");
		application.jdbcTemplate().update("INSERT INTO advisory_lock_benchmark_done VALUES (?)", this.first);
		application.jobs().kept(this.first);
	}

	/**
	 * Call until a point in time.
	 * @return the microseconds of each call
	 */
	List<Double> callUntil(CostCall call, long end) throws Exception {
		List<Double> micros = new ArrayList<>();
		long started = System.nanoTime();
		do {
			call(call);
			long ended = System.nanoTime();
			micros.add((ended - started) / 1000.0);
			started = ended;
		}
		while (started < end && micros.size() < MOST_CALLS);
		return micros;
	}

	void call(CostCall call) throws Exception {
		switch (call) {
			case PLAIN, PLAIN_AGAIN -> this.guarded.transactionPlain(this.application, this.thread);
			case PLAIN_SESSION -> this.guarded.sessionPlain(this.thread);
			case PLAIN_SKIP -> check(!PlainJdbc.runInTransaction(this.application.dataSource(), this.busyNumber));
			case PLAIN_SESSION_SKIP -> check(!this.thread.plainSession().tryLock(this.busyNumber));
			case PLAIN_TICK -> plainTick();
			case PLAIN_RECORDED ->
				check(PlainJdbc.recordInTransaction(this.application.dataSource(), this.thread.key(), this.next++));
			case PLAIN_KEPT ->
				check(PlainJdbc.readInTransaction(this.application.dataSource(), this.thread.key(), this.first));
			case PLAIN_LOOK -> check(PlainJdbc.isRecorded(this.application.dataSource(), this.first));
			case TRANSACTION -> this.guarded.transactionLibrary(this.application, this.thread);
			case TRANSACTION_ANNOTATION -> this.application.jobs().transactionOf(this.number);
			case TRANSACTION_PERMITS -> this.guarded.transactionLibraryPermits(this.application, this.thread);
			case SESSION -> this.guarded.sessionLibrary(this.application, this.thread);
			case SESSION_ANNOTATION -> this.application.jobs().sessionOf(this.number);
			case SESSION_PERMITS -> this.guarded.sessionLibraryPermits(this.application, this.thread);
			case TICK -> check(execute(nextTick()));
			case TICK_SESSION -> check(execute(nextTick().scope(LockScope.SESSION)));
			case INTERVAL ->
				check(execute(LockRequest.of("interval-" + this.number + "-" + this.next++).with(INTERVAL)));
			case PER_TICK -> this.ledger.perTick();
			case PER_TICK_SESSION -> this.ledger.perTickInSession();
			case PER_KEY -> this.ledger.perKey();
			case ALREADY_RAN -> this.ledger.alreadyRan();
			case KEPT_RESULT -> check(GuardedJobs.RESULT.equals(this.application.jobs().kept(this.first)));
			case SKIP_HERE -> this.guarded.localLibrary(this.application);
			case SKIP_ELSEWHERE -> check(!execute(this.busy));
			case SKIP_ELSEWHERE_SESSION -> check(!execute(this.busy.scope(LockScope.SESSION)));
			case SHEDLOCK -> this.shedLock.empty();
			case SHEDLOCK_BY_KEY -> this.shedLock.oncePerKey();
			case SHEDLOCK_SKIP -> this.shedLock.skip();
			case INTEGRATION -> this.integration.run();
			case INTEGRATION_SKIP -> this.integration.skip();
		}
	}

	/**
	 * The lock of the tick is one that the session has already, as it is not released.
	 */
	private void plainTick() throws SQLException {
		check(this.thread.plainSession().tryLock(this.first));
		this.guarded.transactionPlain(this.application, this.thread);
	}

	/**
	 * What {@code once = AUTO} makes of a call by a scheduler.
	 */
	private LockRequest nextTick() {
		return LockRequest.of("remembered-" + this.number)
			.rememberTick(Instant.EPOCH.plus(this.next++, ChronoUnit.MICROS), MEMORY);
	}

	private boolean execute(LockRequest request) {
		return this.application.operations().execute(request, (lock) -> true).executed();
	}

	private static void check(boolean asExpected) {
		Assert.state(asExpected, "A call did not do what it is to measure");
	}

	@Override
	public void close() throws SQLException {
		this.thread.close();
	}

}
