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

import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import io.github.advisorylock.testsupport.TestServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LockSession}: that it shares round trips, and notices its loss.
 */
@Tag("gate")
class LockSessionTests extends AbstractLockTests {

	private static final LockRequest REQUEST = LockRequest.of("job").scope(LockScope.SESSION);

	private static final Duration HEARTBEAT = Duration.ofMillis(40);

	@Test
	void jobIsToldOfEachOfHundredLossesAndTheNextAcquireWorks() throws Exception {
		useSession(TestPostgres.url(), WhenLost.INTERRUPT, Duration.ofSeconds(2));
		List<Duration> told = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			CountDownLatch running = new CountDownLatch(1);
			Future<LockContext> job = this.threads.submit(() -> runUntilInterrupted(running));
			assertThat(running.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			assertThat(TestPostgres.terminate("tests")).isOne();
			long lost = System.nanoTime();
			assertThat(job.get(Patience.SECONDS, TimeUnit.SECONDS).isHeld()).isFalse();
			told.add(Duration.ofNanos(System.nanoTime() - lost));
			assertThat(TestPostgres.locks()).isEmpty();
		}
		Awaitility.await().untilAsserted(() -> assertThat(this.events).hasSize(100));
		assertThat(this.events).isNotEmpty().allMatch(new LockLostEvent(KEY)::equals);
		assertThat(told.stream().sorted().toList().get(50)).as("half of them, on a busy machine too")
			.isLessThan(HEARTBEAT.multipliedBy(5));
	}

