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

package io.github.advisorylock.ledger;

import java.util.ArrayList;
import java.util.List;

import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * All jobs and runs as operators look at them, however many there are.
 *
 * @since 0.1.0
 */
public final class JobCatalog {

	private static final int MOST_TEMPLATES = 1000;

	/**
	 * Among how many runs of the ledger those of a template are looked for.
	 */
	private static final int RECENT_RUNS = 50_000;

	private final LedgerConnections connections;

	private final LedgerTables tables;

	JobCatalog(LedgerConnections connections, LedgerTables tables) {
		this.connections = connections;
		this.tables = tables;
	}

	/**
	 * Return the names of all jobs, and of what keys with arguments were made from.
	 * @param most how many jobs at most
	 * @return the names, in their order
	 */
	public List<JobName> names(int most) {
		return this.connections.reading((jdbc) -> jdbc(jdbc, this.tables.in(JobStatements.NAMES)).param("most", most)
			.param("mostTemplates", MOST_TEMPLATES)
			.query((row, number) -> new JobName(row.getString("namespace"), row.getString("key")))
			.list());
	}

	/**
	 * Return a page of the runs of a job. Those of a template are the runs of all its
	 * keys: the latest 50,000 that were not executed, and the executed ones among the
	 * latest 50,000 runs of the ledger.
	 * @param name the job
	 * @param outcome how they must have ended, {@code RUNNING}, or {@code all}
	 * @param longest whether the longest come first, rather than the latest
	 * @param offset how many to leave out
	 * @param limit how many at most
	 * @return the runs, with their stack traces
	 */
	public RunPage runs(JobName name, String outcome, boolean longest, int offset, int limit) {
		List<LedgerRun> runs = new ArrayList<>();
		List<Integer> totals = this.connections.reading(
				(jdbc) -> jdbc(jdbc, this.tables.in(JobStatements.RUNS_MATCHING)).param("namespace", name.namespace())
					.param("key", name.key())
					.param("outcome", outcome)
					.param("longest", longest)
					.param("recent", RECENT_RUNS)
					.param("offset", offset)
					.param("limit", limit)
					.query((row, number) -> {
						if (row.getString("key") != null) {
							runs.add(JobRepository.run(row, number));
						}
						return row.getInt("total");
					})
					.list());
		return new RunPage(totals.isEmpty() ? 0 : totals.get(0), runs);
	}

	private static JdbcClient.StatementSpec jdbc(NamedParameterJdbcOperations jdbc, String sql) {
		return JdbcClient.create(jdbc).sql(sql);
	}

	/**
	 * Some runs.
	 *
	 * @param total how many are asked for
	 * @param runs those of the page
	 */
	public record RunPage(int total, List<LedgerRun> runs) {

	}

}
