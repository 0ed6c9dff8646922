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

import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;

import org.springframework.util.Assert;

/**
 * The calls that are measured. Each makes sure that it did what its name says.
 */
class GuardedCalls {

	private static final LockRequest HELD_HERE = LockRequest.of(GuardedJobs.HELD_HERE);

	/**
	 * A pooled connection, try, commit.
	 */
	void transactionPlain(ApplicationState application, ThreadState thread) throws SQLException {
		check(PlainJdbc.runInTransaction(application.dataSource(), thread.key()));
	}

	/**
	 * The library by its programmatic API.
	 */
	void transactionLibrary(ApplicationState application, ThreadState thread) {
		check(execute(application, thread.transaction()).executed());
	}

	/**
	 * The annotation alone.
	 */
	void transactionAnnotation(ApplicationState application) {
		application.jobs().transaction();
	}

	/**
	 * The annotation with Spring's own.
	 */
	void transactionAnnotationTransactional(ApplicationState application) {
		application.jobs().transactional();
	}

	/**
	 * A connection for each thread, try, unlock.
	 */
	void sessionPlain(ThreadState thread) throws SQLException {
		check(thread.plainSession().tryLock(thread.key()));
		check(thread.plainSession().unlock(thread.key()));
	}

	/**
	 * The library by its programmatic API: one connection for all threads.
	 */
	void sessionLibrary(ApplicationState application, ThreadState thread) {
		check(execute(application, thread.session()).executed());
	}

	/**
	 * The annotation alone.
	 */
	void sessionAnnotation(ApplicationState application) {
		application.jobs().session();
	}

	/**
	 * The library by its programmatic API, with one of three permits.
	 */
	void transactionLibraryPermits(ApplicationState application, ThreadState thread) {
		check(execute(application, thread.transaction().permits(3)).executed());
	}

	/**
	 * The library by its programmatic API, with one of three permits, on one connection
	 * for all threads.
	 */
	void sessionLibraryPermits(ApplicationState application, ThreadState thread) {
		check(execute(application, thread.session().permits(3)).executed());
	}

	/**
	 * A pooled connection, a try that fails, commit.
	 */
	void busyPlain(ApplicationState application) throws SQLException {
		check(!PlainJdbc.runInTransaction(application.dataSource(), application.heldElsewhere()));
	}

	/**
	 * A skip because of another session, with the annotation.
	 */
	void busyAnnotation(ApplicationState application) {
		application.jobs().heldElsewhere();
	}

	/**
	 * A skip because this application holds the lock.
	 */
	void localLibrary(ApplicationState application) {
		check(!execute(application, HELD_HERE).executed());
	}

	/**
	 * A skip because this application holds the lock, with the annotation.
	 */
	void localAnnotation(ApplicationState application) {
		application.jobs().heldHere();
	}

	private static LockResult<Boolean> execute(ApplicationState application, LockRequest request) {
		return application.operations().execute(request, (lock) -> Boolean.TRUE);
	}

	private static void check(boolean asExpected) {
		Assert.state(asExpected, "A call did not do what it is to measure");
	}

}
