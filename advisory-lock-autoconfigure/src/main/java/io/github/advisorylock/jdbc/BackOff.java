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

import java.sql.SQLException;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Keeps an application from hammering a server that refuses connections, and from waiting
 * again and again for one that does not answer: attempts that come too early fail like
 * the last one did.
 */
final class BackOff {

	private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long LONGEST = TimeUnit.SECONDS.toNanos(5);

	private @Nullable Exception failure;

	private long pause;

	private long end;

	void check() throws SQLException {
		if (this.failure != null && System.nanoTime() - this.end < 0) {
			if (this.failure instanceof UnsupportedDatabaseException refusal) {
				UnsupportedDatabaseException again = new UnsupportedDatabaseException(refusal.getReason());
				again.initCause(refusal);
				throw again;
			}
			String state = (this.failure instanceof SQLException ex) ? ex.getSQLState() : null;
			throw new SQLException(this.failure.getMessage(), state, this.failure);
		}
	}

	/**
	 * Pause for at least as long as the attempt took: those who wait behind it have
	 * waited for it already.
	 */
	void lengthen(Exception failure, long tookNanos) {
		this.failure = failure;
		long longer = Math.max(this.pause * 2, tookNanos);
		this.pause = Math.min(Math.max(longer, SHORTEST), LONGEST);
		this.end = System.nanoTime() + this.pause;
	}

	void reset() {
		this.failure = null;
		this.pause = 0;
	}

}
