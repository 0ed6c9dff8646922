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
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

import org.springframework.util.Assert;

/**
 * The calls that are measured. Each makes sure that it did what its name says.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class GuardedCalls {

	private static final LockRequest HELD_HERE = LockRequest.of(GuardedJobs.HELD_HERE);

	private static final LockRequest HELD_ELSEWHERE = LockRequest.of(GuardedJobs.HELD_ELSEWHERE);

	/**
	 * A pooled connection, try, commit.
	 * @param application the running application
	 * @param thread what this thread has for itself
	 * @throws SQLException if the server fails
	 */
	@Benchmark
	public void transactionPlain(ApplicationState application, ThreadState thread) throws SQLException {
		check(PlainJdbc.runInTransaction(application.dataSource(), thread.key()));
	}

	/**
	 * The same with the utility statement that lets go of the snapshot.
	 * @param application the running application
	 * @param thread what this thread has for itself
	 * @throws SQLException if the server fails
	 */
	@Benchmark
	public void transactionPlainWithoutSnapshot(ApplicationState application, ThreadState thread) throws SQLException {
		check(PlainJdbc.runInTransactionWithoutSnapshot(application.dataSource(), thread.key()));
	}

	/**
	 * The same as the baseline with Spring's transaction manager and template.
	 * @param application the running application
	 * @param thread what this thread has for itself
	 */
	@Benchmark
	public void transactionSpring(ApplicationState application, ThreadState thread) {
		application.transactionTemplate()
			.executeWithoutResult((status) -> check(Boolean.TRUE.equals(application.jdbcTemplate()
				.queryForObject(PlainJdbc.TRY_TRANSACTION_LOCK, Boolean.class, thread.key()))));
	}

	/**
	 * The library by its programmatic API.
	 * @param application the running application
	 * @param thread what this thread has for itself
	 */
	@Benchmark
	public void transactionLibrary(ApplicationState application, ThreadState thread) {
		check(execute(application, thread.transaction()).executed());
	}

	/**
	 * The annotation alone.
	 * @param application the running application
	 */
	@Benchmark
	public void transactionAnnotation(ApplicationState application) {
		application.jobs().transaction();
	}

	/**
	 * The annotation with Spring's own.
	 * @param application the running application
	 */
	@Benchmark
	public void transactionAnnotationTransactional(ApplicationState application) {
		application.jobs().transactional();
	}

	/**
	 * A connection for each thread, try, unlock.
	 * @param thread what this thread has for itself
	 * @throws SQLException if the server fails
	 */
	@Benchmark
	public void sessionPlain(ThreadState thread) throws SQLException {
		check(thread.plainSession().tryLock(thread.key()));
		check(thread.plainSession().unlock(thread.key()));
	}

	/**
	 * The library by its programmatic API: one connection for all threads.
	 * @param application the running application
	 * @param thread what this thread has for itself
	 */
	@Benchmark
	public void sessionLibrary(ApplicationState application, ThreadState thread) {
		check(execute(application, thread.session()).executed());
	}

	/**
	 * The annotation alone.
	 * @param application the running application
	 */
	@Benchmark
	public void sessionAnnotation(ApplicationState application) {
		application.jobs().session();
	}

	/**
	 * The library by its programmatic API, with one of three permits.
	 * @param application the running application
	 * @param thread what this thread has for itself
	 */
	@Benchmark
	public void transactionLibraryPermits(ApplicationState application, ThreadState thread) {
		check(execute(application, thread.transaction().permits(3)).executed());
	}

	/**
	 * The library by its programmatic API, with one of three permits, on one connection
	 * for all threads.
	 * @param application the running application
	 * @param thread what this thread has for itself
	 */
	@Benchmark
	public void sessionLibraryPermits(ApplicationState application, ThreadState thread) {
		check(execute(application, thread.session().permits(3)).executed());
	}

	/**
	 * A pooled connection, a try that fails, commit.
	 * @param application the running application
	 * @throws SQLException if the server fails
	 */
	@Benchmark
	public void busyPlain(ApplicationState application) throws SQLException {
		check(!PlainJdbc.runInTransaction(application.dataSource(), application.heldElsewhere()));
	}

	/**
	 * A skip because of another session, in a transaction.
	 * @param application the running application
	 */
	@Benchmark
	public void busyLibraryTransaction(ApplicationState application) {
		check(!execute(application, HELD_ELSEWHERE).executed());
	}

	/**
	 * A skip because of another session, on the session connection.
	 * @param application the running application
	 */
	@Benchmark
	public void busyLibrarySession(ApplicationState application) {
		check(!execute(application, HELD_ELSEWHERE.scope(LockScope.SESSION)).executed());
	}

	/**
	 * A skip because of another session, with the annotation.
	 * @param application the running application
	 */
	@Benchmark
	public void busyAnnotation(ApplicationState application) {
		application.jobs().heldElsewhere();
	}

	/**
	 * A skip because this application holds the lock.
	 * @param application the running application
	 */
	@Benchmark
	public void localLibrary(ApplicationState application) {
		check(!execute(application, HELD_HERE).executed());
	}

	/**
	 * A skip because this application holds the lock, with the annotation.
	 * @param application the running application
	 */
	@Benchmark
	public void localAnnotation(ApplicationState application) {
		application.jobs().heldHere();
	}

	/**
	 * ShedLock's whole cycle.
	 * @param thread what this thread has for itself
	 * @throws Exception if that fails
	 */
	@Benchmark
	public void shedLock(RecordedState thread) throws Exception {
		thread.rival().empty();
	}

	/**
	 * A run for a tick that is recorded, in a transaction.
	 * @param thread what this thread has for itself
	 */
	@Benchmark
	public void recordedTransaction(RecordedState thread) {
		thread.ledger().perTick();
	}

	/**
	 * A run for a tick that is recorded, on the session connection.
	 * @param thread what this thread has for itself
	 */
	@Benchmark
	public void recordedSession(RecordedState thread) {
		thread.ledger().perTickInSession();
	}

	private static LockResult<Boolean> execute(ApplicationState application, LockRequest request) {
		return application.operations().execute(request, (lock) -> Boolean.TRUE);
	}

	private static void check(boolean asExpected) {
		Assert.state(asExpected, "A call did not do what it is to measure");
	}

}
