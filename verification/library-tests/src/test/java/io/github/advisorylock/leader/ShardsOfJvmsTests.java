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

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.testsupport.JavaProcess;
import io.github.advisorylock.testsupport.TestPostgres;
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
 * Tests for shards in JVMs that join, stop, are killed, and lose their sessions: ten
 * thousand samples of the lock table, or as many as {@code -Dsamples} says, and what each
 * call has written.
 */
class ShardsOfJvmsTests {

	private static final Log logger = LogFactory.getLog(ShardsOfJvmsTests.class);

	private static final int SAMPLES = Integer.getInteger("samples", 10_000);

	private static final String CALLS_UNDER_WAY = "SELECT concat_ws(' ', shard, instance, id) FROM sharded_call "
			+ "WHERE ended IS NULL";

	private static final String HOLDERS = "SELECT concat_ws(' ', k.shard, substring(a.application_name FROM '@(.*)')) "
			+ "FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid JOIN (VALUES "
			+ IntStream.range(0, ShardedApplication.SHARDS)
				.mapToObj((shard) -> "(" + shard + ", " + Integer.toUnsignedString(key(shard).classId()) + ", "
						+ Integer.toUnsignedString(key(shard).objectId()) + ")")
				.collect(Collectors.joining(", "))
			+ ") k (shard, high, low) ON l.classid::bigint = k.high AND l.objid::bigint = k.low "
			+ "WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1";

	@TempDir
	private Path directory;

	private final Map<String, JavaProcess> instances = new TreeMap<>();

	private final Set<String> killed = new HashSet<>();

	private final List<String> violations = new CopyOnWriteArrayList<>();

	private int started;

	private int agreed;

	private Duration longest = Duration.ZERO;

	private volatile int samples;

	private volatile boolean over;

	@BeforeEach
	void createTable() {
		TestPostgres.execute("DROP TABLE IF EXISTS sharded_call");
		TestPostgres.execute("CREATE TABLE sharded_call (id bigserial PRIMARY KEY, shard int, term bigint, "
				+ "instance text, begun timestamptz DEFAULT clock_timestamp(), ended timestamptz)");
		TestPostgres.execute("CREATE INDEX ON sharded_call (shard, begun)");
		TestPostgres.execute("CREATE INDEX ON sharded_call (id) WHERE ended IS NULL");
	}

	@AfterEach
	void stopInstances() {
		this.over = true;
		this.instances.values().forEach(JavaProcess::kill);
	}

	@Test
	@Tag("gate")
	void noShardIsLedByTwoWhenInstancesJoinAreKilledAndLoseTheirSessions() throws InterruptedException {
		inSamples(() -> {
			measure("the first has started", this::start);
			measure("the second has joined", this::start);
			measure("all sessions were ended",
					() -> assertThat(TestPostgres.terminate(ShardedApplication.NAME)).isEqualTo(2));
			measure("one was killed", () -> remove().kill());
		});
	}

	@Test
	@Tag("chaos")
	void noShardIsLedByTwoAndInstancesShareThemSoonWhateverHappens() throws InterruptedException {
		inSamples(() -> {
			measure("the first has started", this::start);
			measure("the second has joined", this::start);
			measure("the third has joined", this::start);
			do {
				measure("one has stopped", () -> remove().stop());
				measure("another has joined", this::start);
				measure("one was killed", () -> remove().kill());
				measure("another has joined", this::start);
				measure("all sessions were ended",
						() -> assertThat(TestPostgres.terminate(ShardedApplication.NAME)).isEqualTo(3));
			}
			while (this.samples < SAMPLES && this.violations.isEmpty());
		});
		assertThat(this.longest).isLessThan(Duration.ofSeconds(25));
	}

	private void inSamples(Runnable events) throws InterruptedException {
		Thread sampler = new Thread(this::sample, "sampler");
		sampler.start();
		events.run();
		this.over = true;
		sampler.join();
		String calls = TestPostgres.query("SELECT count(*) FROM sharded_call").get(0);
		logger.info(this.samples + " samples, " + this.agreed + " times a call was under its holder, " + calls
				+ " calls of " + this.started + " instances");
		assertThat(this.violations).isEmpty();
		assertThat(this.agreed).isPositive();
		assertThat(besideTheNext("n.begun < c.ended AND n.id <> c.id")).as("calls for a shard at one time").isEmpty();
		assertThat(besideTheNext("n.term < c.term OR (n.term = c.term AND n.instance <> c.instance)"))
			.as("terms that do not rise")
			.isEmpty();
	}

