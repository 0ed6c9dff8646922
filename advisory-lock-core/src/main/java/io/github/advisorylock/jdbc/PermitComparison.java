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
	 * When a key was looked for last; one that was told of is not looked for again. Of
	 * very many keys those that came first are forgotten.
	 */
	private final Map<AdvisoryLockKey, Look> looks = new LinkedHashMap<>();

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
			note(hold.key(), new Look(now, false));
		}
		return due;
	}

	private synchronized void note(AdvisoryLockKey key, Look look) {
		this.looks.put(key, look);
		if (this.looks.size() > REMEMBERED) {
			this.looks.remove(this.looks.keySet().iterator().next());
		}
	}

	private void compare(AdvisoryLockKey key, int permits) {
		List<String> unknown = IntStream.rangeClosed(permits + 1, AdvisoryLockKey.MAX_PERMITS)
			.mapToObj(key::permit)
			.map(PostgresAdvisoryLockFunctions::entry)
			.toList();
		try {
			int last = this.session.findLastHeld(unknown);
			if (last > 0) {
				tell(key, permits, permits + last);
			}
		}
		catch (RuntimeException ex) {
			logger.debug("Failed to find out whether more may hold advisory lock '" + key + "' on other instances", ex);
		}
	}

	private void tell(AdvisoryLockKey key, int permits, int held) {
		note(key, new Look(this.session.ticker().nanoTime(), true));
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
