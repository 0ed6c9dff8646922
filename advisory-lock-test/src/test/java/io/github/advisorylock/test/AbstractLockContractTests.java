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

package io.github.advisorylock.test;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockBusyException;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.ledger.JobPausedEvent;
import io.github.advisorylock.ledger.JobResumedEvent;
import io.github.advisorylock.support.RequestDetail.Interval;
import io.github.advisorylock.support.RequestDetail.Interval.Counted;
import io.github.advisorylock.support.RequestDetail.KeptResult;
import io.github.advisorylock.support.RequestDetail.Recorded;
import io.github.advisorylock.support.TwoPhaseLockOperations;
import io.github.advisorylock.testsupport.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.event.ApplicationEvents;
import org.springframework.test.context.event.RecordApplicationEvents;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What an application sees of its locks, whether PostgreSQL has them or a test keeps them
 * in memory.
 */
@ExtendWith(LockLeakDetector.class)
@RecordApplicationEvents
abstract class AbstractLockContractTests {

	private static final Duration LONG = Duration.ofSeconds(30);

	private static final Duration SHORT = Duration.ofMillis(100);

	private static final AtomicInteger keys = new AtomicInteger();

	/**
	 * The ledger of a database remembers what earlier tests have done.
	 */
	private final String name = "job-" + keys.incrementAndGet();

	private final Instant tick = Instant.now().truncatedTo(ChronoUnit.MINUTES).minusSeconds(600);

	@Autowired
	private AdvisoryLockOperations operations;

	@Autowired
	private TestLocks locks;

	@Autowired
	private PlatformTransactionManager transactionManager;

	@Autowired
	private ContractApplication.Jobs jobs;

	@ParameterizedTest
	@EnumSource
	void lockIsHeldWhileTheWorkRunsOnly(LockScope scope) {
		LockResult<LockContext> result = this.operations.execute(request(scope), (lock) -> {
			assertThatLock(this.name).isHeld();
			assertThat(LockContext.current()).containsSame(lock);
			assertThat(lock.key()).isEqualTo(this.locks.key(this.name));
			assertThat(lock.scope()).isEqualTo(scope);
			assertThat(lock.isHeld()).isTrue();
			assertThat(lock.tick()).isEmpty();
			assertThat(lock.attempt()).isOne();
			assertThat(lock.fencingToken()).isEmpty();
			lock.checkHeld();
			return lock;
		});
		assertThat(result.outcome()).isEqualTo(LockOutcome.EXECUTED);
		assertThat(result.orElseThrow().isHeld()).isFalse();
		assertThat(LockContext.current()).isEmpty();
		assertThatLock(this.name).isFree();
	}