	private static List<String> besideTheNext(String condition) {
		return TestPostgres
			.query("SELECT concat(c, ' and ', n) FROM sharded_call c, LATERAL (SELECT * FROM sharded_call n "
					+ "WHERE n.shard = c.shard AND (n.begun, n.id) > (c.begun, c.id) ORDER BY n.begun, n.id LIMIT 1) n WHERE "
					+ condition);
	}

	/**
	 * A call that is under way before and after the holders are asked for was so
	 * meanwhile. One that has lost its lock may not know yet; it has nobody beside it.
	 */
	private void sample() {
		try (Connection connection = TestPostgres.open(); Statement statement = connection.createStatement()) {
			while (!this.over) {
				Set<String> before = new HashSet<>(query(statement, CALLS_UNDER_WAY));
				List<String> holders = query(statement, HOLDERS);
				before.retainAll(query(statement, CALLS_UNDER_WAY));
				holders.stream()
					.filter((one) -> holders.stream()
						.anyMatch((other) -> !one.equals(other) && shard(one).equals(shard(other))))
					.forEach((one) -> this.violations.add("held by two: " + holders));
				before.stream().filter((call) -> !isOfKilled(call)).forEach((call) -> compare(call, holders));
				this.samples++;
			}
		}
		catch (SQLException ex) {
			this.violations.add("no sample: " + ex);
		}
	}

	private void compare(String call, List<String> holders) {
		for (String holder : holders) {
			if (call.startsWith(holder + " ")) {
				this.agreed++;
			}
			else if (shard(call).equals(shard(holder))) {
				this.violations.add("call " + call + ", held by " + holder);
			}
		}
	}

	private synchronized boolean isOfKilled(String call) {
		return this.killed.contains(call.split(" ")[1]);
	}

	private static String shard(String row) {
		return row.substring(0, row.indexOf(' '));
	}

	private static List<String> query(Statement statement, String sql) throws SQLException {
		List<String> rows = new CopyOnWriteArrayList<>();
		try (ResultSet answer = statement.executeQuery(sql)) {
			while (answer.next()) {
				rows.add(answer.getString(1));
			}
		}
		return rows;
	}

	/**
	 * Measure how long it takes from the end of an event until each instance has its
	 * share, and each shard a call that has begun since.
	 */
	private void measure(String event, Runnable action) {
		action.run();
		long begun = System.nanoTime();
		String since = TestPostgres.query("SELECT clock_timestamp()").get(0);
		Awaitility.await(event).pollInterval(Duration.ofMillis(50)).until(() -> isShared(since));
		Duration time = Duration.ofNanos(System.nanoTime() - begun);
		logger.info(event + ": " + shares() + " after " + time.toMillis() + " ms");
		this.longest = (time.compareTo(this.longest) > 0) ? time : this.longest;
	}

	private boolean isShared(String since) {
		Set<String> leaders = new HashSet<>(TestPostgres.query("SELECT DISTINCT concat_ws(' ', shard, instance) "
				+ "FROM sharded_call WHERE begun > '" + since + "'"));
		int number = this.instances.size();
		int[] fair = IntStream.range(0, number).map((i) -> (ShardedApplication.SHARDS + i) / number).toArray();
		return shares().size() == number
				&& Arrays.equals(fair, shares().values().stream().mapToInt(Long::intValue).sorted().toArray())
				&& leaders.containsAll(TestPostgres.query(HOLDERS));
	}

	private static Map<String, Long> shares() {
		return TestPostgres.query(HOLDERS)
			.stream()
			.collect(Collectors.groupingBy((row) -> row.substring(row.indexOf(' ') + 1), TreeMap::new,
					Collectors.counting()));
	}

	private void start() {
		String name = "i" + ++this.started;
		JavaProcess instance = JavaProcess.start(this.directory.resolve(name + ".log"), ShardedApplication.class,
				"--spring.datasource.url=" + TestPostgres.url(), "--advisory-lock.instance=" + name);
		this.instances.put(name, instance);
		instance.awaitLine("Started");
	}

	/**
	 * Take the instance out that is there the longest.
	 */
	private synchronized JavaProcess remove() {
		String oldest = this.instances.keySet().iterator().next();
		this.killed.add(oldest);
		return this.instances.remove(oldest);
	}

	private static AdvisoryLockKey key(int shard) {
		return AdvisoryLockKey.of(ShardedApplication.NAME, "leader:" + ShardedApplication.ROLE + "#" + shard);
	}

}
