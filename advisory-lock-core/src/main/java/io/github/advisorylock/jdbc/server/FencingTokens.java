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

package io.github.advisorylock.jdbc.server;

/**
 * SQL for numbers that later holders of a lock must have higher than earlier ones,
 * whatever becomes of the server in between: a crash, after which it counts again from
 * where its log ends, and the promotion of a standby that had not received all of it.
 * <p>
 * Aurora has no timelines, since its servers share one storage, and refuses to tell where
 * its log is unless that is decoded: there nothing is added, and nothing forced.
 *
 * @since 0.1.0
 */
public final class FencingTokens {

	private static final String HAS_LOG = "pg_catalog.to_regproc('aurora_version') IS NULL";

	/**
	 * A {@code bigint} to add to a number that the server counts itself: 2<sup>44</sup>
	 * times its timeline, which begins anew with each promotion. Any role may ask for it.
	 */
	public static final String ERA = "CASE WHEN " + HAS_LOG + """
			 THEN ('x' || pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8))
			::bit(32)::bigint << 44 ELSE 0 END""";

	/**
	 * A column that has the server write its log to the disk before it answers, all up to
	 * here: a number that it has given out is otherwise given again after a crash, where
	 * the transaction has written nothing else. Does not wait for standbys: the
	 * {@linkplain #ERA era} tells what they may not know. To be sent outside a
	 * transaction that goes on.
	 */
	public static final String DURABLE = "CASE WHEN " + HAS_LOG + """
			 AND pg_catalog.set_config('synchronous_commit', 'local', true) IS NOT NULL
			THEN pg_catalog.pg_logical_emit_message(true, 'advisory_lock', ''::text) END""";

	private FencingTokens() {
	}

}
