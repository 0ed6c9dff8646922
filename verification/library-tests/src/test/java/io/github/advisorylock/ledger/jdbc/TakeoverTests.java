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

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.JavaProcess;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestServer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link UnfinishedTickWatcher} in three JVMs: ten ticks in each scope at a
 * time, whose runner is killed, fails, or loses the database. Two times, or as often as
 * {@code -Dtakeover} says; nothing is restarted before the ticks are completed.
 */
@Tag("chaos")
class TakeoverTests {

	private static final Log logger = LogFactory.getLog(TakeoverTests.class);

	private static final int ROUNDS = Integer.getInteger("takeover", 2);

	private static final int JOBS = 20;

	@TempDir
	private Path directory;

	private TestServer server;

	private final List<JavaProcess> instances = new ArrayList<>();

	private int started;

	@BeforeEach
	void startServer() {
		this.server = TestServer.start(this.directory.resolve("data"), Map.of("max_connections", "200"));
		this.server.execute("CREATE TABLE takeover_begin (key text, tick timestamptz, attempt int, pid bigint, "
				+ "at timestamptz)");
		this.server.execute("CREATE TABLE takeover_effect (key text, tick timestamptz, fencing_token bigint)");
		this.server.execute("CREATE TABLE takeover_skip (key text, tick timestamptz, pid bigint, at timestamptz)");
		this.server.execute("CREATE TABLE takeover_victim (pid bigint)");
		this.server.execute("CREATE TABLE takeover_trial (key text, tick timestamptz, since timestamptz)");
	}

	@AfterEach
	void stopInstances() {
		this.instances.forEach(JavaProcess::kill);
		this.server.close();
	}

	@Test
	void ticksWhoseRunnerIsKilledAreTakenOver() {
		for (int round = 0; round < ROUNDS; round++) {
			startInstances("*/20 * * * * *", false);
			JavaProcess victim = this.instances.remove(0);
			await("the time between two ticks",
					"SELECT extract(second FROM clock_timestamp())::int % 20 BETWEEN 5 AND 15");
			this.server.execute("INSERT INTO takeover_victim VALUES (" + victim.pid() + ")");
			String since = this.server.query("SELECT clock_timestamp()");
			String begun = " FROM takeover_begin WHERE pid = " + victim.pid() + " AND at > '" + since + "'";
			await("all that the victim begins", "SELECT count(DISTINCT key) = " + JOBS + begun);
			String tick = this.server.query("SELECT max(tick)" + begun);
			// of a run in progress: they look within four seconds
			await("what the others have seen of it",
					"SELECT count(DISTINCT (key, pid)) = 2 * " + JOBS
							+ " AND max(at) < clock_timestamp() - interval '4500 ms' FROM takeover_skip WHERE tick = '"
							+ tick + "'");
			this.server.execute("INSERT INTO takeover_trial SELECT key, tick, clock_timestamp()" + begun);
			victim.kill();
			this.server.execute("DELETE FROM takeover_victim");
			awaitEffects(tick);
		}
		report("kill", "b.pid <> (SELECT f.pid FROM takeover_begin f WHERE f.key = b.key AND f.tick = b.tick "
				+ "ORDER BY f.at LIMIT 1)");
		assertThatEachTickHasOneEffect();
		assertThat(this.server.query("""
				SELECT string_agg(concat_ws(' ', r.key, r.tick, r.attempt, r.instance, r.fencing_token, r.started_at,
				  r.finished_at, r.outcome), E'\\n' ORDER BY r.key, r.fencing_token)
				FROM takeover_trial t LEFT JOIN advisory_lock_run r USING (key, tick)
				WHERE t.key LIKE 's%' AND NOT EXISTS (SELECT FROM advisory_lock_run a WHERE a.outcome = 'ABANDONED'
				  AND a.key = t.key AND a.tick = t.tick)"""))
			.as("runs of ticks in scope SESSION without the one that was killed")
			.isNull();
	}

