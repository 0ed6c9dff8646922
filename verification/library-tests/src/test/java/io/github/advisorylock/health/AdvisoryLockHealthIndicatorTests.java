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

package io.github.advisorylock.health;

import java.net.ConnectException;
import java.time.Duration;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.FreePort;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link AdvisoryLockHealthIndicator}.
 */
class AdvisoryLockHealthIndicatorTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(AdvisoryLockHealthAutoConfiguration.class));

	@Test
	void applicationThatHasDoneNothingYetIsUp() {
		this.runner.run((context) -> {
			Health health = health(context);
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(health.getDetails()).containsEntry("session", "not connected")
				.containsEntry("ledger", "not used")
				.doesNotContainKey("lastLoss");
		});
	}

	@Test
	void skippedCallLeavesApplicationUp() {
		this.runner.run((context) -> {
			try (ForeignSession foreign = ForeignSession.holding(AdvisoryLockKey.of("test", "healthy"))) {
				assertThat(operations(context).execute(LockRequest.of("healthy"), (lock) -> 1).executed()).isFalse();
			}
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
		});
	}

	@Test
	void lossOfSessionIsTold() {
		this.runner.run((context) -> {
			HeldLock held = operations(context).tryAcquire(LockRequest.of("healthy")).orElseThrow();
			assertThat(health(context).getDetails()).containsEntry("session", "connected");
			TestPostgres.terminate("test");
			Awaitility.await().atMost(Patience.TIME).until(() -> !held.isHeld());
			Awaitility.await()
				.atMost(Patience.TIME)
				.untilAsserted(() -> assertThat(health(context).getDetails().get("lastLoss")).asString()
					.contains("key=test/healthy"));
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
		});
	}

	@Test
	void sessionThatCannotBeOpenedIsOutOfServiceUntilItCan() {
		int port = FreePort.find();
		this.runner.withPropertyValues("advisory-lock.session.url=" + TestProxy.url(port)).run((context) -> {
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
			assertThatExceptionOfType(DataAccessException.class)
				.isThrownBy(() -> operations(context).tryAcquire(LockRequest.of("healthy")))
				.withRootCauseInstanceOf(ConnectException.class);
			assertThat(health(context).getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
			assertThat(health(context).getDetails()).containsKey("sessionProblem");
			try (TestProxy proxy = new TestProxy(Duration.ZERO, port)) {
				Awaitility.await().atMost(Patience.TIME).until(() -> health(context).getStatus().equals(Status.UP));
				assertThat(proxy.waits()).isPositive();
			}
		});
	}

	@Test
	void lockThatIsBusyLeavesApplicationUp() {
		this.runner.run((context) -> {
			try (ForeignSession foreign = ForeignSession.holding(AdvisoryLockKey.of("test", "healthy"))) {
				assertThat(operations(context).tryAcquire(LockRequest.of("healthy"))).isEmpty();
			}
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
		});
	}

	@Test
	void ledgerThatIsUsedAndCannotBeReadIsDown() {
		this.runner
			.withPropertyValues("advisory-lock.ledger.enabled=true", "advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.table-prefix=health_")
			.run((context) -> {
				assertThat(health(context).getDetails()).containsEntry("ledger", "reachable");
				TestPostgres.execute("ALTER TABLE health_run RENAME TO health_ran");
				try {
					assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
					assertThat(health(context).getDetails()).containsEntry("ledger", "unreachable");
				}
				finally {
					TestPostgres.execute("ALTER TABLE health_ran RENAME TO health_run");
				}
			});
	}

	@Test
	void indicatorCanBeSwitchedOff() {
		this.runner.withPropertyValues("management.health.advisory-lock.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(AdvisoryLockHealthIndicator.class));
	}

	private static AdvisoryLockOperations operations(ApplicationContext context) {
		return context.getBean(AdvisoryLockOperations.class);
	}

	private static Health health(ApplicationContext context) {
		Health health = context.getBean("advisoryLockHealthIndicator", AdvisoryLockHealthIndicator.class).health();
		assertThat(health).isNotNull();
		return health;
	}

}
