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

import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.jdbc.ApplicationName;
import org.jspecify.annotations.Nullable;

/**
 * Who waits for a lock that is no advisory one, and for whom, in the database that was
 * asked.
 *
 * @param waits the waits, those that began first before others
 * @param sessions who waits and who is waited for, by process id; whoever has no session,
 * as a prepared transaction, is not among them
 * @since 0.1.0
 */
public record LockWaits(List<Wait> waits, Map<Integer, Session> sessions) {

	/**
	 * A wait.
	 *
	 * @param pid the process id of the server process that waits
	 * @param type what it waits for, as {@code pg_locks} says: {@code transactionid},
	 * {@code tuple}, {@code relation} and others
	 * @param relation the table it is about, with its schema, {@code null} if the server
	 * does not tell
	 * @param since since when, {@code null} if the wait has only begun
	 * @param blockedBy whom it waits for, 0 for a prepared transaction
	 */
	public record Wait(int pid, String type, @Nullable String relation, @Nullable Instant since,
			List<Integer> blockedBy) {

	}

	/**
	 * A server process.
	 *
	 * @param pid its process id
	 * @param own whether the role is the one that asks, or the connection is named by
	 * this library
	 * @param holderName the name that our library gave to the connection
	 * @param application the name of the connection
	 * @param user the role that is logged in
	 * @param client address and port of the client, {@code null} if this role may not see
	 * it
	 * @param state what the connection is doing, {@code null} if this role may not see it
	 * @param query its current or last statement, {@code null} if this role may not see
	 * it
	 */
	public record Session(int pid, boolean own, @Nullable ApplicationName holderName, @Nullable String application,
			@Nullable String user, @Nullable String client, @Nullable String state, @Nullable String query) {

	}

}
