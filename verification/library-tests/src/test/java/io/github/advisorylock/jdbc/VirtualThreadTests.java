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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.FaultyDataSource;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that nothing that happens to a virtual thread costs the locks of others. On a
 * virtual thread an interrupt closes the socket that is being read.
 */
class VirtualThreadTests extends AbstractLockTests {

	private static final int BYSTANDERS = 500;

	private static final int ROUNDS = 500;

	private final FaultyDataSource connections = new FaultyDataSource();

	private final List<HeldLock> bystanders = new ArrayList<>();

	private final AtomicInteger told = new AtomicInteger();

	private ExecutorService virtualThreads;

	@BeforeEach
	void holdLocksThatHaveNothingToDoWithIt() {
		this.virtualThreads = VirtualThreadExecutor.create();
		this.template = createTemplate(this.pool, this.transactionManager, this.connections);
		holdBystanders();
	}

	private void holdBystanders() {
		for (int i = 0; i < BYSTANDERS; i++) {
			this.bystanders.add(this.template.tryAcquire(LockRequest.of("bystander-" + i)).orElseThrow());
		}
	}

	@AfterEach
	void endVirtualThreads() throws Exception {
		if (this.virtualThreads != null) {
			this.virtualThreads.shutdownNow();
			assertThat(this.virtualThreads.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}
		this.bystanders.forEach(HeldLock::close);
	}

	private void assertThatNoBystanderIsLost() {
		assertThat(this.bystanders).filteredOn(HeldLock::isHeld).hasSize(BYSTANDERS);
		Awaitility.await().untilAsserted(() -> {
			assertThat(this.template.getHeldLocks()).isEqualTo(BYSTANDERS);
			assertThat(TestPostgres.locks()).hasSize(BYSTANDERS);
		});
		assertThat(this.connections.threads()).doesNotContain("");
	}

	@Test
	void cancelledCallsCostNoOtherLock() throws Exception {
		List<Future<?>> calls = new ArrayList<>();
		for (int i = 0; i < ROUNDS; i++) {
			LockRequest request = request(i);
			Future<?> call = this.virtualThreads.submit(() -> this.template.execute(request, (lock) -> 1));
			calls.add(call);
			LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(500_000));
			call.cancel(true);
		}
		Awaitility.await().until(() -> calls.stream().allMatch(Future::isDone));
		assertThatNoBystanderIsLost();
		assertThat(this.events).isEmpty();
	}

	@Test
	void jobsThatRestoreTheirFlagCostNoOtherLock() throws Exception {
		List<Future<Boolean>> calls = new ArrayList<>();
		for (int i = 0; i < ROUNDS; i++) {
			LockRequest request = request(i);
			calls.add(this.virtualThreads.submit(() -> {
				this.template.execute(request, (lock) -> {
					Thread.currentThread().interrupt();
					return 1;
				});
				return Thread.interrupted();
			}));
		}
		for (Future<Boolean> call : calls) {
			assertThat(call.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}
		assertThatNoBystanderIsLost();
		assertThat(this.events).isEmpty();
	}

	@Test
	@Tag("gate")
	void ownInterruptsCostNoLockOfTheNextConnection() throws Exception {
		for (int i = 0; i < 5; i++) {
			CountDownLatch running = new CountDownLatch(20);
			List<Future<?>> jobs = new ArrayList<>();
			for (int j = 0; j < 20; j++) {
				LockRequest request = request(j);
				jobs.add(this.virtualThreads.submit(() -> runUntilLostAndAgain(request, running)));
			}
			assertThat(running.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			TestPostgres.terminate("tests");
			Awaitility.await().until(() -> this.bystanders.stream().noneMatch(HeldLock::isHeld));
			this.bystanders.clear();
			holdBystanders();
			for (Future<?> job : jobs) {
				job.get(Patience.SECONDS, TimeUnit.SECONDS);
			}
			assertThatNoBystanderIsLost();
		}
		assertThat(this.told).hasValue(5 * 20);
	}

	@Test
	void errorInFlightReachesItsPassengersAndLeavesNoLock() {
		OutOfMemoryError expected = new OutOfMemoryError("expected");
		this.connections.failAfter("next", "pg_try_advisory_lock", expected);
		Future<?> call = this.virtualThreads.submit(() -> this.template.tryAcquire(request(0)));
		assertThat(call).failsWithin(LONG)
			.withThrowableOfType(ExecutionException.class)
			.havingRootCause()
			.isSameAs(expected);
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
		assertThat(this.bystanders).noneMatch(HeldLock::isHeld);
		this.bystanders.clear();
		holdBystanders();
		assertThatNoBystanderIsLost();
	}

	private void runUntilLostAndAgain(LockRequest request, CountDownLatch running) {
		try {
			this.template.execute(request, (lock) -> {
				running.countDown();
				while (lock.isHeld()) {
					LockSupport.parkNanos(100_000);
				}
				// the interrupt comes with the loss, or a moment after
				LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
				Thread.currentThread().interrupt();
				return 1;
			});
		}
		catch (LockLostException ex) {
			this.told.incrementAndGet();
		}
		Thread.currentThread().interrupt();
		this.template.execute(request, (lock) -> 1);
	}

	@Test
	void platformThreadsBehindVirtualOnesAreServed() throws Exception {
		List<Future<?>> callers = new ArrayList<>();
		for (int i = 0; i < 16; i++) {
			LockRequest request = request(i);
			ExecutorService executor = (i % 2 == 0) ? this.virtualThreads : this.threads;
			callers.add(executor.submit(() -> {
				for (int j = 0; j < 200; j++) {
					assertThat(this.template.execute(request, (lock) -> 1).executed()).isTrue();
				}
			}));
		}
		for (Future<?> caller : callers) {
			caller.get(60, TimeUnit.SECONDS);
		}
		assertThatNoBystanderIsLost();
		assertThat(this.events).isEmpty();
	}

	private static LockRequest request(int number) {
		return LockRequest.of("job-" + number).scope(LockScope.SESSION);
	}

}