	@Test
	void connectionIsOpenedAgainThoughNoThreadCouldBeHadForThat() {
		AtomicBoolean threadless = new AtomicBoolean(true);
		LockScheduler.Threads threads = new LockScheduler.Threads(null) {

			@Override
			public ThreadFactory named(String name) {
				ThreadFactory made = super.named(name);
				return (task) -> {
					if (threadless.get()) {
						throw new OutOfMemoryError("expected");
					}
					return made.newThread(task);
				};
			}

		};
		try (LockSession session = new LockSession(() -> new DriverManagerDataSource(TestPostgres.url()), "tests", null,
				new LockSessionSettings(HEARTBEAT, Duration.ofSeconds(2), WhenLost.REPORT), ServerJudge.NONE,
				this.events::add, threads)) {
			session.failed(new SQLException("refused", "08001"));
			assertThat(session.problem()).contains("refused");
			assertThat(session.problem()).contains("refused");
			threadless.set(false);
			Awaitility.await().until(() -> session.problem() == null);
			assertThat(session.isConnected()).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource
	void lossIsToldInOrderAndInterruptsOnlyWhenAsked(WhenLost whenLost) throws Exception {
		useSession(TestPostgres.url(), whenLost, Duration.ofSeconds(2));
		HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
		held.onLost(() -> this.events.add("first, held: " + held.isHeld()));
		held.onLost(() -> {
			throw new IllegalStateException("expected");
		});
		held.onLost(() -> this.events.add("second, by " + Thread.currentThread().getName()));
		TestPostgres.terminate("tests");
		Awaitility.await().until(() -> this.events.size() == 3);
		assertThat(this.events).containsExactly("first, held: false", "second, by advisory-lock-worker",
				new LockLostEvent(KEY));
		assertThat(Thread.interrupted()).isFalse();
	}

	/**
	 * With this setting the driver spoils queries of different columns that it executes
	 * together.
	 */
	@Test
	void commandsThatAreSentTogetherAreAnsweredWhereTheDriverAsksForBinaryOnly() {
		LockScheduler.Threads threads = LockScheduler.Threads.ofCurrent();
		AtomicReference<Consumer<List<SessionCommand>>> work = new AtomicReference<>();
		LockSession session = new LockSession(
				() -> new DriverManagerDataSource(TestPostgres.url() + "&prepareThreshold=-1"), NAMESPACE, null,
				LockSessionSettings.DEFAULT, ServerJudge.NONE, this.events::add, threads, (executes) -> {
					work.set(executes);
					return new SessionThread(executes, threads);
				});
		this.sessions.add(session);
		List<SessionCommand.Ask> commands = Stream.of("SELECT 4711", "SELECT 4712, 'more', 'still more'")
			.map((sql) -> new SessionCommand.Ask(null, new PostgresAdvisoryLockFunctions.Call(sql, List.of())))
			.toList();
		work.get().accept(List.copyOf(commands));
		assertThat(commands).extracting(SessionCommand::failure).containsOnlyNulls();
		assertThat(commands).extracting(SessionCommand.Ask::number).containsExactly(4711L, 4712L);
	}

	@Test
	void everyRunIsInterruptedBeforeAnyListenerIsTold() throws Exception {
		useSession(TestPostgres.url(), WhenLost.INTERRUPT, Duration.ofSeconds(2));
		CountDownLatch jobsEnded = new CountDownLatch(2);
		List<Boolean> endedBefore = new CopyOnWriteArrayList<>();
		HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
		held.onLost(() -> endedBefore.add(awaitQuietly(jobsEnded)));
		CountDownLatch running = new CountDownLatch(2);
		for (String key : List.of("first", "second")) {
			this.threads.submit(() -> this.template.execute(LockRequest.of(key).scope(LockScope.SESSION), (lock) -> {
				running.countDown();
				awaitQuietly(new CountDownLatch(1));
				jobsEnded.countDown();
				return null;
			}));
		}
		assertThat(running.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		TestPostgres.terminate("tests");
		Awaitility.await().until(() -> this.events.size() == 3);
		assertThat(endedBefore).containsExactly(true);
	}

	@Test
	void errorInListenerStopsNeitherTheInterruptNorTheOtherListeners() throws Exception {
		useSession(TestPostgres.url(), WhenLost.INTERRUPT, Duration.ofSeconds(2));
		HeldLock held = this.template.tryAcquire(LockRequest.of("other")).orElseThrow();
		held.onLost(() -> {
			throw new NoClassDefFoundError("expected");
		});
		held.onLost(() -> this.events.add("second"));
		CountDownLatch running = new CountDownLatch(1);
		Future<LockContext> job = this.threads.submit(() -> runUntilInterrupted(running));
		assertThat(running.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		TestPostgres.terminate("tests");
		assertThat(job.get(Patience.SECONDS, TimeUnit.SECONDS).isHeld()).isFalse();
		Awaitility.await().until(() -> this.events.size() == 3);
		assertThat(this.events).containsExactlyInAnyOrder("second", new LockLostEvent(KEY),
				new LockLostEvent(held.key()));
	}

	@Test
	void ownInterruptDoesNotTakeBackOneThatWasThereBefore() throws Exception {
		useSession(TestPostgres.url(), WhenLost.INTERRUPT, Duration.ofSeconds(2));
		CountDownLatch interrupted = new CountDownLatch(1);
		Future<Boolean> job = this.threads.submit(() -> {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
					Thread.currentThread().interrupt();
					interrupted.countDown();
					while (this.events.isEmpty()) {
						Thread.onSpinWait();
					}
					return null;
				}));
			return Thread.interrupted();
		});
		assertThat(interrupted.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		TestPostgres.terminate("tests");
		assertThat(job.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	private static boolean awaitQuietly(CountDownLatch latch) {
		try {
			return latch.await(Patience.SECONDS, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			return false;
		}
	}

	@Test
	void reportLeavesTheJobRunningAndItsResultIsAnError() throws Exception {
		useSession(TestPostgres.url(), WhenLost.REPORT, Duration.ofSeconds(2));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
			TestPostgres.terminate("tests");
			Awaitility.await().until(() -> !this.events.isEmpty());
			return assertThat(lock.isHeld()).isFalse();
		}));
	}

	@Test
	void stalledConnectionIsALossAndFreezesNobody() {
		try (TestProxy proxy = new TestProxy(Duration.ZERO)) {
			useSession(proxy.url(), WhenLost.REPORT, Duration.ofMillis(500));
			HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
			proxy.stall();
			Awaitility.await().until(() -> !held.isHeld());
		}
		TestPostgres.terminate("tests");
		assertThat(TestPostgres.locks()).isEmpty();
	}

	/**
	 * An answer tells what was so when the server was asked, or after that.
	 */
	@Test
	void whatTheServerConfirmsIsTrustedFromTheQuestionOn() {
		Duration latency = Duration.ofMillis(300);
		try (TestProxy proxy = new TestProxy(latency)) {
			useSession(proxy.url(), WhenLost.INTERRUPT, Duration.ofSeconds(10));
			LockSession session = this.sessions.get(this.sessions.size() - 1);
			try (HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow()) {
				Duration left = Duration.ofNanos(session.trust().left(session.trust().unbrokenSince()));
				assertThat(left).isPositive().isLessThan(session.trust().length().minus(latency).plusMillis(10));
				assertThat(held.isHeld()).isTrue();
			}
		}
	}

	@Test
	void connectionThatDiedIdleIsReplacedWithoutAnError() {
		useSession(TestPostgres.url(), WhenLost.INTERRUPT, Duration.ofSeconds(2));
		this.template.tryAcquire(REQUEST).orElseThrow().close();
		TestPostgres.terminate("tests");
		assertThat(this.template.execute(REQUEST, (lock) -> 1).value()).isOne();
	}

	@Test
	void connectionThatCarriesNothingForLongIsClosedAndOpenedAgain() {
		useSession(TestPostgres.url(), new LockSessionSettings(Duration.ofMillis(100), Duration.ofSeconds(2),
				WhenLost.INTERRUPT, Duration.ofMillis(200)));
		LockSession session = this.sessions.get(this.sessions.size() - 1);
		HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
		long end = System.nanoTime() + Duration.ofMillis(600).toNanos();
		Awaitility.await().until(() -> System.nanoTime() - end > 0);
		assertThat(held.isHeld()).isTrue();
		held.close();
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.connections("tests")).isEmpty());
		Awaitility.await().until(() -> !session.isConnected());
		assertThat(this.template.execute(REQUEST, (lock) -> 1).value()).isOne();
		assertThat(this.events).isEmpty();
	}

