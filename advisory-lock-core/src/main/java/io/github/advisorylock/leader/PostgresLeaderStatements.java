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

package io.github.advisorylock.leader;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.server.ApplicationRole;
import io.github.advisorylock.jdbc.server.FencingTokens;

/**
 * The SQL of elections, beyond that of the locks themselves.
 */
final class PostgresLeaderStatements {

	/**
	 * The channel on which candidates announce what they do.
	 */
	static final String CHANNEL = "advisory_lock_leader";

	/**
	 * Tell other sessions something. Binds {@linkplain #message channel and message}.
	 */
	static final String NOTIFY = "pg_catalog.pg_notify(?, ?)";

	/**
	 * As {@link #NOTIFY}; answers a number that is higher each time, whoever asks, and
	 * which is told only when the server can't give it again.
	 */
	static final String ANNOUNCE = "SELECT " + FencingTokens.ERA + " + pg_catalog.pg_current_xact_id()::text::bigint, "
			+ NOTIFY + ", " + FencingTokens.DURABLE;

	private static final String CANDIDACY = candidacy("(?)", 1);

	private static final String PAIR_CANDIDACY = candidacy("(?, ?)", 2);

	private PostgresLeaderStatements() {
	}

	/**
	 * Try to take the locks of roles, in one statement with a column for each. Answers
	 * {@code null} for a lock that was taken, else three words on the process that holds
	 * it: its number, whether its role is that of this application, or a member of it,
	 * and when it last said something, which is empty where the server does not tell. All
	 * is empty where it holds the lock no more. Needs no room in the lock table to find
	 * out which database this is.
	 * @param keys the locks of the roles
	 * @param seen those of them that are only looked at, and never taken
	 */
	static String campaign(List<AdvisoryLockKey> keys, Set<AdvisoryLockKey> seen) {
		return keys.stream()
			.map((key) -> (key.isPair() ? PAIR_CANDIDACY : CANDIDACY).replace("WHEN ",
					seen.contains(key) ? "WHEN false AND " : "WHEN "))
			.collect(Collectors.joining(", ", "SELECT ", ""));
	}

	/**
	 * Return what a {@linkplain #campaign campaign} binds.
	 */
	static List<Object> candidacies(List<AdvisoryLockKey> keys) {
		List<Object> parameters = new ArrayList<>();
		for (AdvisoryLockKey key : keys) {
			parameters.addAll(key.isPair() ? List.of(key.classId(), key.objectId()) : List.of(key.value()));
			parameters.add(Integer.toUnsignedLong(key.classId()));
			parameters.add(Integer.toUnsignedLong(key.objectId()));
		}
		return parameters;
	}

	static List<Object> message(String text) {
		return List.of(CHANNEL, text);
	}

	private static String candidacy(String arguments, int entry) {
		return """
				CASE WHEN %s THEN NULL ELSE coalesce((
				SELECT pg_catalog.concat_ws(' ', a.pid,
				  %s::text, coalesce(a.state_change::text, ''))
				FROM pg_catalog.pg_locks l, pg_catalog.pg_stat_get_activity(l.pid) a,
				pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) me
				WHERE l.locktype = 'advisory' AND l.granted AND a.datid = me.datid
				AND l.classid::bigint = ? AND l.objid::bigint = ? AND l.objsubid = %d LIMIT 1), '') END
				""".formatted("pg_catalog.pg_try_advisory_lock" + arguments, ApplicationRole.IS_OURS, entry);
	}

}
