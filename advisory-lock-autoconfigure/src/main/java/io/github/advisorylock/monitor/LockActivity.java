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

package io.github.advisorylock.monitor;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.github.advisorylock.jdbc.server.ApplicationName;
import org.jspecify.annotations.Nullable;

/**
 * The advisory locks of a server at a moment, whoever holds them or waits for them.
 *
 * @param time the moment, by the database's clock
 * @param skew by how much that clock is certainly ahead of this application's
 * @param skewBetween the least and the most by which it can be ahead, which the time of
 * the answer keeps apart
 * @param database the database of this application
 * @param entries the locks, ordered by database and number, holders before waiters
 * @since 0.1.0
 */
public record LockActivity(Instant time, Duration skew, List<Duration> skewBetween, String database,
		List<Entry> entries) {

	/**
	 * A lock that somebody holds or waits for.
	 *
	 * @param database the database it is in
	 * @param number what is locked
	 * @param shared whether it is a shared lock
	 * @param granted whether it is held rather than waited for
	 * @param pid the process id of the server process
	 * @param waitingSince since when it is waited for, {@code null} if it is held or the
	 * wait has only begun
	 * @param blockedBy whom a waiter waits for
	 * @param holderName the name that our library gave to the connection
	 * @param application the name of the connection
	 * @param user the role that is logged in
	 * @param client address and port of the client, {@code null} if this role may not see
	 * it
	 * @param state what the connection is doing, {@code null} if this role may not see it
	 * @param transactionStart since when it is in a transaction, {@code null} if it is
	 * not or this role may not see it
	 * @param query its current or last statement, {@code null} if this role may not see
	 * it
	 */
	public record Entry(String database, LockNumber number, boolean shared, boolean granted, int pid,
			@Nullable Instant waitingSince, List<Integer> blockedBy, @Nullable ApplicationName holderName,
			@Nullable String application, @Nullable String user, @Nullable String client, @Nullable String state,
			@Nullable Instant transactionStart, @Nullable String query) {

	}

}
