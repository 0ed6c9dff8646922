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

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for applications whose server accepts connections and says nothing.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("gate")
class SilentServerTests {

	private ServerSocket silent;

	@BeforeEach
	void listen() throws IOException {
		this.silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
	}

	@AfterEach
	void stop() throws IOException {
		this.silent.close();
	}

	@Test
	void startIsNotHeldUp(CapturedOutput output) {
		CompletableFuture<Void> start = CompletableFuture
			.runAsync(() -> withSilentSession(DoctorContexts.inSession(TestPostgres.url())).run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("WARN", "methods of scope SESSION will fail until it is there");
			}));
		assertThat(start).succeedsWithin(Patience.TIME.multipliedBy(4));
	}

	/**
	 * A phase of the shutdown may last for longer than is waited for here.
	 */
	@Test
	void shutdownIsNotHeldUpByElectorOrCaller() {
		withSilentSession(DoctorContexts.create(TestPostgres.url()))
			.withBean("lifecycleProcessor", DefaultLifecycleProcessor.class, () -> {
				DefaultLifecycleProcessor processor = new DefaultLifecycleProcessor();
				processor.setTimeoutPerShutdownPhase(Patience.TIME.multipliedBy(4).toMillis());
				return processor;
			})
			.withPropertyValues("advisory-lock.session.heartbeat=1s", "advisory-lock.session.dead-client-timeout=10m")
			.run((context) -> {
				context.getBean(LeaderElection.class).isLeader("reports");
				CompletableFuture<Void> caller = CompletableFuture.runAsync(
						() -> context.getBean(AdvisoryLockOperations.class).tryAcquire(LockRequest.of("silent")),
						SilentServerTests::start);
				this.silent.accept();
				CompletableFuture<Void> close = CompletableFuture
					.runAsync(() -> context.getSourceApplicationContext().close(), SilentServerTests::start);
				assertThat(close).succeedsWithin(Patience.TIME.multipliedBy(2));
				assertThat(caller).failsWithin(Patience.TIME)
					.withThrowableThat()
					.withCauseInstanceOf(DataAccessResourceFailureException.class)
					.withMessageContaining("The application is shutting down");
			});
	}

	/**
	 * The common pool may have a single thread, which the first that waits takes.
	 */
	private static void start(Runnable task) {
		new Thread(task).start();
	}

	private ApplicationContextRunner withSilentSession(ApplicationContextRunner runner) {
		return runner.withPropertyValues(
				"advisory-lock.session.url=jdbc:postgresql://localhost:" + this.silent.getLocalPort() + "/postgres",
				"advisory-lock.session.heartbeat=300ms", "advisory-lock.session.dead-client-timeout=1500ms");
	}

}
