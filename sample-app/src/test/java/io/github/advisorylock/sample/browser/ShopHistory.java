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

package io.github.advisorylock.sample.browser;

/**
 * What a shop did in the last hours: jobs that moved from instance to instance, one that
 * began to fail, and one that was paused.
 */
final class ShopHistory {

	private static final String RUNS = """
			INSERT INTO advisory_lock_run
			  (namespace, key, tick, scope, instance, fencing_token, started_at, finished_at, outcome, error)
			SELECT 'shop', key, CASE key WHEN 'nightly-report' THEN t END, 'TRANSACTION', CASE
			    WHEN ago > INTERVAL '270 minutes' THEN 'shop-58f7-' || 1 + n % 2 || ':1'
			    WHEN ago < INTERVAL '100 minutes' AND n % 3 = 0 OR ago > INTERVAL '190 minutes' AND n % 2 = 0 THEN '{one}'
			    ELSE '{two}' END,
			  nextval('advisory_lock_fencing_token'), t, t + seconds * INTERVAL '1 second' * (0.8 + 0.4 * random()), outcome,
			  CASE outcome WHEN 'FAILED' THEN 'java.lang.IllegalStateException: The mail server refused the connection' END
			FROM (VALUES ('nightly-report', 30, 400, 0), ('partner-prices', 10, 80, 1), ('abandoned-carts', 15, 150, 2),
			    ('currency-rates', 60, 60, 3), ('search-index', 20, 600, 4), ('newsletter', 30, 200, 5),
			    ('archive-orders', 60, 900, 6)) job (key, every, seconds, n),
			  LATERAL (SELECT every * INTERVAL '1 minute' AS step) s,
			  LATERAL (SELECT date_bin(step, now(), 'epoch') - step * i AS t FROM generate_series(0, 60) i) ticks,
			  LATERAL (SELECT now() - t AS ago) a,
			  LATERAL (SELECT CASE WHEN key = 'newsletter' AND ago < INTERVAL '95 minutes' THEN 'FAILED'
			    WHEN key = 'search-index' AND ago BETWEEN INTERVAL '271 minutes' AND INTERVAL '291 minutes' THEN 'ABANDONED'
			    ELSE 'EXECUTED' END AS outcome) o
			WHERE ago > seconds * INTERVAL '1.2 second' AND (key <> 'archive-orders' OR ago > INTERVAL '130 minutes')
			ORDER BY t
			""";

	private static final String JOBS = """
			UPDATE advisory_lock_job job SET last_tick = run.tick, last_started_at = run.started_at,
			  last_finished_at = run.finished_at, last_outcome = run.outcome, fencing_token = run.fencing_token
			FROM (SELECT DISTINCT ON (key) * FROM advisory_lock_run ORDER BY key, fencing_token DESC) run
			WHERE job.key = run.key AND job.namespace = run.namespace;
			INSERT INTO advisory_lock_pause SELECT namespace, key, now() - INTERVAL '126 minutes', 'ada',
			  'The warehouse moves, see OPS-311' FROM advisory_lock_job WHERE key = 'archive-orders'
			""";

	private ShopHistory() {
	}

	/**
	 * Write the history of two instances and of those before them.
	 */
	static void write(Fleet fleet, String one, String two) {
		fleet.execute(RUNS.replace("{one}", one).replace("{two}", two));
		fleet.execute(JOBS);
	}

}
