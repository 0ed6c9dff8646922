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

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestServer;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for applications whose server restarts in mid-job.
 */
@Tag("servers")
class ServerRestartTests {

	private final ExecutorService executor = Executors.newSingleThreadExecutor();

	private TestServer server;

	@BeforeEach
	void start(@TempDir Path directory) {
		this.server = TestServer.start(directory.resolve("server"), Map.of());
	}

	@AfterEach
	void stop() {
		this.executor.shutdownNow();
		this.server.close();
	}

	@Test
	void sessionJobIsToldAndRunsAgainWithoutRestart() {
		DoctorContexts.inSession(this.server.url()).run((context) -> {
			DoctorContexts.SessionJob job = context.getBean(DoctorContexts.SessionJob.class);
			CountDownLatch started = new CountDownLatch(1);
			CountDownLatch told = new CountDownLatch(1);
			Future<?> run = this.executor.submit(() -> job.run(() -> {
				LockContext lock = LockContext.current().orElseThrow();
				started.countDown();
				try {
					Awaitility.await().forever().until(() -> !lock.isHeld());
				}
				finally {
					told.countDown();
				}
			}));
			assertThat(started.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			long stopped = System.nanoTime();
			this.server.stop();
			assertThat(told.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			System.out.println(
					"Told " + Duration.ofNanos(System.nanoTime() - stopped).toMillis() + " ms after the stop began");
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(run::get)
				.withCauseInstanceOf(LockLostException.class);
			this.server.start();
			awaitRun(() -> job.run(() -> {
			}));
		});
	}

	@Test
	void transactionJobFailsAndRunsAgainWithoutRestart() {
		DoctorContexts.inTransaction(this.server.url()).run((context) -> {
			DoctorContexts.TransactionJob job = context.getBean(DoctorContexts.TransactionJob.class);
			assertThatExceptionOfType(TransactionException.class).isThrownBy(() -> job.run(this.server::stop))
				.havingRootCause()
				.withMessageContaining("Connection is closed");
			this.server.start();
			awaitRun(() -> job.run(() -> {
			}));
		});
	}

	private static void awaitRun(Runnable run) {
		AtomicInteger failures = new AtomicInteger();
		ThrowingRunnable attempt = () -> {
			failures.incrementAndGet();
			run.run();
		};
		Awaitility.await()
			.atMost(Patience.TIME)
			.ignoreExceptionsMatching((ex) -> ex instanceof DataAccessException || ex instanceof TransactionException)
			.untilAsserted(attempt);
		System.out.println("Ran again in attempt " + failures);
	}

}