	@Test
	void ticksWhoseFirstAttemptFailsAreTriedAgain() {
		startInstances("0 * * * * *", true);
		for (int round = 0; round < ROUNDS; round++) {
			// One to come: a tick from before there was an instance is nobody's
			String tick = this.server.query("SELECT date_trunc('minute', clock_timestamp()) + interval '1 minute'");
			beginTrial(tick, "'" + tick + "'");
			awaitEffects(tick);
		}
		report("tick", "b.attempt > 1");
		assertThatEachTickHasOneEffect();
		assertThat(this.server.query("SELECT count(*) FROM advisory_lock_run r WHERE outcome = 'FAILED' "
				+ "AND (key, tick) IN (SELECT key, tick FROM takeover_trial) AND attempt = 1"))
			.as("failed attempts")
			.isEqualTo(trials());
		assertThat(this.server.query("SELECT count(*) FROM takeover_begin WHERE attempt > 2")).isEqualTo("0");
	}

	@Test
	void ticksOfAnOutageAreMadeUpForOnceTheDatabaseIsBack() {
		startInstances("0 * * * * *", false);
		await("the end of a minute", "SELECT extract(second FROM clock_timestamp()) BETWEEN 46 AND 52");
		String tick = this.server.query("SELECT date_trunc('minute', clock_timestamp()) + interval '1 minute'");
		this.server.stop();
		Awaitility.await().pollDelay(Duration.ofSeconds(20)).atMost(Patience.TIME).until(() -> true);
		this.server.start();
		beginTrial(tick, "clock_timestamp()");
		awaitEffects(tick);
		report("the database was back", "true");
		assertThatEachTickHasOneEffect();
	}

	private void assertThatEachTickHasOneEffect() {
		assertThat(this.server.query("SELECT count(*) FROM takeover_effect e JOIN takeover_trial t USING (key, tick)"))
			.as("effects")
			.isEqualTo(trials());
		assertThat(this.server.query(
				"SELECT count(*) FROM (SELECT FROM takeover_effect GROUP BY key, tick " + "HAVING count(*) > 1) twice"))
			.as("ticks with two effects")
			.isEqualTo("0");
		assertThat(this.server.query("SELECT count(DISTINCT (key, tick)) FROM advisory_lock_run "
				+ "JOIN takeover_trial t USING (key, tick) WHERE outcome = 'EXECUTED'"))
			.as("ticks that are completed")
			.isEqualTo(trials());
	}

	private void report(String since, String taken) {
		for (LockScope scope : LockScope.values()) {
			logger.info(scope + ": ticks, and seconds from " + since + " to the next begin (median, longest): "
					+ this.server
						.query("""
								SELECT concat_ws(', ', count(*), round(percentile_cont(0.5) WITHIN GROUP (ORDER BY took)::numeric, 2),
								  round(max(took)::numeric, 2)) FROM (
								  SELECT extract(epoch FROM min(b.at) - t.since) AS took FROM takeover_trial t
								  JOIN takeover_begin b ON b.key = t.key AND b.tick = t.tick WHERE b.key LIKE '%s' AND b.at > t.since AND %s
								  GROUP BY b.key, b.tick, t.since) x"""
							.formatted(scope.name().toLowerCase(Locale.ROOT).charAt(0) + "%", taken)));
		}
	}

	private void beginTrial(String tick, String since) {
		this.server.execute("INSERT INTO takeover_trial SELECT scope || job, '" + tick + "', " + since
				+ " FROM unnest(ARRAY['t', 's']) scope, generate_series(0, 9) job");
	}

	private String trials() {
		return this.server.query("SELECT count(*) FROM takeover_trial");
	}

	private void startInstances(String cron, boolean fail) {
		Set<JavaProcess> starting = new HashSet<>();
		while (this.instances.size() < 3) {
			JavaProcess instance = JavaProcess.start(this.directory.resolve("instance" + this.started++ + ".log"),
					TakeoverApplication.class, "--spring.datasource.url=" + this.server.url(), "--cron=" + cron,
					"--fail=" + fail);
			this.instances.add(instance);
			starting.add(instance);
		}
		starting.forEach((instance) -> instance.awaitLine(TakeoverApplication.STARTED));
	}

	private void awaitEffects(String tick) {
		await("effects of " + tick,
				"SELECT count(DISTINCT key) = " + JOBS + " FROM takeover_effect WHERE tick = '" + tick + "'");
	}

	private void await(String what, String condition) {
		Awaitility.await(what)
			.atMost(Duration.ofMinutes(2))
			.pollInterval(Duration.ofMillis(100))
			.until(() -> "t".equals(this.server.query(condition)));
	}

}
