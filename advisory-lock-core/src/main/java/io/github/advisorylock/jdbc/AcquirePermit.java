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

package io.github.advisorylock.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;

/**
 * Takes the first permit of a key that is free, in one statement.
 */
final class AcquirePermit extends SessionCommand.Acquire {

	private final List<AdvisoryLockKey> permits;

	/**
	 * Create a command.
	 * @param permits the permits to ask for, in this order, none of which this session
	 * has: it would be granted once more
	 */
	AcquirePermit(Hold hold, List<AdvisoryLockKey> permits) {
		super(hold, PostgresAdvisoryLockFunctions.trySessionPermits(permits));
		this.permits = permits;
	}

	@Override
	void readRow(ResultSet row, SessionConnection connection) throws SQLException {
		int granted = row.getInt(1);
		hold().take((granted > 0) ? this.permits.get(granted - 1) : null);
		note(granted > 0, connection);
	}

	/**
	 * What this session has of the permits was granted by this command.
	 */
	@Override
	void settle(SessionConnection connection, SQLException failure) throws SQLException {
		for (AdvisoryLockKey permit : this.permits) {
			hold().take(permit);
			if (connection.isHeld(hold())) {
				note(true, connection);
				answer();
				return;
			}
		}
		hold().take(null);
		fail(failure);
	}

	@Override
	void abandon(SessionConnection connection, Throwable failure) {
		super.abandon(connection, failure);
		hold().take(null);
	}

}
