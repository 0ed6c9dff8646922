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

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.advisorylock.testsupport.CountingSocketFactory;

/**
 * Counts what some hundred calls send and write. Nothing is left out, so that what only
 * each eleventh call sends is seen, and what somebody else sends meanwhile as well.
 */
final class CallCounter {

	private static final int CALLS = 320;

	private static final int WARM_UP_CALLS = 30;

	private static final String POSITION = "SELECT pg_catalog.pg_wal_lsn_diff("
			+ "pg_catalog.pg_current_wal_insert_lsn(), '0/0')::bigint";

	private static final int PAGE = 8192;

	private static final int PAGE_HEADER = 24;

	private static final int SEGMENT = 16 * 1024 * 1024;

	private static final int LONGER_SEGMENT_HEADER = 16;

	private final Connection observer;

	CallCounter(Connection observer) {
		this.observer = observer;
	}

	Counts count(Call call) throws Exception {
		call.repeat(WARM_UP_CALLS);
		long trips = CountingSocketFactory.roundTrips();
		long statements = CountingSocketFactory.statements();
		call.repeat(CALLS);
		trips = CountingSocketFactory.roundTrips() - trips;
		statements = CountingSocketFactory.statements() - statements;
		long[] bytes = new long[CALLS];
		for (int i = 0; i < CALLS; i++) {
			long before = position();
			call.run();
			bytes[i] = bytesOfRecords(before, position());
		}
		long usual = Arrays.stream(bytes)
			.boxed()
			.collect(Collectors.groupingBy(Function.identity(), Collectors.counting()))
			.entrySet()
			.stream()
			.max(Map.Entry.comparingByValue())
			.orElseThrow()
			.getKey();
		double share = (double) Arrays.stream(bytes).filter((count) -> count == usual).count() / CALLS;
		return new Counts((double) trips / CALLS, (double) statements / CALLS, usual, share);
	}

	/**
	 * Return how many bytes of records there are between two positions: the log is
	 * divided into pages, and each begins with a header, whoever writes there.
	 */
	private static long bytesOfRecords(long from, long to) {
		return to - from - (to / PAGE - from / PAGE) * PAGE_HEADER
				- (to / SEGMENT - from / SEGMENT) * LONGER_SEGMENT_HEADER;
	}

	private long position() throws SQLException {
		try (Statement statement = this.observer.createStatement(); ResultSet row = statement.executeQuery(POSITION)) {
			row.next();
			return row.getLong(1);
		}
	}

}
