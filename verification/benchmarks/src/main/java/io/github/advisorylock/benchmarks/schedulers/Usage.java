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

package io.github.advisorylock.benchmarks.schedulers;

import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import io.github.advisorylock.benchmarks.ProcessorClock;
import io.github.advisorylock.testsupport.CountingSocketFactory;

/**
 * What a server was asked for, and did.
 */
record Usage(double roundTrips, double statements, double walBytes, double serverMicros) {

	private static final String POSITION = "SELECT pg_catalog.pg_wal_lsn_diff("
			+ "pg_catalog.pg_current_wal_insert_lsn(), '0/0')::bigint";

	static Usage of(Connection observer, ProcessorClock clock) throws IOException, SQLException {
		try (Statement statement = observer.createStatement(); ResultSet row = statement.executeQuery(POSITION)) {
			row.next();
			return new Usage(CountingSocketFactory.roundTrips(), CountingSocketFactory.statements(), row.getLong(1),
					ProcessorClock.isSupported() ? clock.serverNanos() / 1000.0 : 0);
		}
	}

	Usage minus(Usage other) {
		return new Usage(this.roundTrips - other.roundTrips, this.statements - other.statements,
				this.walBytes - other.walBytes, this.serverMicros - other.serverMicros);
	}

	Usage times(double factor) {
		return new Usage(this.roundTrips * factor, this.statements * factor, this.walBytes * factor,
				this.serverMicros * factor);
	}

}
