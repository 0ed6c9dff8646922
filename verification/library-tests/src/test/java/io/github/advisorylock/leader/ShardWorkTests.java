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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.autoconfigure.AdvisoryLockMetricsAutoConfiguration;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.context.ApplicationContext;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests for what the leader of shards does, is told and sends.
 */
@Tag("gate")
class ShardWorkTests {

	private static final int SHARDS = 4;

	private static final Duration TIME = Duration.ofMinutes(1);

	/**
	 * The server ends the session while the call for shard 1 is running.
	 */
	@Test
	void lossInterruptsTheCallThatIsRunningAndLaterCallsAreOfHigherTerms() {
		LockContextRunner.create()
			.withConfiguration(AutoConfigurations.of(AdvisoryLockMetricsAutoConfiguration.class))
			.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.withBean(Jobs.class)
			.withBean(Changes.class)
			.withPropertyValues("advisory-lock.session.heartbeat=100ms", "advisory-lock.session.dead-client-timeout=2s")
			.run((context) -> {
				awaitAll(context);
				assertThat(gauges(context)).hasSize(SHARDS).containsOnly(1.0);
				Jobs jobs = context.getBean(Jobs.class);
				List<String> calls = new ArrayList<>();
				assertThatThrownBy(() -> jobs.relay((shard) -> {
					calls.add(shard + " begins");
					if (shard == 1) {
						TestPostgres.terminate("test");
						awaitInterrupt();
					}
					calls.add(shard + " ends");
				})).hasMessageContaining("interrupted in shard 1");
				assertThat(calls).startsWith("0 begins", "0 ends", "1 begins").doesNotContain("1 ends");
				assertThat(Thread.interrupted()).as("interrupted still").isFalse();
				awaitAll(context);
				List<Integer> called = new ArrayList<>();
				jobs.relay((shard) -> {
					LockContext.current().orElseThrow().checkHeld();
					assertThat(Thread.currentThread().isInterrupted()).isFalse();
					called.add(shard);
				});
				assertThat(called).containsExactly(0, 1, 2, 3);
				Changes changes = context.getBean(Changes.class);
				IntStream.range(0, SHARDS).mapToObj((shard) -> "outbox#" + shard).forEach((role) -> {
					Awaitility.await().until(() -> changes.gained(role).size() == 2 && changes.lost(role).size() == 1);
					assertThat(changes.gained(role).get(1)).isGreaterThan(changes.gained(role).get(0));
					assertThat(changes.lost(role)).containsExactly(changes.gained(role).get(0));
				});
				assertThat(gauges(context)).hasSize(SHARDS).containsOnly(1.0);
				context.getBean(LeaderElection.class).resign("outbox#2");
				assertThat(gauges(context)).containsExactly(1.0, 1.0, 0.0, 1.0);
			});
	}

	/**
	 * As seen on the wire, of one that leads them all and of one that follows. A minute
	 * that begins with a statement has one more than another one.
	 */
	@Test
	void eightShardsSendNoMoreThanOneRole() {
		SettableTicker ticker = new SettableTicker();
		try (TestProxy ofLeader = new TestProxy(Duration.ZERO);
				TestProxy ofFollower = new TestProxy(Duration.ZERO);
				LeaderCandidate leader = candidate(ofLeader, ticker)) {
			LeaderReplacementTests.awaitLeader(leader, ticker);
			try (LeaderCandidate follower = candidate(ofFollower, ticker)) {
				Awaitility.await().until(follower::isFollowing);
				List<Integer> one = statements(ticker, ofLeader, ofFollower);
				LeaderCandidate.awaitWhile(() -> ticker.advance(Duration.ofMillis(50)),
						() -> leader.election().shards("outbox", 8).size() == 8);
				assertThat(follower.election().shards("outbox", 8)).isEmpty();
				statements(ticker, ofLeader, ofFollower);
				List<Integer> eight = statements(ticker, ofLeader, ofFollower);
				assertThat(eight.get(0)).isPositive().isLessThanOrEqualTo(one.get(0) + 2);
				assertThat(eight.get(1)).isPositive().isLessThanOrEqualTo(one.get(1) + 2);
			}
		}
	}

	private static LeaderCandidate candidate(TestProxy proxy, SettableTicker ticker) {
		return new LeaderCandidate(new DriverManagerDataSource(proxy.url()), LockSessionSettings.DEFAULT,
				ticker.threads());
	}

	private static List<Integer> statements(SettableTicker ticker, TestProxy... proxies) {
		List<Integer> before = List.of(proxies[0].waits(), proxies[1].waits());
		ticker.advance(TIME);
		return List.of(proxies[0].waits() - before.get(0), proxies[1].waits() - before.get(1));
	}

	private static void awaitInterrupt() {
		try {
			new CountDownLatch(1).await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException("interrupted in shard " + LockContext.currentShard(), ex);
		}
	}

	private static void awaitAll(ApplicationContext context) {
		Awaitility.await()
			.until(() -> context.getBean(LeaderElection.class).shards("outbox", SHARDS).equals(Set.of(0, 1, 2, 3)));
	}

	private static List<Double> gauges(ApplicationContext context) {
		MeterRegistry meters = context.getBean(MeterRegistry.class);
		return IntStream.range(0, SHARDS)
			.mapToObj((shard) -> meters.get("advisory.lock.leader").tag("role", "outbox#" + shard).gauge().value())
			.toList();
	}

	static class Jobs {

		@LeaderOnly(value = "outbox", shards = SHARDS)
		void relay(IntConsumer part) {
			part.accept(LockContext.currentShard());
		}

	}

	static class Changes {

		private final List<LeadershipGainedEvent> gained = new CopyOnWriteArrayList<>();

		private final List<LeadershipLostEvent> lost = new CopyOnWriteArrayList<>();

		@EventListener
		void gained(LeadershipGainedEvent event) {
			this.gained.add(event);
		}

		@EventListener
		void lost(LeadershipLostEvent event) {
			this.lost.add(event);
		}

		private List<Long> gained(String role) {
			return this.gained.stream()
				.filter((one) -> one.role().equals(role))
				.map(LeadershipGainedEvent::term)
				.toList();
		}

		private List<Long> lost(String role) {
			return this.lost.stream().filter((one) -> one.role().equals(role)).map(LeadershipLostEvent::term).toList();
		}

	}

}
