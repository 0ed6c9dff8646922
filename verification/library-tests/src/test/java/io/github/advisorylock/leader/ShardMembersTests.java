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

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for who has a share in a role that is led in shards, as the lock table tells.
 */
@Tag("gate")
@ExtendWith(OutputCaptureExtension.class)
class ShardMembersTests {

	private static final String UNKNOWN = "Leading role 'outbox' without a share";

	private static final String DIVIDED = "Another instance leads role 'outbox' undivided, and this one in 8: no shard";

	private static final String UNDIVIDED = "Another instance leads role 'outbox' in shards, and this one runs for it undivided";

	private static final String BLIND = TestPostgres.url().replaceFirst("/[^/?]+\\?", "/blind?");

	private final ApplicationContextRunner application = LockContextRunner.create()
		.withPropertyValues("advisory-lock.session.heartbeat=100ms", "advisory-lock.session.dead-client-timeout=600ms");

	@BeforeAll
	static void createDatabase() {
		TestPostgres.execute("CREATE ROLE blind LOGIN PASSWORD 'blind'");
		TestPostgres.execute("CREATE DATABASE blind OWNER blind");
		TestPostgres.execute(BLIND, "REVOKE EXECUTE ON FUNCTION pg_catalog.string_agg(text, text) FROM PUBLIC");
	}

	@AfterAll
	static void dropDatabase() {
		TestPostgres.execute("DROP DATABASE blind WITH (FORCE)");
		TestPostgres.execute("DROP ROLE blind");
	}

	/**
	 * Beside the locks of all members, and of what they guard.
	 */
	@Test
	void whoRunsForTheRoleHasALockMoreAsLongAsItDoes() {
		this.application.run((first) -> this.application.run((second) -> {
			first.getBean(LeaderElection.class).isLeader("other");
			second.getBean(LeaderElection.class).isLeader("other");
			Awaitility.await().until(() -> TestPostgres.connections("test").size() == 2);
			assertThat(TestPostgres.memberLocks("test")).isEmpty();
			assertThat(shards(first)).isEmpty();
			Awaitility.await().until(() -> shards(first).size() == 1);
			assertThat(runners()).hasSize(1);
			assertThat(shards(second)).isEmpty();
			Awaitility.await().until(() -> runners().size() == 2);
			assertThat(TestPostgres.memberLocks("test")).as("of all, and of those who run").hasSize(2);
			second.getBean(PostgresLeaderElection.class).stop();
			Awaitility.await().until(() -> runners().size() == 1);
			assertThat(TestPostgres.connections("test")).as("its session goes on").hasSize(2);
			assertThat(shards(first)).containsExactly(0);
		}));
	}

	@Test
	void roleIsLedWithoutAShareWhereTheServerDoesNotTellWhoRunsForIt(CapturedOutput output) {
		ApplicationContextRunner blind = this.application.withPropertyValues(
				"spring.datasource.url=" + TestPostgres.url().replaceFirst("/[^/?]+\\?.*", "/blind"),
				"spring.datasource.username=blind", "spring.datasource.password=blind");
		blind.run((first) -> {
			shards(first);
			Awaitility.await().until(() -> shards(first).equals(List.of(0)));
			assertThat(output.toString()).containsOnlyOnce(UNKNOWN);
		});
	}

	@Test
	void lookThatFailsIsToldOnceForAllShards(CapturedOutput output) {
		ApplicationContextRunner blind = this.application.withPropertyValues(
				"spring.datasource.url=" + TestPostgres.url().replaceFirst("/[^/?]+\\?.*", "/blind"),
				"spring.datasource.username=blind", "spring.datasource.password=blind");
		TestPostgres.execute(BLIND, "REVOKE EXECUTE ON FUNCTION pg_catalog.pg_try_advisory_lock(bigint) FROM PUBLIC");
		blind.run((first) -> {
			shards(first, 8);
			Awaitility.await().until(() -> output.toString().contains("Failed to campaign for role"));
			TestPostgres.execute(BLIND, "GRANT EXECUTE ON FUNCTION pg_catalog.pg_try_advisory_lock(bigint) TO PUBLIC");
			Awaitility.await().until(() -> shards(first, 8).size() == 8);
			assertThat(output.toString()).containsOnlyOnce("Failed to campaign")
				.containsPattern("role 'outbox#\\d' and 8 more, will try again");
		});
	}

