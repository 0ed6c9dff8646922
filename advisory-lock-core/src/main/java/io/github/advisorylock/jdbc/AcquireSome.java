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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Takes several locks as far as they are free, by a statement of somebody else's that
 * says something of the others.
 */
final class AcquireSome extends SessionCommand {

	private final List<Hold> candidates;

	/**
	 * What was said of each candidate, {@code null} if it was granted.
	 */
	private final List<@Nullable String> answers;

	AcquireSome(List<Hold> candidates, PostgresAdvisoryLockFunctions.Call call) {
		super(call);
		this.candidates = candidates;
		this.answers = new ArrayList<>(Collections.nCopies(candidates.size(), ""));
	}

	List<@Nullable String> answers() {
		return this.answers;
	}

	@Override
	boolean takesLocks() {
		return true;
	}

	@Override
	void readRow(ResultSet row, SessionConnection connection) throws SQLException {
		for (int i = 0; i < this.candidates.size(); i++) {
			String answer = row.getString(i + 1);
			this.answers.set(i, answer);
			if (answer == null) {
				connection.add(this.candidates.get(i));
			}
		}
	}

	@Override
	void settle(SessionConnection connection, SQLException failure) throws SQLException {
		for (int i = 0; i < this.candidates.size(); i++) {
			if (this.answers.get(i) != null && connection.isHeld(this.candidates.get(i))) {
				this.answers.set(i, null);
				connection.add(this.candidates.get(i));
			}
		}
		if (this.answers.contains(null)) {
			answer();
		}
		else {
			fail(failure);
		}
	}

	/**
	 * Locks that were granted go with the connection, before anybody had them.
	 */
	@Override
	void abandon(SessionConnection connection, Throwable failure) {
		this.candidates.forEach(connection::remove);
		Collections.fill(this.answers, "");
		fail(failure);
	}

}
