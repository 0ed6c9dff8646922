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
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.FaultyDataSource;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that whatever happens to those who use the session locks, and to their
 * connection, nobody hangs, nobody shares an exclusive lock, and no lock stays behind.
 */
@Tag("slow")
class SessionFuzzTests extends AbstractLockTests {

	private static final int WORKERS = 12;

	private static final int KEYS = 4;

	private final FaultyDataSource faulty = new FaultyDataSource();

	private final List<Thread> workers = new CopyOnWriteArrayList<>();

	private final BlockingQueue<HeldLock> forOthersToClose = new LinkedBlockingQueue<>();

	private final AtomicInteger[] inside = new AtomicInteger[KEYS];

	private final AtomicInteger overlaps = new AtomicInteger();

	private final AtomicInteger calls = new AtomicInteger();

	private volatile boolean done;

	@Test
	void faultsLeaveNobodyHangingAndNoLockBehind() throws Exception {
		fuzz(this.threads, Duration.ofSeconds(3));
	}

	@Test
	@Tag("chaos")
	void faultsLeaveNobodyHangingAndNoLockBehindForLong() throws Exception {
		fuzz(this.threads, Duration.ofSeconds(60));
	}

	@Test
	void faultsLeaveNoVirtualThreadHangingAndNoLockBehind() throws Exception {
		ExecutorService virtualThreads = VirtualThreadExecutor.create();
		fuzz(virtualThreads, Duration.ofSeconds(3));
		virtualThreads.shutdown();
		assertThat(virtualThreads.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	private void fuzz(ExecutorService executor, Duration howLong) throws Exception {
		this.template = createTemplate(this.pool, this.transactionManager, this.faulty);
		for (int i = 0; i < KEYS; i++) {
			this.inside[i] = new AtomicInteger();
		}
		List<Future<?>> running = new CopyOnWriteArrayList<>();
		for (int i = 0; i < WORKERS; i++) {
			running.add(executor.submit(this::work));
		}
		long end = System.nanoTime() + howLong.toNanos();
		while (System.nanoTime() < end) {
			LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(10_000_000));
			disturb();
		}
		this.done = true;
		for (Future<?> each : running) {
			each.get(Patience.SECONDS, TimeUnit.SECONDS);
		}
		this.faulty.failNoMore();
		closeWhatIsHeld();
		assertThat(this.overlaps).hasValue(0);
		assertThat(this.calls).hasValueGreaterThan(100);
		assertThat(this.template.getHeldLocks()).isZero();
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
		// an opening that was disturbed at last is repeated after a pause only
		Awaitility.await()
			.ignoreExceptionsInstanceOf(DataAccessException.class)
			.untilAsserted(
					() -> assertThat(this.template.execute(request(LockScope.SESSION), (lock) -> 1).value()).isOne());
	}

	private void disturb() {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		String[] methods = { "execute", "next", "getMoreResults", "close", "executeQuery" };
		String method = methods[random.nextInt(methods.length)];
		switch (random.nextInt(6)) {
			case 0 -> TestPostgres.terminate("tests");
			case 1 -> this.faulty.failAfter(method, "advisory", new OutOfMemoryError("expected"));
			case 2 -> this.faulty.failAfter(method, "advisory", new SQLException("expected", "08006"));
			case 3 -> this.faulty.failAfter(method, "", new IllegalStateException("expected"));
			case 4 -> this.faulty.failAfter(method, "advisory", new SQLException("expected", "57014"));
			default -> this.workers.get(random.nextInt(this.workers.size())).interrupt();
		}
	}

	private void work() {
		this.workers.add(Thread.currentThread());
		while (!this.done) {
			try {
				this.calls.incrementAndGet();
				call(ThreadLocalRandom.current());
			}
			catch (DataAccessException | IllegalStateException | OutOfMemoryError ex) {
				// the disturbance, or what came of it
				Thread.yield();
			}
			if (ThreadLocalRandom.current().nextInt(10) == 0) {
				Thread.interrupted();
			}
		}
	}

	private void call(ThreadLocalRandom random) {
		int key = random.nextInt(KEYS);
		LockMode mode = random.nextBoolean() ? LockMode.SHARED : LockMode.EXCLUSIVE;
		LockRequest request = LockRequest.of("job-" + key)
			.scope(LockScope.SESSION)
			.mode(mode)
			.waitFor(Duration.ofMillis(random.nextInt(3) * 20L));
		if (random.nextInt(3) > 0) {
			this.template.execute(request, (lock) -> enter(key, mode));
			return;
		}
		this.template.tryAcquire(request).ifPresent(this.forOthersToClose::add);
		if (random.nextBoolean()) {
			HeldLock held = this.forOthersToClose.poll();
			if (held != null) {
				this.threads.execute(held::close);
				held.close();
			}
		}
	}

	/**
	 * Count an exclusive holder as more than all shared ones could be.
	 */
	private boolean enter(int key, LockMode mode) {
		int weight = (mode == LockMode.SHARED) ? 1 : 1000;
		int together = this.inside[key].addAndGet(weight);
		if (together > 1000 || (mode == LockMode.EXCLUSIVE && together != 1000)) {
			this.overlaps.incrementAndGet();
		}
		Thread.yield();
		this.inside[key].addAndGet(-weight);
		return true;
	}

	private void closeWhatIsHeld() throws InterruptedException {
		for (HeldLock held = this.forOthersToClose.poll(); held != null; held = this.forOthersToClose.poll()) {
			held.close();
		}
		this.threads.shutdown();
		assertThat(this.threads.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
	}

}
