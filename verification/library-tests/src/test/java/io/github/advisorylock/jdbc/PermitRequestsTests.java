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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link PermitRequests}: a thread that asks is not answered, and others want
 * to ask for permits of the same key.
 */
class PermitRequestsTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "job");

	private static final Duration LONG = Patience.TIME;

	private final ExecutorService threads = VirtualThreadExecutor.createWhereAsked();

	private final PermitRequests requests = new PermitRequests(new HoldRegistry(10), null);

	private final CompletableFuture<Boolean> answer = new CompletableFuture<>();

	@AfterEach
	void stop() throws InterruptedException {
		this.answer.complete(false);
		this.threads.shutdown();
		assertThat(this.threads.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void waitForTheTurnHasALimit() throws Exception {
		Future<Boolean> asked = askWithoutAnswer();
		Future<Boolean> next = this.threads
			.submit(() -> this.requests.askInTurn(hold(), Duration.ofMillis(100), (permits) -> true));
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> next.get(Patience.SECONDS, TimeUnit.SECONDS))
			.havingCause()
			.isInstanceOf(DataAccessResourceFailureException.class)
			.withMessageContaining("'tests/job'")
			.withMessageContaining("PT0.1S");
		assertThat(asked).isNotDone();
	}

	@Test
	void interruptEndsTheWaitForTheTurnAndIsKept() throws Exception {
		Future<Boolean> asked = askWithoutAnswer();
		CountDownLatch ended = new CountDownLatch(1);
		Thread next = new Thread(() -> {
			if (!this.requests.askInTurn(hold(), LONG, (permits) -> true) && Thread.interrupted()) {
				ended.countDown();
			}
		});
		next.start();
		Awaitility.await().until(() -> next.getState() == Thread.State.TIMED_WAITING);
		next.interrupt();
		assertThat(ended.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		assertThat(asked).isNotDone();
	}

	@Test
	void interruptBeforeDoesNotKeepFromAskingWhereNobodyElseDoes() throws Exception {
		assertThat(this.threads.submit(() -> {
			Thread.currentThread().interrupt();
			return this.requests.askInTurn(hold(), LONG, (permits) -> permits.size() == 3) && Thread.interrupted();
		}).get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	private Future<Boolean> askWithoutAnswer() throws InterruptedException {
		CountDownLatch asks = new CountDownLatch(1);
		Future<Boolean> asked = this.threads.submit(() -> this.requests.askInTurn(hold(), LONG, (permits) -> {
			asks.countDown();
			return this.answer.join();
		}));
		assertThat(asks.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		return asked;
	}

	private static Hold hold() {
		return new Hold.InSession(KEY, LockMode.EXCLUSIVE, 3, LockScheduler.Ticker.SYSTEM, (hold) -> {
		}, (hold) -> {
			throw new IllegalStateException();
		}, (hold) -> {
		});
	}

}
