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

package io.github.advisorylock.jdbc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.UntoldConnections;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for locks on connections whose driver can't be reached by its classes.
 */
class UntoldConnectionTests extends AbstractLockTests {

	private static final Duration HEARTBEAT = Duration.ofMillis(40);

	@ParameterizedTest
	@EnumSource
	void lockOfSessionOutlivesHeartbeatsThatCanHearNothing(UntoldConnections connections) {
		LockSession session = new LockSession(connections.dataSource(), NAMESPACE,
				new LockSessionSettings(HEARTBEAT, Duration.ofSeconds(10), LockSessionSettings.WhenLost.INTERRUPT),
				this.events::add);
		this.sessions.add(session);
		PostgresAdvisoryLockTemplate template = new PostgresAdvisoryLockTemplate(this.pool, this.transactionManager,
				session, NAMESPACE, AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 10);
		try (HeldLock lock = template.tryAcquire(request(LockScope.SESSION)).orElseThrow()) {
			long since = System.nanoTime();
			Awaitility.await()
				.until(() -> !lock.isHeld() || System.nanoTime() - since > TimeUnit.MILLISECONDS.toNanos(600));
			assertThat(lock.isHeld()).isTrue();
			assertThat(this.events).isEmpty();
		}
	}

}
