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

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.log.LockLog;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.dao.DataAccessException;

/**
 * Tells once of a key that more may hold on another instance than here: when a request
 * was refused, it looks whether a permit is held that this instance does not know. Those
 * who let more hold it than others can't see that.
 */
final class PermitComparison {

	private static final Log logger = LogFactory.getLog(PermitComparison.class);

	private static final Duration PAUSE = Duration.ofMinutes(1);

	private static final int REMEMBERED = 1000;

	private final LockSession session;

	/**
	 * When a key was looked for last; one that was told of is not looked for again.
	 */
	private final Map<AdvisoryLockKey, Look> looks = new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<AdvisoryLockKey, Look> eldest) {
			return size() > REMEMBERED;
		}

	};

	PermitComparison(LockSession session) {
		this.session = session;
	}

	/**
	 * Note that the server has granted no permit. Never waits.
	 */
	void refused(Hold hold) {
		if (hold.permits() < AdvisoryLockKey.MAX_PERMITS && beginLook(hold)) {
			AdvisoryLockKey key = hold.key();
			int permits = hold.permits();
			this.session.later("Failed to compare the permits of '" + key + "'", () -> compare(key, permits));
		}
	}

	private synchronized boolean beginLook(Hold hold) {
		long now = this.session.ticker().nanoTime();
		Look last = this.looks.get(hold.key());
		boolean due = last == null || (!last.told() && now - last.nanos() >= PAUSE.toNanos());
		if (due) {
			this.looks.put(hold.key(), new Look(now, false));
		}
		return due;
	}

	private void compare(AdvisoryLockKey key, int permits) {
		List<String> unknown = IntStream.rangeClosed(permits + 1, AdvisoryLockKey.MAX_PERMITS)
			.mapToObj(key::permit)
			.map(PostgresAdvisoryLockFunctions::entry)
			.toList();
		PostgresAdvisoryLockFunctions.Call call = PostgresAdvisoryLockFunctions.findLastHeld(unknown);
		try {
			long last = this.session.ask(call.sql(), call.parameters());
			if (last > 0) {
				tell(key, permits, permits + (int) last);
			}
		}
		catch (DataAccessException ex) {
			logger.debug("Failed to find out whether more may hold advisory lock '" + key + "' on other instances",
					ex);
		}
	}

	private void tell(AdvisoryLockKey key, int permits, int held) {
		synchronized (this) {
			this.looks.put(key, new Look(this.session.ticker().nanoTime(), true));
		}
		LockLog.permitsDiffer(key, permits, held);
	}

	/**
	 * The last time that somebody has looked.
	 *
	 * @param nanos when that was, by the clock of the session
	 * @param told whether something was found, and told
	 */
	private record Look(long nanos, boolean told) {

	}

}
