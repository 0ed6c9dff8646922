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

package io.github.advisorylock.integration;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.AbstractLockTests;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.leader.event.LeaderEventPublisher;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLockRegistry} below Spring Integration's
 * {@link LockRegistryLeaderInitiator}, in two applications.
 */
class LeaderInitiatorTests extends AbstractLockTests {

	private static final AdvisoryLockKey ROLE = AdvisoryLockKey.of(NAMESPACE, "reports");

	private final Queue<String> told = new ConcurrentLinkedQueue<>();

	private LockRegistryLeaderInitiator first;

	private LockRegistryLeaderInitiator second;

	@BeforeEach
	void createInitiators() {
		this.first = initiator("first", new AdvisoryLockRegistry(this.template));
		this.second = initiator("second", new AdvisoryLockRegistry(createTemplate(this.pool, this.transactionManager)));
	}

	@AfterEach
	void stopInitiators() {
		this.first.stop();
		this.second.stop();
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
	}

	@Test
	void leaderLeadsUntilItStops() {
		assertThat(this.first.getContext().isLeader()).isFalse();
		this.first.start();
		awaitLeader(this.first);
		assertThat(ForeignSession.isHeld(ROLE)).isTrue();
		this.first.stop();
		Awaitility.await().untilAsserted(() -> assertThat(this.told).containsExactly("first granted", "first revoked"));
		assertThat(this.first.getContext().isLeader()).isFalse();
	}

	@Test
	void anotherApplicationLeadsWhenLeaderStops() {
		this.second.setPublishFailedEvents(true);
		this.first.start();
		awaitLeader(this.first);
		this.second.start();
		Awaitility.await().until(() -> this.told.contains("second failed"));
		assertThat(this.second.getContext().isLeader()).isFalse();
		this.first.stop();
		awaitLeader(this.second);
		assertThat(this.first.getContext().isLeader()).isFalse();
	}

	@Test
	void leaderThatYieldsLeavesRoleToOther() throws Exception {
		CountDownLatch granted = new CountDownLatch(1);
		// it would take its role again at once
		this.first.setLeaderEventPublisher(new Events("first") {
			@Override
			public void publishOnRevoked(Object source, Context context, String role) {
				super.publishOnRevoked(source, context, role);
				try {
					assertThat(granted.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			}
		});
		this.first.start();
		awaitLeader(this.first);
		this.second.start();
		this.first.getContext().yield();
		awaitLeader(this.second);
		granted.countDown();
		assertThat(this.first.getContext().isLeader()).isFalse();
		assertThat(ForeignSession.holders(ROLE)).hasSize(1);
	}

	@Test
	void leaderThatLosesItsSessionIsToldAndRoleIsTakenAgain() {
		this.first.start();
		awaitLeader(this.first);
		for (String pid : ForeignSession.holders(ROLE)) {
			TestPostgres.query("SELECT pg_terminate_backend(" + pid + ", 10000)");
		}
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.told).startsWith("first granted", "first revoked", "first granted"));
		awaitLeader(this.first);
		assertThat(ForeignSession.isHeld(ROLE)).isTrue();
		this.first.getContext().yield();
		Awaitility.await()
			.untilAsserted(
					() -> assertThat(List.copyOf(this.told).subList(3, this.told.size())).contains("first revoked"));
	}

	private LockRegistryLeaderInitiator initiator(String id, AdvisoryLockRegistry registry) {
		LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(registry,
				new DefaultCandidate(id, "reports"));
		initiator.setHeartBeatMillis(50);
		initiator.setBusyWaitMillis(10);
		initiator.setLeaderEventPublisher(new Events(id));
		return initiator;
	}

	private static void awaitLeader(LockRegistryLeaderInitiator initiator) {
		Awaitility.await().until(() -> initiator.getContext().isLeader());
	}

	/**
	 * Writes down what happens to a candidate.
	 */
	private class Events implements LeaderEventPublisher {

		private final String id;

		Events(String id) {
			this.id = id;
		}

		@Override
		public void publishOnGranted(Object source, Context context, String role) {
			LeaderInitiatorTests.this.told.add(this.id + " granted");
		}

		@Override
		public void publishOnRevoked(Object source, Context context, String role) {
			LeaderInitiatorTests.this.told.add(this.id + " revoked");
		}

		@Override
		public void publishOnFailedToAcquire(Object source, Context context, String role) {
			LeaderInitiatorTests.this.told.add(this.id + " failed");
		}

	}

}
