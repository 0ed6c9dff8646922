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

package io.github.advisorylock.ledger.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.github.advisorylock.jdbc.Run;
import org.jspecify.annotations.Nullable;

/**
 * What the ledger knows of one instance. Times are those of the database's clock.
 *
 * @param namespace its namespace
 * @param instance its name
 * @param state whether it lives, or how it ended
 * @param startedAt since when it is known
 * @param seenAt when it said last that it lives
 * @param stoppedAt when it ended in order, {@code null} if it has not
 * @param version the version of the application, {@code null} if that is not known
 * @param library the version of this library, {@code null} if that is not known
 * @param clockSkew by how much the clock of the database is ahead of its own
 * @param locks how many advisory locks it holds on connections that have its name
 * @param roles the roles of leaders that it may have
 * @param drainedAt since when it begins no guarded run and leads no role, {@code null} if
 * it does
 * @param drainedBy who has drained it
 * @since 0.1.0
 */
public record KnownInstance(String namespace, String instance, State state, Instant startedAt, Instant seenAt,
		@Nullable Instant stoppedAt, @Nullable String version, @Nullable String library, @Nullable Duration clockSkew,
		int locks, List<Role> roles, @Nullable Instant drainedAt, @Nullable String drainedBy) {

	/**
	 * Whether an instance lives.
	 */
	public enum State {

		/**
		 * It was seen within 35 seconds, or has a connection of its name.
		 */
		ALIVE,

		/**
		 * It ended in order.
		 */
		STOPPED,

		/**
		 * It is gone, and has not said so.
		 */
		VANISHED

	}

	/**
	 * A role that an instance may have.
	 *
	 * @param name its name
	 * @param term the term in which it leads, {@code null} if it does not
	 * @param since since when it leads, {@code null} if it does not
	 */
	public record Role(String name, @Nullable Long term, @Nullable Instant since) {

	}

	/**
	 * What an instance does under a lock.
	 *
	 * @param instance the instance
	 * @param stack what it does
	 */
	public record Answer(String instance, Run.Stack stack) {

	}

}
