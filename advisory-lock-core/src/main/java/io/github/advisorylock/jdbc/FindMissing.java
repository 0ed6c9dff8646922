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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.springframework.util.StringUtils;

/**
 * Asks which locks of transactions are held no more by the processes that took them.
 * Nothing of this connection, and so any may ask.
 */
final class FindMissing extends SessionCommand {

	private final Map<String, Hold> holds;

	private final List<Hold> missing = new ArrayList<>();

	FindMissing(List<Hold> holds) {
		this(entries(holds));
	}

	private FindMissing(Map<String, Hold> holds) {
		super(PostgresAdvisoryLockFunctions.findMissing(holds.keySet()));
		this.holds = holds;
	}

	private static Map<String, Hold> entries(List<Hold> holds) {
		Map<String, Hold> entries = new LinkedHashMap<>();
		for (Hold hold : holds) {
			if (hold.backend() != 0) {
				entries.put(PostgresAdvisoryLockFunctions.entry(hold.backend(), hold.key()), hold);
			}
		}
		return entries;
	}

	List<Hold> missing() {
		return this.missing;
	}

	@Override
	void readRow(ResultSet row, SessionConnection connection) throws SQLException {
		for (String entry : StringUtils.commaDelimitedListToStringArray(row.getString(1))) {
			this.missing.add(Objects.requireNonNull(this.holds.get(entry)));
		}
	}

	@Override
	boolean isOptional() {
		return true;
	}

}
