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

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.transaction.TransactionDefinition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for what {@link PostgresAdvisoryLockTemplate} promises in both scopes.
 */
class LockScopeContractTests extends AbstractLockTests {

	private final AtomicInteger readers = new AtomicInteger();

	@ParameterizedTest
	@EnumSource
	void executeHoldsTheLockWhileTheActionRunsOnly(LockScope scope) {
		LockResult<Boolean> result = this.template.execute(request(scope), (lock) -> ForeignSession.isFree(KEY));
		assertThat(result.outcome()).isEqualTo(LockOutcome.EXECUTED);
		assertThat(result.value()).isFalse();
		assertThat(ForeignSession.isFree(KEY)).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void executeWhenForeignSessionHoldsTheLockDoesNotRun(LockScope scope) {
		AtomicBoolean ran = new AtomicBoolean();
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			LockResult<?> result = this.template.execute(request(scope), (lock) -> ran.getAndSet(true));
			assertThat(result.outcome()).isEqualTo(LockOutcome.BUSY);
		}
		assertThat(ran).isFalse();
		assertThat(this.template.execute(request(scope), (lock) -> 1).value()).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void executeWhenOtherThreadHoldsTheLockDoesNotRun(LockScope scope) throws Exception {
		whileAnotherThreadRuns(request(scope), () -> {
			assertThat(this.template.execute(request(scope), (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
			assertThat(isBusyLocally(this.template, request(scope))).isTrue();
			return null;
		});
		assertThat(isBusyLocally(this.template, request(scope))).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void executeWhenOtherThreadHoldsAnotherScopeDoesNotRun(LockScope scope) throws Exception {
		LockScope other = (scope == LockScope.SESSION) ? LockScope.TRANSACTION : LockScope.SESSION;
		whileAnotherThreadRuns(request(other),
				() -> assertThat(this.template.execute(request(scope), (lock) -> 1).outcome())
					.isEqualTo(LockOutcome.BUSY));
	}

	@ParameterizedTest
	@EnumSource
	void executeWhenActionThrowsPassesTheFailureOnAndReleases(LockScope scope) {
		IOException failure = new IOException("expected");
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.template.execute(request(scope), (lock) -> {
			throw failure;
		})).isSameAs(failure);
		assertThat(ForeignSession.isFree(KEY)).isTrue();
		assertThat(isBusyLocally(this.template, request(scope))).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void executeTellsTheActionAboutItsLock(LockScope scope) {
		LockContext context = this.template.execute(request(scope), (lock) -> {
			assertThat(LockContext.current()).containsSame(lock);
			assertThat(lock.key()).isEqualTo(KEY);
			assertThat(lock.scope()).isEqualTo(scope);
			assertThat(lock.isHeld()).isTrue();
			lock.checkHeld();
			return lock;
		}).orElseThrow();
		assertThat(context.isHeld()).isFalse();
		assertThat(LockContext.current()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void nestedCallOfTheSameKeyIsPartOfTheRun(LockScope scope) {
		String result = this.template.execute(request(scope), (outer) -> {
			String inner = this.template.execute(request(scope), (lock) -> "inner").orElseThrow();
			assertThat(ForeignSession.isFree(KEY)).isFalse();
			return inner;
		}).orElseThrow();
		assertThat(result).isEqualTo("inner");
	}

	@ParameterizedTest
	@EnumSource
	void nestedCallInNewTransactionIsPartOfTheRun(LockScope scope) {
		for (LockScope inner : LockScope.values()) {
			LockOutcome outcome = this.template
				.execute(request(scope),
						(outer) -> transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
							.execute((status) -> this.template.execute(request(inner), (lock) -> 1).outcome()))
				.orElseThrow();
			assertThat(outcome).isEqualTo(LockOutcome.EXECUTED);
		}
	}

	@ParameterizedTest
	@EnumSource
	void tryAcquireInRunOfTheSameKeyIsBusy(LockScope scope) {
		boolean acquired = this.template
			.execute(request(scope), (lock) -> this.template.tryAcquire(LockRequest.of("job")).isPresent())
			.orElseThrow();
		assertThat(acquired).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void repeatedCallInCallersTransactionRunsAgain(LockScope scope) {
		transaction().executeWithoutResult((status) -> {
			assertThat(this.template.execute(request(scope), (lock) -> 1).value()).isOne();
			assertThat(ForeignSession.isFree(KEY)).as("kept until the caller's transaction completes").isFalse();
			assertThat(this.template.execute(request(scope), (lock) -> 2).value()).isEqualTo(2);
		});
		assertThat(ForeignSession.isFree(KEY)).isTrue();
		assertThat(isBusyLocally(this.template, request(scope))).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void lockOfSuspendedTransactionIsBusyInNewOne(LockScope scope) {
		LockOutcome outcome = transaction().execute((status) -> {
			this.template.execute(request(scope), (lock) -> 1);
			return transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
				.execute((inner) -> this.template.execute(request(scope), (lock) -> 1).outcome());
		});
		assertThat(outcome).isEqualTo(LockOutcome.BUSY);
	}

	@ParameterizedTest
	@EnumSource
	void waitForForeignSessionEndsWhenItReleases(LockScope scope) throws Exception {
		ForeignSession foreign = ForeignSession.holding(KEY);
		Future<LockResult<Integer>> waiter = this.threads
			.submit(() -> this.template.execute(request(scope).waitFor(LONG), (lock) -> 1));
		assertThatIsWaiting(waiter);
		foreign.close();
		assertThat(waiter.get(Patience.SECONDS, TimeUnit.SECONDS).value()).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void waitForForeignSessionGivesUpWithNothingHeld(LockScope scope) {
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			long start = System.nanoTime();
			assertThat(this.template.execute(request(scope).waitFor(SHORT), (lock) -> 1).outcome())
				.isEqualTo(LockOutcome.BUSY);
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(SHORT);
			assertThat(TestPostgres.locks()).hasSize(1);
		}
		assertThat(isBusyLocally(this.template, request(scope))).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void waitForOtherThreadEndsWhenItReleases(LockScope scope) throws Exception {
		usePool(TestPostgres.pool(1));
		Future<?>[] waiter = new Future<?>[1];
		whileAnotherThreadRuns(request(scope), () -> {
			waiter[0] = this.threads
				.submit(() -> this.template.execute(request(scope).waitFor(LONG), (lock) -> 1).orElseThrow());
			assertThatIsWaiting(waiter[0]);
			return null;
		});
		assertThat(waiter[0].get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource
	void sharedLocksExcludeExclusiveOnesOnly(LockScope scope) throws Exception {
		LockRequest shared = request(scope).mode(LockMode.SHARED);
		whileAnotherThreadRuns(shared, () -> {
			assertThat(this.template.execute(shared, (lock) -> 1).value()).isOne();
			assertThat(this.template.execute(request(scope), (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
			return assertThat(ForeignSession.isFree(KEY)).isFalse();
		});
	}

	@ParameterizedTest
	@EnumSource
	void exclusiveRequestThatWaitsIsNotStarvedByOverlappingReaders(LockScope scope) throws Exception {
		usePool(TestPostgres.pool(8));
		AtomicBoolean done = new AtomicBoolean();
		CountDownLatch reading = new CountDownLatch(2);
		List<Future<?>> readers = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			readers.add(this.threads.submit(() -> {
				while (!done.get()) {
					readOverlapping(scope, reading, done);
				}
			}));
		}
		assertThat(reading.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		try {
			assertThat(this.template.execute(request(scope).waitFor(LONG), (lock) -> 1).outcome())
				.isEqualTo(LockOutcome.EXECUTED);
		}
		finally {
			done.set(true);
		}
		for (Future<?> reader : readers) {
			reader.get(Patience.SECONDS, TimeUnit.SECONDS);
		}
	}

	/**
	 * Hold the lock until a second reader, which is another one each time, has it too.
	 */
	private void readOverlapping(LockScope scope, CountDownLatch reading, AtomicBoolean done) {
		this.template.execute(request(scope).mode(LockMode.SHARED).waitFor(LONG), (lock) -> {
			reading.countDown();
			int own = this.readers.incrementAndGet();
			long end = System.nanoTime() + SHORT.toNanos();
			while (!done.get() && this.readers.get() == own && System.nanoTime() < end) {
				LockSupport.parkNanos(1_000_000);
			}
			return null;
		});
	}

	@ParameterizedTest
	@EnumSource
	void readerThatReadsAgainDoesNotWaitBehindWriterThatWaitsForIt(LockScope scope) throws Exception {
		LockRequest shared = request(scope).mode(LockMode.SHARED);
		Future<LockOutcome> writer = this.template.execute(shared, (lock) -> {
			Future<LockOutcome> waiting = this.threads
				.submit(() -> this.template.execute(request(scope).waitFor(LONG), (inner) -> 1).outcome());
			Awaitility.await().until(() -> readerOfOtherThread(shared) == LockOutcome.BUSY);
			assertThat(this.template.execute(shared, (inner) -> 1).executed()).isTrue();
			HeldLock second = this.template.tryAcquire(LockRequest.of("job").mode(LockMode.SHARED)).orElseThrow();
			second.close();
			return waiting;
		}).orElseThrow();
		assertThat(writer.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
	}

	private LockOutcome readerOfOtherThread(LockRequest shared) throws Exception {
		return this.threads.submit(() -> this.template.execute(shared, (inner) -> 1).outcome())
			.get(Patience.SECONDS, TimeUnit.SECONDS);
	}

	@ParameterizedTest
	@EnumSource
	void sharedLockIsNotUpgraded(LockScope scope) {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.template.execute(request(scope).mode(LockMode.SHARED),
					(outer) -> this.template.execute(request(scope), (lock) -> 1)))
			.withMessageContaining("'tests/job'")
			.withMessageContaining("can't be upgraded");
	}

	@ParameterizedTest
	@EnumSource
	void pairKeyLocksPair(LockScope scope) {
		AdvisoryLockKey pair = AdvisoryLockKey.ofPair(-7, 42);
		LockResult<String> result = this.template.execute(LockRequest.of(pair).scope(scope),
				(lock) -> TestPostgres.locks().toString());
		assertThat(result.value()).isEqualTo("[4294967289/42/2]");
	}

	private static void assertThatIsWaiting(Future<?> waiter) {
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> waiter.get(300, TimeUnit.MILLISECONDS));
	}

}
