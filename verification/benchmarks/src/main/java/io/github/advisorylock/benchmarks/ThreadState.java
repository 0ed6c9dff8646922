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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;

/**
 * What each thread has for itself: a key, so that no call is skipped, and a session for
 * the plain JDBC baseline.
 */
class ThreadState {

	private final long key;

	private final LockRequest transaction;

	private final LockRequest session;

	private final PlainSession plainSession;

	ThreadState(ApplicationState application) throws SQLException {
		String name = application.nextKey();
		this.key = AdvisoryLockKey.of("benchmarks", name).value();
		this.transaction = LockRequest.of(name).scope(LockScope.TRANSACTION);
		this.session = LockRequest.of(name).scope(LockScope.SESSION);
		this.plainSession = new PlainSession(application.url());
	}

	/**
	 * Close the session.
	 */
	void close() throws SQLException {
		this.plainSession.close();
	}

	long key() {
		return this.key;
	}

	LockRequest transaction() {
		return this.transaction;
	}

	LockRequest session() {
		return this.session;
	}

	PlainSession plainSession() {
		return this.plainSession;
	}

}
