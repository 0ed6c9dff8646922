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

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.FaultyDataSource;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests that one fault on the connection of the session locks stays one.
 */
@Tag("gate")
class SessionFaultTests extends AbstractLockTests {

	private static final LockRequest REQUEST = LockRequest.of("job").scope(LockScope.SESSION);

	private static final LockRequest SHARED = REQUEST.mode(LockMode.SHARED);

	private static final SQLException CANCELLED = new SQLException("expected", "57014");

	private final FaultyDataSource faulty = new FaultyDataSource();

	@BeforeEach
	void openFaultyConnections() {
		this.template = createTemplate(this.pool, this.transactionManager, this.faulty);
	}

	@ParameterizedTest
	@ValueSource(strings = { "execute", "next", "getMoreResults", "close" })
	void errorReachesTheCallerAndLeavesNoLock(String method) {
		HeldLock bystander = this.template.tryAcquire(LockRequest.of("bystander")).orElseThrow();
		OutOfMemoryError expected = new OutOfMemoryError("expected");
		this.faulty.failAfter(method, "pg_try_advisory_lock", expected);
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> this.template.tryAcquire(REQUEST))
			.isSameAs(expected);
		assertThat(bystander.isHeld()).isFalse();
		assertThat(isBusyLocally(this.template, REQUEST)).isFalse();
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.events).containsExactly(new LockLostEvent(bystander.key())));
		assertThat(this.template.execute(REQUEST, (lock) -> 1).value()).isOne();
	}

	@Test
	void lockThatIsSaidToBeLostCanBeTakenAgain() throws Exception {
		LockSession session = this.sessions.get(this.sessions.size() - 1);
		CountDownLatch losing = new CountDownLatch(1);
		CountDownLatch seen = new CountDownLatch(1);
		Hold slow = new Hold.OfTick(AdvisoryLockKey.of("slow"), LockMode.EXCLUSIVE, () -> {
			losing.countDown();
			Awaitility.await().until(() -> seen.getCount() == 0);
		});
		assertThat(session.tryLock(slow)).isTrue();
		HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
		TestPostgres.terminate("tests");
		Future<?> loss = this.threads.submit(() -> session.confirm(slow));
		assertThat(losing.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		Awaitility.await().until(() -> !held.isHeld());
		boolean busy = this.threads.submit(() -> isBusyLocally(this.template, REQUEST))
			.get(Patience.SECONDS, TimeUnit.SECONDS);
		seen.countDown();
		assertThatThrownBy(() -> loss.get(Patience.SECONDS, TimeUnit.SECONDS))
			.hasCauseInstanceOf(LockLostException.class);
		assertThat(busy).isFalse();
	}

	@Test
	void errorFailsAllWhoAskTogetherAndTellsNobodyBusy() throws Exception {
		ExecutorService platformThreads = Executors.newCachedThreadPool();
		for (int i = 0; i < 30; i++) {
			int crowd = 8;
			CyclicBarrier start = new CyclicBarrier(crowd);
			this.faulty.failAfter("next", "pg_try_advisory_lock", new OutOfMemoryError("expected"));
			List<Future<String>> callers = new ArrayList<>();
			for (int j = 0; j < crowd; j++) {
				LockRequest request = LockRequest.of("job-" + j);
				callers.add(platformThreads.submit(() -> {
					start.await();
					return tryAcquireAndClose(request);
				}));
			}
			List<String> outcomes = new ArrayList<>();
			for (Future<String> caller : callers) {
				outcomes.add(caller.get(Patience.SECONDS, TimeUnit.SECONDS));
			}
			assertThat(this.faulty.hasFailed()).isTrue();
			assertThat(outcomes).doesNotContain("busy").contains("error");
			Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
		}
		platformThreads.shutdown();
	}

	private String tryAcquireAndClose(LockRequest request) {
		try {
			HeldLock held = this.template.tryAcquire(request).orElse(null);
			if (held == null) {
				return "busy";
			}
			held.close();
			return "held";
		}
		catch (DataAccessException ex) {
			assertThat(ex).hasCauseInstanceOf(OutOfMemoryError.class);
			return "failed";
		}
		catch (OutOfMemoryError ex) {
			return "error";
		}
	}

	/**
	 * Wherever in the library that happens: the next call finds a stack that is fuller by
	 * a frame.
	 */
	@Test
	void stackThatIsFullIsTheAffairOfItsCaller() throws Exception {
		this.template = createTemplate(this.pool, this.transactionManager);
		HeldLock bystander = this.template.tryAcquire(LockRequest.of("bystander")).orElseThrow();
		for (int i = 0; i < 5; i++) {
			Thread caller = new Thread(null, () -> lockDeeper(0), "full", 256 * 1024);
			caller.setUncaughtExceptionHandler((thread, ex) -> {
			});
			caller.start();
			caller.join(Duration.ofSeconds(Patience.SECONDS).toMillis());
			assertThat(caller.isAlive()).isFalse();
		}
		assertThat(this.threads.submit(() -> this.template.execute(REQUEST, (lock) -> 1).value())
			.get(Patience.SECONDS, TimeUnit.SECONDS)).isOne();
		assertThat(bystander.isHeld()).isTrue();
		bystander.close();
		this.threads.submit(this.sessions.get(this.sessions.size() - 1)::close).get(Patience.SECONDS, TimeUnit.SECONDS);
		assertThat(TestPostgres.locks()).isEmpty();
	}

	private void lockDeeper(int depth) {
		this.template.execute(LockRequest.of("depth-" + depth).scope(LockScope.SESSION), (lock) -> 1);
		lockDeeper(depth + 1);
	}

	@Test
	void heartbeatSurvivesAnError() {
		HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
		this.faulty.failAfter("execute", "SELECT true", new OutOfMemoryError("expected"));
		Awaitility.await().until(() -> !held.isHeld());
		HeldLock next = this.template.tryAcquire(REQUEST).orElseThrow();
		TestPostgres.terminate("tests");
		Awaitility.await().until(() -> !next.isHeld());
	}

	@Test
	void lockThatIsClosedTwiceAtTheSameMomentIsReleasedOnce() throws Exception {
		HeldLock bystander = this.template.tryAcquire(LockRequest.of("bystander")).orElseThrow();
		for (int i = 0; i < 300; i++) {
			HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
			CyclicBarrier start = new CyclicBarrier(2);
			Future<?> other = this.threads.submit(() -> {
				start.await();
				held.close();
				return null;
			});
			start.await();
			held.close();
			other.get(Patience.SECONDS, TimeUnit.SECONDS);
			assertThat(ForeignSession.isHeld(KEY)).isFalse();
		}
		assertThat(bystander.isHeld()).isTrue();
		assertThat(this.events).isEmpty();
		bystander.close();
	}

	@Test
	void closeThatNoticesTheLossDoesNothingAsOneThatComesLater() {
		HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
		CountDownLatch told = new CountDownLatch(1);
		held.onLost(told::countDown);
		TestPostgres.terminate("tests");
		held.close();
		held.close();
		assertThat(held.isHeld()).isFalse();
		Awaitility.await().until(() -> told.getCount() == 0 && !this.events.isEmpty());
		assertThat(this.events).containsExactly(new LockLostEvent(KEY));
	}

	@ParameterizedTest
	@ValueSource(strings = { "execute", "getMoreResults" })
	void failedSecondAcquireOfSharedKeyLeavesTheFirstAndNothingBehind(String method) {
		HeldLock first = this.template.tryAcquire(SHARED).orElseThrow();
		HeldLock bystander = this.template.tryAcquire(LockRequest.of("bystander")).orElseThrow();
		this.faulty.failAfter(method, "pg_try_advisory_lock_shared", CANCELLED);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.template.tryAcquire(SHARED))
			.havingRootCause()
			.withMessageContaining("expected");
		assertThat(this.faulty.hasFailed()).isTrue();
		assertThat(first.isHeld()).isTrue();
		assertThat(ForeignSession.isHeld(KEY)).isTrue();
		first.close();
		assertThat(ForeignSession.isHeld(KEY)).isFalse();
		assertThat(bystander.isHeld()).isTrue();
		bystander.close();
	}

	@Test
	void failedReleaseOfSharedKeyLeavesTheOtherHolderAndNothingBehind() {
		HeldLock first = this.template.tryAcquire(SHARED).orElseThrow();
		HeldLock second = this.template.tryAcquire(SHARED).orElseThrow();
		this.faulty.failAfter("execute", "pg_advisory_unlock_shared", CANCELLED);
		first.close();
		assertThat(this.faulty.hasFailed()).isTrue();
		assertThat(second.isHeld()).isTrue();
		assertThat(ForeignSession.isHeld(KEY)).isTrue();
		second.close();
		assertThat(ForeignSession.isHeld(KEY)).isFalse();
		assertThat(this.events).isEmpty();
	}

	@Test
	void failedReleaseThatWasObeyedIsTakenForDone() {
		HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
		HeldLock bystander = this.template.tryAcquire(LockRequest.of("bystander")).orElseThrow();
		this.faulty.failAfter("execute", "pg_advisory_unlock", CANCELLED);
		held.close();
		assertThat(ForeignSession.isFree(KEY)).isTrue();
		assertThat(bystander.isHeld()).isTrue();
		bystander.close();
	}

}
