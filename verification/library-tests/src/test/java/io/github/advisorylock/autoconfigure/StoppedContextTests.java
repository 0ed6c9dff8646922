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

package io.github.advisorylock.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.AbstractApplicationContext;
import org.springframework.context.support.DefaultLifecycleProcessor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what a context that is stopped, but not closed, leaves open.
 */
@Tag("gate")
class StoppedContextTests {

	private static final LockRequest SESSION = LockRequest.of("session").scope(LockScope.SESSION);

	private static final LockRequest TICK = LockRequest.of("ticking")
		.scope(LockScope.SESSION)
		.rememberTick(Instant.EPOCH, Duration.ofMinutes(5));

	private final ExecutorService executor = Executors.newCachedThreadPool();

	private final ApplicationContextRunner application = LockContextRunner.create()
		.withPropertyValues("advisory-lock.session.heartbeat=100ms", "advisory-lock.session.dead-client-timeout=2s");

	@AfterEach
	void stopThreads() {
		this.executor.shutdownNow();
	}

	@Test
	void connectionOfSessionLocksIsClosed() {
		this.application.run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			assertThat(operations.execute(SESSION, (lock) -> connections()).orElseThrow()).isOne();
			stop(context);
			awaitClosed();
		});
	}

	@Test
	void connectionsToOtherDatabasesAreClosed() {
		ReportingDatabase.application().run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			operations.execute(SESSION, (lock) -> true).orElseThrow();
			operations.execute(SESSION.transactionManager("reportingTx"), (lock) -> true).orElseThrow();
			assertThat(connections()).isEqualTo(2);
			stop(context);
			awaitClosed();
		});
	}

	@Test
	void connectionOfALeaderIsClosed() {
		this.application.withBean(Leading.class).run((context) -> {
			Leading leading = context.getBean(Leading.class);
			Awaitility.await().atMost(Patience.TIME).until(() -> "led".equals(leading.lead()));
			stop(context);
			awaitClosed();
			source(context).start();
			Awaitility.await().atMost(Patience.TIME).until(() -> "led".equals(leading.lead()));
		});
	}

	@Test
	void callAfterTheStopHasAConnectionForAsLongAsItTakes() {
		this.application.run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			stop(context);
			assertThat(operations.execute(SESSION, (lock) -> ForeignSession.isHeld(lock.key())).orElseThrow()).isTrue();
			awaitClosed();
		});
	}

	@Test
	void startTakesAgainWhatIsToBeRemembered() {
		AdvisoryLockKey remembered = AdvisoryLockKey.of("test", "advisory-lock:tick:ticking@" + Instant.EPOCH);
		this.application.run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			assertThat(operations.execute(TICK, (lock) -> true).executed()).isTrue();
			assertThat(ForeignSession.isHeld(remembered)).isTrue();
			stop(context);
			awaitClosed();
			assertThat(operations.execute(TICK, (lock) -> true).outcome()).isEqualTo(LockOutcome.ALREADY_RAN);
			awaitClosed();
			source(context).start();
			Awaitility.await().atMost(Patience.TIME).until(() -> ForeignSession.isHeld(remembered));
			assertThat(operations.execute(TICK, (lock) -> true).outcome()).isEqualTo(LockOutcome.ALREADY_RAN);
		});
	}

	@Test
	void lockThatIsHeldKeepsTheConnectionUntilItIsReleased() {
		this.application.run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			HeldLock held = operations.tryAcquire(LockRequest.of("held")).orElseThrow();
			stop(context);
			assertThat(ForeignSession.isHeld(held.key())).isTrue();
			assertThat(held.isHeld()).isTrue();
			held.close();
			awaitClosed();
		});
	}

	@Test
	void runThatOutlastsTheStopKeepsItsLockAndTheConnection() {
		this.application
			.withBean(AbstractApplicationContext.LIFECYCLE_PROCESSOR_BEAN_NAME, DefaultLifecycleProcessor.class,
					StoppedContextTests::shortPhases)
			.run((context) -> {
				AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
				CountDownLatch running = new CountDownLatch(1);
				CountDownLatch stopped = new CountDownLatch(1);
				Future<Boolean> job = this.executor.submit(() -> operations.execute(SESSION, (lock) -> {
					running.countDown();
					assertThat(stopped.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
					return lock.isHeld() && ForeignSession.isHeld(lock.key());
				}).orElseThrow());
				assertThat(running.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
				stop(context);
				stopped.countDown();
				assertThat(job).succeedsWithin(Patience.TIME).isEqualTo(true);
				awaitClosed();
			});
	}

	@Test
	void connectionIsKeptBetweenLocksAfterAStart() {
		this.application.run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			stop(context);
			source(context).start();
			int first = operations.execute(SESSION, (lock) -> backend(lock.key())).orElseThrow();
			Awaitility.await()
				.pollDelay(Duration.ofMillis(500))
				.untilAsserted(
						() -> assertThat(operations.execute(SESSION, (lock) -> backend(lock.key())).orElseThrow())
							.isEqualTo(first));
		});
	}

	private static DefaultLifecycleProcessor shortPhases() {
		DefaultLifecycleProcessor processor = new DefaultLifecycleProcessor();
		processor.setTimeoutPerShutdownPhase(200);
		return processor;
	}

	private static void stop(AssertableApplicationContext context) {
		source(context).stop();
	}

	private static ConfigurableApplicationContext source(AssertableApplicationContext context) {
		return context.getSourceApplicationContext(ConfigurableApplicationContext.class);
	}

	/**
	 * Await that the server has seen it, which without a stop takes five minutes.
	 */
	private static void awaitClosed() {
		Awaitility.await().atMost(Patience.TIME).until(() -> connections() == 0);
	}

	private static int connections() {
		return TestPostgres.connections("test").size();
	}

	private static int backend(AdvisoryLockKey key) {
		return Integer.parseInt(TestPostgres
			.query("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = "
					+ Integer.toUnsignedString(key.classId()) + " AND objid = "
					+ Integer.toUnsignedString(key.objectId()))
			.get(0));
	}

	static class Leading {

		@LeaderOnly("stopped")
		@Nullable String lead() {
			return "led";
		}

	}

}