	/**
	 * Whoever comes later: each has its number from the start on.
	 */
	@Test
	void otherNumberOfShardsIsToldOnBothInstancesAndNoShardHasTwoLeaders(CapturedOutput output) {
		this.application.run((first) -> {
			Awaitility.await().until(() -> shards(first, 8).size() == 8);
			this.application.run((second) -> {
				assertThat(shards(second, 4)).isEmpty();
				Awaitility.await().until(() -> output.toString().contains("in 8 shards, and this one in 4"));
				Awaitility.await().until(() -> output.toString().contains("in 4 shards, and this one in 8"));
				first.getBean(LeaderElection.class).resign("outbox");
				Awaitility.await().until(() -> shards(second, 4).size() == 4);
				assertThat(shards(first, 8)).doesNotContainAnyElementsOf(shards(second, 4));
				IntStream.range(0, 4).forEach((shard) -> assertThat(holders("outbox#" + shard)).hasSize(1));
				assertThat(output.toString()).containsOnlyOnce("and this one in 8")
					.containsOnlyOnce("and this one in 4")
					.contains("Use the same 'shards' of @LeaderOnly on all instances");
			});
		});
	}

	/**
	 * Beside what is sent anyway: a look, and what is told of it.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void undividedRoleOfAnotherInstanceIsToldOnBothInstancesWhicheverComesLater(boolean later, CapturedOutput output) {
		this.application.run((first) -> {
			Awaitility.await().until(() -> leads(first, later));
			this.application.run((second) -> {
				Awaitility.await().until(() -> leads(second, !later));
				Awaitility.await().until(() -> output.toString().contains(DIVIDED));
				Awaitility.await().until(() -> output.toString().contains(UNDIVIDED));
				assertThat(holders("outbox")).hasSize(1).isNotEqualTo(holders("outbox#0"));
			});
			// another one comes, which was not told
			this.application.run((third) -> {
				Awaitility.await().until(() -> leads(third, !later));
				Awaitility.await().until(() -> occurrences(output, later ? UNDIVIDED : DIVIDED) == 2);
			});
			assertThat(occurrences(output, later ? DIVIDED : UNDIVIDED)).isOne();
		});
	}

	/**
	 * An operator has it begin nothing: it keeps its session.
	 */
	@Test
	void drainedInstanceHasNoShareUntilItIsDrainedNoLonger() {
		this.application.run((first) -> this.application.run((second) -> {
			awaitShares(first, 4, second, 4);
			LockInstance instance = first.getBean(LockInstance.class);
			instance.drain(this, true);
			awaitShares(first, 0, second, 8);
			IntStream.range(0, 8).forEach((shard) -> assertThat(holders("outbox#" + shard)).hasSize(1));
			instance.drain(this, false);
			awaitShares(first, 4, second, 4);
			assertThat(shards(first, 8)).doesNotContainAnyElementsOf(shards(second, 8));
		}));
	}

	private static void awaitShares(ApplicationContext first, int ofFirst, ApplicationContext second, int ofSecond) {
		Awaitility.await()
			.until(() -> List.of(shards(first, 8).size(), shards(second, 8).size()),
					List.of(ofFirst, ofSecond)::equals);
	}

	private static int occurrences(CapturedOutput output, String message) {
		return StringUtils.countOccurrencesOf(output.toString(), message);
	}

	private static boolean leads(ApplicationContext context, boolean divided) {
		return divided ? shards(context, 8).size() == 8 : context.getBean(LeaderElection.class).isLeader("outbox");
	}

	private static List<String> holders(String role) {
		AdvisoryLockKey key = AdvisoryLockKey.of("test", "leader:" + role);
		return TestPostgres.query("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' "
				+ "AND granted AND classid::bigint = " + Integer.toUnsignedLong(key.classId()) + " AND objid::bigint = "
				+ Integer.toUnsignedLong(key.objectId()));
	}

	private static List<String> runners() {
		AdvisoryLockKey members = AdvisoryLockKey.of("test", "advisory-lock:members");
		AdvisoryLockKey runners = AdvisoryLockKey.of("test", "advisory-lock:members:outbox/1");
		return TestPostgres.query("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' "
				+ "AND granted AND classid::bigint = " + Integer.toUnsignedLong(members.classId())
				+ " AND objid::bigint = " + Integer.toUnsignedLong(runners.objectId()));
	}

	private static List<Integer> shards(ApplicationContext context) {
		return List.copyOf(shards(context, 1));
	}

	private static Set<Integer> shards(ApplicationContext context, int number) {
		return context.getBean(LeaderElection.class).shards("outbox", number);
	}

}
