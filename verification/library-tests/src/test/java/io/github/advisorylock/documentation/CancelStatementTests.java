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

package io.github.advisorylock.documentation;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.Tool;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests that the statement by which an operator cancels a run does that in each way in
 * which {@code psql} takes it.
 */
@Tag("gate")
@ExtendWith(OutputCaptureExtension.class)
class CancelStatementTests {

	@BeforeAll
	static void findPsql() {
		Tool.assumeRuns("psql", "--version");
	}

	@Test
	void fileCancelsTheRun(@TempDir Path folder) throws Exception {
		Path file = folder.resolve("cancel.sql");
		Files.writeString(file, statement());
		assertThatItEnds("-f", file.toString());
	}

	@Test
	void commandCancelsTheRun() throws Exception {
		int version = Integer.parseInt(TestPostgres.query("SHOW server_version_num").get(0));
		Assumptions.assumeTrue(version >= 150_000, "Older servers notify when all statements of a command are done");
		assertThatItEnds("-c", statement());
	}

	@Test
	void logSaysWhatToDoWhenTheSenderHasGone(CapturedOutput output) throws Exception {
		String alone = statement().replaceAll("BEGIN;|COMMIT;|SELECT pg_sleep\\(5\\);", "");
		whileItRuns((run) -> {
			await().untilAsserted(() -> {
				psql("-c", alone);
				assertThat(output).contains("has gone before it was asked for its role",
						"stay connected for five seconds");
			});
			assertThat(run).isNotDone();
		});
	}

	private static void assertThatItEnds(String... arguments) {
		whileItRuns((run) -> {
			// An instance listens from the first heartbeat of a run on: then it is said
			// again
			await().until(() -> {
				psql(arguments);
				return run.isDone();
			});
			assertThatExceptionOfType(CompletionException.class).isThrownBy(run::join)
				.withRootCauseInstanceOf(InterruptedException.class)
				.withStackTraceContaining("it was cancelled by anna");
		});
	}

	private static void whileItRuns(ThrowingConsumer<CompletableFuture<Void>> use) {
		LockContextRunner.create()
			.withBean(Job.class)
			.withPropertyValues("spring.application.name=shop", "advisory-lock.session.heartbeat=200ms")
			.run((application) -> {
				Job job = application.getBean(Job.class);
				CompletableFuture<Void> run = CompletableFuture.runAsync(job::hang);
				await().until(() -> ForeignSession.isHeld(AdvisoryLockKey.of("shop", "nightly-report")));
				use.accept(run);
				job.release();
			});
	}

	private static String statement() {
		return Documentation.codeBlocks()
			.stream()
			.map(CodeBlock::text)
			.filter((text) -> text.contains("pg_notify('advisory_lock_cancel'"))
			.findFirst()
			.orElseThrow();
	}

	private static void psql(String... arguments) throws IOException, InterruptedException {
		String url = PsqlSessionsTests.libpq(TestPostgres.url().substring("jdbc:".length()));
		Process psql = new ProcessBuilder(
				Stream.concat(Stream.of("psql", "-X", "-v", "ON_ERROR_STOP=1", url), Stream.of(arguments)).toList())
			.redirectErrorStream(true)
			.start();
		String output = new String(psql.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(psql.waitFor()).as(output).isZero();
	}

	static class Job {

		private final CountDownLatch released = new CountDownLatch(1);

		@SingleRunner(key = "nightly-report", scope = LockScope.SESSION)
		void hang() {
			try {
				this.released.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		void release() {
			this.released.countDown();
		}

	}

}
