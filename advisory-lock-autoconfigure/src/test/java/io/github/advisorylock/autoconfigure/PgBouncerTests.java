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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.testsupport.TestPgBouncer;
import io.github.advisorylock.testsupport.TestServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for applications with PgBouncer between them and their server.
 */
@Tag("servers")
@ExtendWith(OutputCaptureExtension.class)
class PgBouncerTests {

	private static TestServer server;

	private static TestPgBouncer transactionMode;

	private static TestPgBouncer sessionMode;

	@BeforeAll
	static void start(@TempDir Path directory) {
		server = TestServer.start(directory.resolve("server"), Map.of());
		transactionMode = TestPgBouncer.start(server, "transaction", directory);
		sessionMode = TestPgBouncer.start(server, "session", directory);
	}

	@AfterAll
	static void stop() {
		transactionMode.close();
		sessionMode.close();
		server.close();
	}

	@Test
	void sessionScopeIsRefusedThroughTransactionMode() {
		String failure = DoctorContexts.failureOf(DoctorContexts.inSession(transactionMode.url()));
		assertThat(failure).contains("pooler in transaction mode", "advisory-lock.session.url",
				"advisory-lock.doctor.transaction-pooler");
	}

	@Test
	void sessionScopeWorksWithUrlStraightToServer(CapturedOutput output) {
		DoctorContexts.inSession(transactionMode.url())
			.withPropertyValues("advisory-lock.session.url=" + server.url())
			.run((context) -> {
				AtomicInteger runs = new AtomicInteger();
				context.getBean(DoctorContexts.SessionJob.class).run(runs::incrementAndGet);
				assertThat(runs).hasValue(1);
				assertThat(output).contains("Advisory locks are ready in scope SESSION: PostgreSQL 18",
						"behind a pooler in transaction mode", "session locks straight to the server");
			});
	}

	@Test
	void sessionScopeWorksThroughSessionMode(CapturedOutput output) {
		DoctorContexts.inSession(sessionMode.url()).run((context) -> {
			AtomicInteger runs = new AtomicInteger();
			context.getBean(DoctorContexts.SessionJob.class).run(runs::incrementAndGet);
			assertThat(runs).hasValue(1);
			assertThat(output).contains("session locks through a pooler that keeps sessions");
		});
	}

	@Test
	void transactionScopeRunsContendedCallsThroughTransactionMode(CapturedOutput output) {
		DoctorContexts.inTransaction(transactionMode.url() + "&prepareThreshold=0").run((context) -> {
			DoctorContexts.TransactionJob job = context.getBean(DoctorContexts.TransactionJob.class);
			AtomicInteger inside = new AtomicInteger();
			AtomicInteger overlaps = new AtomicInteger();
			AtomicInteger runs = new AtomicInteger();
			Runnable work = () -> {
				overlaps.addAndGet((inside.incrementAndGet() > 1) ? 1 : 0);
				runs.incrementAndGet();
				inside.decrementAndGet();
			};
			call(4, 250, () -> job.run(work));
			System.out.println("PgBouncer: 1000 calls, " + runs + " runs, " + overlaps + " overlaps");
			assertThat(overlaps).hasValue(0);
			assertThat(runs).hasPositiveValue();
			assertThat(output).doesNotContain("prepareThreshold").contains("Advisory locks are ready");
		});
	}

	@Test
	void driverThatPreparesStatementsIsNamed(CapturedOutput output) {
		DoctorContexts.inTransaction(transactionMode.url()).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("WARN", "prepareThreshold=5", "add 'prepareThreshold=0'",
					"advisory-lock.doctor.prepared-statements");
			assertThat(server.query("SELECT count(*) FROM pg_prepared_statements")).isEqualTo("0");
		});
	}

	@Test
	void driverThatPreparesStatementsIsFineThroughSessionMode(CapturedOutput output) {
		DoctorContexts.inTransaction(sessionMode.url()).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("prepareThreshold");
		});
	}

	private static void call(int threads, int times, Runnable call) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			List<Future<?>> results = new ArrayList<>();
			for (int i = 0; i < threads; i++) {
				results.add(executor.submit(() -> {
					for (int j = 0; j < times; j++) {
						call.run();
					}
				}));
			}
			for (Future<?> result : results) {
				result.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

}