	@Test
	void interruptAfterTheRunHasTakenOursIsKept() throws Exception {
		useSession(TestPostgres.url(), WhenLost.INTERRUPT, Duration.ofSeconds(2));
		CountDownLatch running = new CountDownLatch(1);
		Future<Boolean> job = this.threads.submit(() -> {
			assertThatExceptionOfType(InterruptedException.class)
				.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
					try {
						running.countDown();
						return new CountDownLatch(1).await(Patience.SECONDS, TimeUnit.SECONDS);
					}
					finally {
						Thread.currentThread().interrupt();
					}
				}));
			return Thread.interrupted();
		});
		assertThat(running.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		TestPostgres.terminate("tests");
		assertThat(job.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void crowdSharesRoundTrips() throws Exception {
		int crowd = 64;
		try (TestProxy proxy = new TestProxy(Duration.ofMillis(100))) {
			useSession(proxy.url(), WhenLost.INTERRUPT, Duration.ofSeconds(10));
			this.template.tryAcquire(REQUEST).orElseThrow().close();
			int before = proxy.waits();
			CountDownLatch start = new CountDownLatch(1);
			List<Future<?>> holders = new ArrayList<>();
			for (int i = 0; i < crowd; i++) {
				LockRequest request = LockRequest.of("job-" + i % 48);
				holders.add(this.threads.submit(() -> {
					start.await();
					this.template.tryAcquire(request).ifPresent(HeldLock::close);
					return null;
				}));
			}
			start.countDown();
			for (Future<?> holder : holders) {
				holder.get(Patience.SECONDS, TimeUnit.SECONDS);
			}
			assertThat(proxy.waits() - before).isLessThan(crowd / 4);
		}
	}

	@Test
	void shortWaitsOfACrowdLeaveNothingHeld() throws Exception {
		letCrowdWaitShortly(Duration.ofSeconds(2));
	}

	@Test
	@Tag("chaos")
	void shortWaitsOfACrowdLeaveNothingHeldForLong() throws Exception {
		letCrowdWaitShortly(Duration.ofSeconds(30));
	}

	private void letCrowdWaitShortly(Duration howLong) throws Exception {
		AtomicInteger gaveUp = new AtomicInteger();
		long end = System.nanoTime() + howLong.toNanos();
		List<Future<?>> waiters = new ArrayList<>();
		try (ForeignSession foreign = new ForeignSession()) {
			for (int i = 0; i < 16; i++) {
				waiters.add(this.threads.submit(() -> {
					while (System.nanoTime() < end) {
						LockOutcome outcome = this.template.execute(REQUEST.waitFor(Duration.ofMillis(2)), (lock) -> 1)
							.outcome();
						gaveUp.addAndGet((outcome == LockOutcome.BUSY) ? 1 : 0);
					}
				}));
			}
			while (System.nanoTime() < end) {
				if (foreign.tryLock(KEY)) {
					TestPostgres.query("SELECT pg_sleep(0.002)");
					foreign.unlock(KEY);
				}
			}
			for (Future<?> waiter : waiters) {
				waiter.get(Patience.SECONDS, TimeUnit.SECONDS);
			}
		}
		assertThat(gaveUp).hasPositiveValue();
		assertThat(TestPostgres.locks()).isEmpty();
	}

	@Test
	void twoHundredLocksNeedOneSessionAndNoneOfThePool() throws Exception {
		usePool(TestPostgres.pool(2));
		List<HeldLock> held = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			held.add(this.template.tryAcquire(LockRequest.of("job-" + i)).orElseThrow());
		}
		assertThat(TestPostgres.query("SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory'")).hasSize(1);
		assertThat(TestPostgres.locks()).hasSize(200);
		assertThat(this.jdbc.queryForObject("SELECT 1", Integer.class)).isOne();
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isZero();
		held.forEach(HeldLock::close);
	}

	@Test
	void limitOfHeldLocksIsAnErrorNotBusy() {
		PostgresAdvisoryLockTemplate limited = new PostgresAdvisoryLockTemplate(this.pool, this.transactionManager,
				this.sessions.get(0), NAMESPACE, AdvisoryLockKeyFactory.sha256(), SHORT, 2);
		try (HeldLock first = limited.tryAcquire(LockRequest.of("first")).orElseThrow();
				HeldLock second = limited.tryAcquire(LockRequest.of("second")).orElseThrow()) {
			assertThatExceptionOfType(CannotAcquireLockException.class)
				.isThrownBy(() -> limited.execute(REQUEST, (lock) -> 1))
				.withMessageContaining("'tests/job'")
				.withMessageContaining("advisory-lock.max-held-locks");
		}
		assertThat(limited.execute(REQUEST, (lock) -> 1).value()).isOne();
	}

	@Test
	void fullLockTableIsAnErrorAndCostsNoOtherLock(@TempDir Path directory) {
		try (TestServer server = TestServer.start(directory,
				Map.of("max_locks_per_transaction", "10", "max_connections", "10"))) {
			DriverManagerDataSource small = new DriverManagerDataSource(server.url());
			PostgresAdvisoryLockTemplate greedy = createGreedyTemplate(small);
			List<HeldLock> held = new ArrayList<>();
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> {
				for (int i = 0; i < 20_000; i++) {
					held.add(greedy.tryAcquire(LockRequest.of("job-" + i)).orElseThrow());
				}
			}).extracting(SqlState::of).isEqualTo("53200");
			assertThat(held).isNotEmpty().allMatch(HeldLock::isHeld);
			held.remove(0).close();
			held.add(greedy.tryAcquire(LockRequest.of("job-x")).orElseThrow());
			held.forEach(HeldLock::close);
		}
	}

	private PostgresAdvisoryLockTemplate createGreedyTemplate(DriverManagerDataSource dataSource) {
		LockSession session = new LockSession(dataSource, NAMESPACE, LockSessionSettings.DEFAULT, this.events::add);
		this.sessions.add(session);
		return new PostgresAdvisoryLockTemplate(this.pool, this.transactionManager, session, NAMESPACE,
				AdvisoryLockKeyFactory.sha256(), SHORT, 100_000);
	}

	private LockContext runUntilInterrupted(CountDownLatch running) {
		LockContext[] context = new LockContext[1];
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
				context[0] = lock;
				running.countDown();
				return new CountDownLatch(1).await(Patience.SECONDS, TimeUnit.SECONDS);
			}))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasOnlyElementsOfType(LockLostException.class));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		return context[0];
	}

	private void useSession(String url, WhenLost whenLost, Duration deadClientTimeout) {
		useSession(url, new LockSessionSettings(HEARTBEAT, deadClientTimeout, whenLost));
	}

	private void useSession(String url, LockSessionSettings settings) {
		LockSession session = new LockSession(new DriverManagerDataSource(url), NAMESPACE, settings, this.events::add);
		this.sessions.add(session);
		this.template = new PostgresAdvisoryLockTemplate(this.pool, this.transactionManager, session, NAMESPACE,
				AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 1000);
	}

}