	@ParameterizedTest
	@EnumSource
	void lockThatIsHeldElsewhereIsBusy(LockScope scope) {
		try (HeldLock held = this.locks.holdElsewhere(this.name)) {
			assertThat(held.isHeld()).isTrue();
			assertThat(run(request(scope))).isEqualTo(LockOutcome.BUSY);
			assertThatIllegalStateException().isThrownBy(() -> this.locks.holdElsewhere(this.name))
				.withMessageContaining("held already");
		}
		assertThat(run(request(scope))).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void lockOfOtherThreadIsBusyInEachScope(LockScope scope) {
		this.operations.execute(request(scope), (lock) -> {
			assertThat(elsewhere(() -> run(request(LockScope.TRANSACTION)))).isEqualTo(LockOutcome.BUSY);
			assertThat(elsewhere(() -> run(request(LockScope.SESSION)))).isEqualTo(LockOutcome.BUSY);
			return null;
		}).orElseThrow();
	}

	@ParameterizedTest
	@EnumSource
	void asManyHoldTheKeyAsItHasPermits(LockScope scope) {
		LockRequest request = request(scope).permits(2);
		AdvisoryLockKey second = this.locks.key(this.name).permit(2);
		this.operations.execute(request, (lock) -> {
			assertThat(run(request)).as("part of the run").isEqualTo(LockOutcome.EXECUTED);
			assertThat(elsewhere(() -> run(request))).isEqualTo(LockOutcome.EXECUTED);
			try (HeldLock held = this.operations.tryAcquire(request(LockScope.SESSION).permits(2)).orElseThrow()) {
				assertThat(elsewhere(() -> run(request))).isEqualTo(LockOutcome.BUSY);
				assertThat(this.locks.isHeld(second)).isTrue();
				assertThat(held.key()).isEqualTo(this.locks.key(this.name));
			}
			return null;
		}).orElseThrow();
		assertThat(this.locks.isHeld(second)).isFalse();
		try (HeldLock elsewhere = this.locks.holdElsewhere(second)) {
			assertThat(elsewhere.isHeld()).isTrue();
			this.operations.execute(request, (lock) -> {
				assertThat(elsewhere(() -> run(request))).isEqualTo(LockOutcome.BUSY);
				return null;
			}).orElseThrow();
		}
	}

	@ParameterizedTest
	@EnumSource
	void waitEndsWhenTheOtherInstanceReleases(LockScope scope) throws Exception {
		CompletableFuture<LockOutcome> waiting;
		try (HeldLock held = this.locks.holdElsewhere(this.name)) {
			CountDownLatch started = new CountDownLatch(1);
			waiting = CompletableFuture.supplyAsync(() -> {
				started.countDown();
				return run(request(scope).waitFor(LONG));
			});
			assertThat(started.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			assertThat(run(request(scope).waitFor(SHORT))).isEqualTo(LockOutcome.BUSY);
			assertThat(waiting).isNotDone();
		}
		// and not only when its time is over
		assertThat(waiting.get(LONG.toSeconds() / 2, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void failureIsPassedOnAndReleases(LockScope scope) {
		IOException failure = new IOException("expected");
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> this.operations.execute(request(scope), (lock) -> {
				throw failure;
			}))
			.isSameAs(failure);
		assertThatLock(this.name).isFree();
		assertThat(LockContext.current()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void nestedCallIsPartOfTheRun(LockScope scope) {
		this.operations.execute(request(scope), (outer) -> {
			assertThat(run(request(scope))).isEqualTo(LockOutcome.EXECUTED);
			assertThatLock(this.name).isHeld();
			assertThat(LockContext.current()).containsSame(outer);
			for (LockScope inner : LockScope.values()) {
				assertThat(runInNewTransaction(request(inner))).isEqualTo(LockOutcome.EXECUTED);
			}
			return null;
		}).orElseThrow();
	}

	@ParameterizedTest
	@EnumSource
	void heldLockIsNeverPartOfARun(LockScope scope) {
		this.operations
			.execute(request(scope),
					(lock) -> assertThat(this.operations.tryAcquire(LockRequest.of(this.name))).isEmpty())
			.orElseThrow();
		HeldLock held = this.operations.tryAcquire(LockRequest.of(this.name)).orElseThrow();
		try (held) {
			assertThat(this.operations.tryAcquire(LockRequest.of(this.name))).isEmpty();
			assertThat(held.isHeld()).isTrue();
			assertThatLock(this.name).isHeld();
		}
		held.close();
		assertThat(held.isHeld()).isFalse();
		assertThatLock(this.name).isFree();
	}

	@Test
	void heldLockRefusesWhatBelongsToWork() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.operations.tryAcquire(request(LockScope.TRANSACTION)))
			.withMessageContaining("scope TRANSACTION");
		LockRequest request = request(LockScope.SESSION);
		for (LockRequest recorded : List.of(request.oncePerKey(),
				request.with(new Interval(LONG, Counted.FROM_BEGIN)))) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.operations.tryAcquire(recorded))
				.withMessageContaining("ledger");
		}
	}

	@ParameterizedTest
	@EnumSource
	void lockIsKeptUntilTheCallersTransactionCompletes(LockScope scope) {
		transaction().executeWithoutResult((status) -> {
			assertThat(run(request(scope))).isEqualTo(LockOutcome.EXECUTED);
			assertThatLock(this.name).isHeld();
			assertThat(elsewhere(() -> run(request(scope)))).isEqualTo(LockOutcome.BUSY);
			assertThat(run(request(scope))).isEqualTo(LockOutcome.EXECUTED);
			assertThat(runInNewTransaction(request(scope))).isEqualTo(LockOutcome.BUSY);
		});
		assertThatLock(this.name).isFree();
	}

	@ParameterizedTest
	@EnumSource
	void sharedLocksExcludeExclusiveOnesOnly(LockScope scope) {
		LockRequest shared = request(scope).mode(LockMode.SHARED);
		this.operations.execute(shared, (lock) -> {
			assertThat(elsewhere(() -> run(shared))).isEqualTo(LockOutcome.EXECUTED);
			assertThat(elsewhere(() -> run(request(scope)))).isEqualTo(LockOutcome.BUSY);
			assertThatIllegalStateException().isThrownBy(() -> run(request(scope)))
				.withMessageContaining("can't be upgraded");
			return null;
		}).orElseThrow();
		assertThat(run(request(scope))).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void workIsDoneOncePerKey(LockScope scope) {
		LockRequest request = request(scope).oncePerKey();
		assertThatExceptionOfType(ExpectedException.class).isThrownBy(() -> fail(request));
		assertThat(run(request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(request)).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(run(request(scope))).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void resultOfKeyIsKept(LockScope scope) {
		LockRequest request = request(scope).oncePerKey().with(new KeptResult((result) -> "kept " + result));
		assertThat(run(request)).isEqualTo(LockOutcome.EXECUTED);
		try (TwoPhaseLockOperations.Admission again = ((TwoPhaseLockOperations) this.operations).admit(request)) {
			assertThat(again.<Integer, RuntimeException>execute((lock) -> 2)).isNull();
			assertThat(again.outcome()).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(again.keptResult()).isEqualTo("kept 1");
		}
	}

	@ParameterizedTest
	@EnumSource
	void workThatTheCallerRollsBackIsNotDone(LockScope scope) {
		for (LockRequest request : List.of(request(scope).oncePerKey(),
				LockRequest.of(this.name + "-tick").scope(scope).oncePerTick(this.tick),
				LockRequest.of(this.name + "-memory").scope(scope).rememberTick(this.tick, LONG))) {
			transaction().executeWithoutResult((status) -> {
				assertThat(run(request)).isEqualTo(LockOutcome.EXECUTED);
				status.setRollbackOnly();
			});
			assertThat(run(request)).as("%s", request).isEqualTo(LockOutcome.EXECUTED);
			assertThat(run(request)).as("%s", request).isEqualTo(LockOutcome.ALREADY_RAN);
		}
	}

	@ParameterizedTest
	@EnumSource
	void workThatFailsAndIsCommittedIsDoneInTheTransactionOfItsLock(LockScope scope) {
		LockOutcome next = (scope == LockScope.TRANSACTION) ? LockOutcome.ALREADY_RAN : LockOutcome.EXECUTED;
		for (LockRequest request : List.of(request(scope).oncePerKey(),
				LockRequest.of(this.name + "-tick").scope(scope).oncePerTick(this.tick),
				LockRequest.of(this.name + "-memory").scope(scope).rememberTick(this.tick, LONG))) {
			transaction().executeWithoutResult(
					(status) -> assertThatExceptionOfType(ExpectedException.class).isThrownBy(() -> fail(request)));
			assertThat(run(request)).as("%s", request).isEqualTo(next);
		}
	}

	@ParameterizedTest
	@EnumSource
	void workIsDoneOncePerTick(LockScope scope) {
		LockRequest request = request(scope).oncePerTick(this.tick);
		assertThatExceptionOfType(ExpectedException.class).isThrownBy(() -> fail(request));
		this.operations.execute(request, (lock) -> assertThat(lock.tick()).contains(this.tick)).orElseThrow();
		assertThat(run(request)).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(run(request(scope).oncePerTick(this.tick.minusSeconds(60)))).isEqualTo(LockOutcome.ALREADY_RAN);
		try (HeldLock held = this.locks.holdElsewhere(this.name)) {
			assertThat(run(request)).as("%s", held).isEqualTo(LockOutcome.ALREADY_RAN);
		}
		assertThat(run(request(scope).oncePerTick(this.tick.plusSeconds(60)))).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void tickIsRememberedWithoutTheLedger(LockScope scope) {
		LockRequest request = request(scope).rememberTick(this.tick, LONG);
		assertThatExceptionOfType(ExpectedException.class).isThrownBy(() -> fail(request));
		assertThat(run(request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(request)).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(run(request(scope).rememberTick(this.tick.plusSeconds(60), LONG))).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void workIsDoneOncePerInterval(LockScope scope) {
		for (Counted counted : List.of(Counted.FROM_BEGIN, Counted.FROM_END)) {
			LockRequest request = request(scope).with(new Interval(LONG.multipliedBy(2), counted, counted.name()));
			assertThatExceptionOfType(ExpectedException.class).isThrownBy(() -> fail(request));
			assertThat(run(request)).isEqualTo(LockOutcome.EXECUTED);
			assertThat(run(request)).isEqualTo(LockOutcome.TOO_SOON);
			assertThat(run(request(scope))).isEqualTo(LockOutcome.EXECUTED);
		}
	}

	@ParameterizedTest
	@EnumSource
	void tickThatIsFarAheadIsRefused(LockScope scope) {
		assertThatIllegalStateException().isThrownBy(() -> run(request(scope).oncePerTick(this.tick.plusSeconds(7200))))
			.withMessageContaining("ahead");
		assertThatLock(this.name).isFree();
	}

	@ParameterizedTest
	@EnumSource
	void pausedJobIsSkippedUntilItIsResumed(LockScope scope, @Autowired ApplicationEvents events) {
		LockRequest request = request(scope).with(new Recorded(this.name));
		assertThat(run(request)).isEqualTo(LockOutcome.EXECUTED);
		this.locks.pause(this.name);
		assertThat(run(request)).isEqualTo(LockOutcome.PAUSED);
		this.locks.resume(this.name);
		assertThat(run(request)).isEqualTo(LockOutcome.EXECUTED);
		String namespace = this.locks.key(this.name).namespace();
		assertThat(events.stream(JobPausedEvent.class))
			.containsExactly(new JobPausedEvent(namespace, this.name, "test"));
		assertThat(events.stream(JobResumedEvent.class))
			.containsExactly(new JobResumedEvent(namespace, this.name, "test"));
	}

	@ParameterizedTest
	@EnumSource
	void recordedWorkCantBeShared(LockScope scope) {
		assertThatIllegalArgumentException().isThrownBy(() -> run(request(scope).oncePerKey().mode(LockMode.SHARED)))
			.withMessageContaining("SHARED");
		assertThatLock(this.name).isFree();
	}

	@ParameterizedTest
	@EnumSource
	void workCantBeRecordedForAKeyThatTheLedgerHasNoRoomFor(LockScope scope) {
		for (String excess : List.of("x".repeat(513), "\u20ac".repeat(900), "a\0b")) {
			LockRequest request = LockRequest.of(this.name + excess).scope(scope);
			assertThatIllegalArgumentException().isThrownBy(() -> run(request.oncePerKey()))
				.withMessageContainingAll("Failed to record runs of advisory lock", "'key'", "the ledger has");
			assertThat(run(request)).isEqualTo(LockOutcome.EXECUTED);
		}
	}

	@Test
	void annotatedMethodsAreSkipped() {
		try (HeldLock held = this.locks.holdElsewhere("contract-skipping")) {
			this.jobs.skip();
			assertThat(held.isHeld()).isTrue();
		}
		this.jobs.skip();
		assertThatLock("contract-skipping").hasOutcomes(LockOutcome.BUSY, LockOutcome.EXECUTED)
			.hasRunOnce()
			.wasSkipped(LockOutcome.BUSY)
			.isFree();
	}

	@Test
	void annotatedMethodsTellTheirOutcome() {
		assertThat(this.jobs.find()).contains("found");
		assertThat(this.jobs.tell().value()).isEqualTo("told");
		assertThat(this.jobs.failWhenBusy()).isOne();
		try (HeldLock finding = this.locks.holdElsewhere("contract-finding");
				HeldLock telling = this.locks.holdElsewhere("contract-telling");
				HeldLock failing = this.locks.holdElsewhere("contract-failing")) {
			assertThat(this.jobs.find()).as("%s", finding).isEmpty();
			assertThat(this.jobs.tell().outcome()).as("%s", telling).isEqualTo(LockOutcome.BUSY);
			assertThatExceptionOfType(LockBusyException.class).as("%s", failing)
				.isThrownBy(() -> this.jobs.failWhenBusy());
		}
		assertThatLock("contract-telling").hasRunOnce();
	}

	@Test
	void annotatedMethodRunsOncePerKey() {
		AdvisoryLockKey key = this.locks.key("contract-payment:" + this.name);
		assertThatExceptionOfType(ExpectedException.class).isThrownBy(() -> this.jobs.pay(this.name, true));
		this.jobs.pay(this.name, false);
		this.jobs.pay(this.name, false);
		assertThatLock(key).hasRunOnce()
			.hasFailedWith(ExpectedException.class)
			.hasOutcomes(LockOutcome.EXECUTED, LockOutcome.EXECUTED, LockOutcome.ALREADY_RAN);
	}

	@Test
	void annotatedMethodInTransactionHoldsItsLockToTheEnd() {
		assertThat(this.jobs.runInTransaction(this.locks)).isTrue();
		assertThatLock("contract-transactional").hasRunOnce().wasNotSkipped().isFree();
	}

	private LockRequest request(LockScope scope) {
		return LockRequest.of(this.name).scope(scope);
	}

	private LockOutcome run(LockRequest request) {
		return this.operations.execute(request, (lock) -> 1).outcome();
	}

	private void fail(LockRequest request) {
		this.operations.execute(request, (lock) -> {
			throw new ExpectedException();
		});
	}

	private TransactionTemplate transaction() {
		return new TransactionTemplate(this.transactionManager);
	}

	private LockOutcome runInNewTransaction(LockRequest request) {
		TransactionTemplate transaction = transaction();
		transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		return transaction.execute((status) -> run(request));
	}

	private static <T> T elsewhere(Supplier<T> call) {
		try {
			return CompletableFuture.supplyAsync(call).get(Patience.SECONDS, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new AssertionError(ex);
		}
	}

	/**
	 * What work throws here.
	 */
	static final class ExpectedException extends RuntimeException {

	}

}
