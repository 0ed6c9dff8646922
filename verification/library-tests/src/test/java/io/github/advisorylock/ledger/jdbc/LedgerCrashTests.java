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
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that effects and ledger agree after each of many instances that were killed in
 * the middle of their work: fifty in each scope, or {@code -Dkills}.
 */
@Tag("chaos")
class LedgerCrashTests extends AbstractLedgerTests {

	private static final Log logger = LogFactory.getLog(LedgerCrashTests.class);

	private static final int KILLS = Integer.getInteger("kills", 50);

	private static final Duration LONGEST_PAUSE = Duration.ofMillis(10);

	@Test
	void killedTransactionRunLeavesNeitherEffectNorRow() throws Exception {
		int undone = 0;
		for (int i = 0; i < KILLS; i++) {
			int before = executed().size();
			startAndKill(LockScope.TRANSACTION);
			assertThat(effects()).isEqualTo(executed()).doesNotHaveDuplicates();
			assertThat(outcomes()).isSubsetOf("EXECUTED");
			undone += (executed().size() == before) ? 1 : 0;
		}
		assertThat(executed()).isNotEmpty().isEqualTo(ticks(executed().size()));
		logger.info(KILLS + " instances killed in scope TRANSACTION: " + executed().size() + " runs and effects, "
				+ undone + " instances that left no run");
	}

	@Test
	void killedSessionRunStaysOpenUntilItsTickRunsAgain() throws Exception {
		int open = 0;
		for (int i = 0; i < KILLS; i++) {
			startAndKill(LockScope.SESSION);
			open += outcomes().get(outcomes().size() - 1).equals("OPEN") ? 1 : 0;
			assertThat(outcomes().subList(0, outcomes().size() - 1)).isSubsetOf("EXECUTED", "ABANDONED");
			assertThat(effects()).containsAll(executed());
		}
		assertThat(execute(LockScope.SESSION, LedgerInstance.tick(executed().size()))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(executed()).isEqualTo(ticks(executed().size()));
		assertThat(outcomes().stream().filter("ABANDONED"::equals)).hasSize(open);
		assertThat(outcomes()).isSubsetOf("EXECUTED", "ABANDONED");
		assertThat(open).isPositive();
		logger.info(KILLS + " instances killed in scope SESSION: " + executed().size() + " ticks executed, " + open
				+ " runs left open and abandoned");
	}

	/**
	 * Kill an instance in one of its first runs: the very first is so slow that hardly
	 * any kill would hit its end.
	 */
	private static void startAndKill(LockScope scope) throws InterruptedException {
		try (LedgerInstance instance = LedgerInstance.start(TestPostgres.url(), scope, LONGEST_PAUSE)) {
			for (int runs = ThreadLocalRandom.current().nextInt(1, 6); runs > 0; runs--) {
				instance.awaitRun();
			}
			LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(2 * LONGEST_PAUSE.toNanos()));
		}
		Awaitility.await().until(() -> ForeignSession.isFree(KEY) && connectionsOfKilled() == 0);
	}

	private static int connectionsOfKilled() {
		return TestPostgres
			.query("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'al:%' "
					+ "AND application_name NOT LIKE 'al:tests@%'")
			.size();
	}

	private static List<String> executed() {
		return TestPostgres.query("SELECT to_char(tick AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') "
				+ "FROM ledger_tests_run WHERE outcome = 'EXECUTED' ORDER BY tick");
	}

	private static List<String> ticks(int count) {
		return IntStream.range(0, count).mapToObj((n) -> LedgerInstance.tick(n).toString()).toList();
	}

}
