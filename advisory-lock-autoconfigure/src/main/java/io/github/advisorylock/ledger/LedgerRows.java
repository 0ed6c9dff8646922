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

package io.github.advisorylock.ledger;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;

import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Reads rows of the ledger's tables.
 */
final class LedgerRows {

	private LedgerRows() {
	}

	static LedgerJob job(ResultSet row) throws SQLException {
		return new LedgerJob(row.getString("namespace"), row.getString("key"), required(row, "first_seen_at"),
				instant(row, "last_tick"), instant(row, "last_started_at"), instant(row, "last_finished_at"),
				outcome(row.getString("last_outcome")), row.getObject("fencing_token", Long.class),
				instant(row, "paused_at"), row.getString("paused_by"));
	}

	static LedgerRun run(ResultSet row) throws SQLException {
		return new LedgerRun(row.getLong("id"), row.getString("namespace"), row.getString("key"), instant(row, "tick"),
				LockScope.valueOf(row.getString("scope")), row.getString("instance"), row.getLong("fencing_token"),
				required(row, "started_at"), instant(row, "finished_at"), outcome(row.getString("outcome")),
				row.getString("error"), row.getString("error_class"));
	}

	static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
		OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
		return (time != null) ? time.toInstant() : null;
	}

	static Instant required(ResultSet row, String column) throws SQLException {
		Instant time = instant(row, column);
		Assert.state(time != null, () -> "'" + column + "' must not be null");
		return time;
	}

	private static @Nullable RunOutcome outcome(@Nullable String name) {
		return (name != null) ? RunOutcome.valueOf(name) : null;
	}

}
