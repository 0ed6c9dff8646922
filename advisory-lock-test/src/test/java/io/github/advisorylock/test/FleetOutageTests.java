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

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.test.fleet.FleetApplication;
import io.github.advisorylock.test.fleet.Jobs;
import io.github.advisorylock.test.fleet.Ledgers;
import io.github.advisorylock.testsupport.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for calls while the database is down, and while a run goes on that has not
 * noticed yet. What their own instance knows, it answers, as on PostgreSQL.
 */
@FleetTest(Jobs.class)
@ContextConfiguration(classes = FleetApplication.class)
class FleetOutageTests {

	private static final LockRequest EXPORT = LockRequest.of("export");

	private final CountDownLatch begun = new CountDownLatch(1);

	private final Semaphore mayEnd = new Semaphore(0);

	@MockitoBean
	private Ledgers ledgers;

	private Fleet fleet;

	private AdvisoryLockOperations here;

	private AdvisoryLockOperations there;

	private CompletableFuture<Void> run;

	@BeforeEach
	void findInstances(Fleet fleet) {
		this.fleet = fleet;
		this.here = fleet.bean(0, AdvisoryLockOperations.class);
		this.there = fleet.bean(1, AdvisoryLockOperations.class);
	}

	@AfterEach
	void endRun() {
		this.mayEnd.release();
		assertThat(this.run).failsWithin(Patience.TIME)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockLostException.class);
	}

	@ParameterizedTest
	@EnumSource
	void callOfTheInstanceThatStillRunsIsBusy(LockScope scope, Fleet fleet) throws InterruptedException {
		begin(EXPORT.scope(scope));
		fleet.databaseDown();
		for (LockScope other : LockScope.values()) {
			assertThat(this.here.execute(EXPORT.scope(other), (lock) -> "ran").outcome()).isEqualTo(LockOutcome.BUSY);
			assertThatExceptionOfType((other == LockScope.SESSION) ? DataAccessResourceFailureException.class
					: CannotCreateTransactionException.class)
				.isThrownBy(() -> this.there.execute(EXPORT.scope(other), (lock) -> "ran"))
				.withMessageContaining("the database is down");
		}
		assertThat(this.here.tryAcquire(EXPORT)).isEmpty();
	}

	@Test
	void callThatWaitsIsBusyAtTheEndOfItsWait(Fleet fleet) throws InterruptedException {
		begin(EXPORT.scope(LockScope.SESSION));
		fleet.databaseDown();
		Instant before = fleet.now();
		assertThat(this.here.execute(EXPORT.waitFor(Duration.ofSeconds(5)), (lock) -> "ran").outcome())
			.isEqualTo(LockOutcome.BUSY);
		assertThat(fleet.now()).isEqualTo(before.plusSeconds(5));
	}

	@Test
	void permitThatIsLeftCanNotBeAskedFor(Fleet fleet) throws InterruptedException {
		LockRequest request = EXPORT.scope(LockScope.SESSION).permits(2);
		begin(request);
		fleet.databaseDown();
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> this.here.execute(request, (lock) -> "ran"))
			.withMessageContaining("the database is down");
	}

	@ParameterizedTest
	@EnumSource
	void transactionOfTheCallerCanNotBegin(LockScope scope, Fleet fleet) throws InterruptedException {
		begin(EXPORT.scope(scope).oncePerKey());
		fleet.databaseDown();
		for (LockScope other : LockScope.values()) {
			assertThatExceptionOfType(CannotCreateTransactionException.class)
				.isThrownBy(
						() -> inTransaction(() -> this.here.execute(EXPORT.scope(other).oncePerKey(), (lock) -> "ran")))
				.withMessageContaining("the database is down");
		}
	}

	@ParameterizedTest
	@EnumSource
	void callInTransactionOfTheCallerIsBusyAndThatCanNotCommit(LockScope scope, Fleet fleet)
			throws InterruptedException {
		begin(EXPORT.scope(scope));
		List<LockOutcome> outcomes = new ArrayList<>();
		assertThatExceptionOfType(TransactionSystemException.class).isThrownBy(() -> inTransaction(() -> {
			fleet.databaseDown();
			for (LockScope other : LockScope.values()) {
				outcomes.add(this.here.execute(EXPORT.scope(other).oncePerKey(), (lock) -> "ran").outcome());
			}
			fleet.databaseUp();
		})).withMessageContaining("the database was down");
		assertThat(outcomes).containsOnly(LockOutcome.BUSY);
		inTransaction(
				() -> assertThat(this.here.execute(LockRequest.of("import"), (lock) -> "ran").executed()).isTrue());
	}

	@Test
	void partOfTheRunLearnsThatTheLockIsLost(Fleet fleet) throws InterruptedException {
		begin(EXPORT.scope(LockScope.SESSION));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.there.execute(LockRequest.of("import").scope(LockScope.SESSION), (lock) -> {
				fleet.databaseDown();
				return this.there.execute(LockRequest.of("import").scope(LockScope.SESSION), (inner) -> "ran");
			}));
	}

	private void inTransaction(Runnable action) {
		new TransactionTemplate(this.fleet.bean(0, PlatformTransactionManager.class))
			.executeWithoutResult((status) -> action.run());
	}

	/**
	 * Begin a run that goes on though its lock is lost.
	 */
	private void begin(LockRequest request) throws InterruptedException {
		this.run = CompletableFuture.runAsync(() -> this.here.execute(request, (lock) -> {
			this.begun.countDown();
			this.mayEnd.acquireUninterruptibly();
			return "ran";
		}));
		this.begun.await();
	}

}
