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

package io.github.advisorylock.actuate;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that an operator learns where a run hangs, from whichever instance he asks: there
 * are two, and he asks the one that does not run it.
 */
@Tag("gate")
class RunStacksTests {

	private static final String SHOW = "management.endpoint.advisorylocks.show-values=always";

	private static final String[] PROPERTIES = { "management.endpoints.web.exposure.include=advisorylocks",
			"management.endpoint.advisorylocks.access=unrestricted", "advisory-lock.session.heartbeat=200ms" };

	private static OperatedApplication holder;

	private static OperatedApplication asked;

	private static OperatedApplication blind;

	private final CountDownLatch end = new CountDownLatch(1);

	private CompletableFuture<Void> run = CompletableFuture.completedFuture(null);

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		TestPostgres.execute("CREATE TABLE IF NOT EXISTS hanging (id int PRIMARY KEY, n int); DELETE FROM hanging; "
				+ "INSERT INTO hanging VALUES (1, 0)");
		// its only connection is that of a run in scope TRANSACTION
		holder = application(SHOW, "spring.datasource.hikari.maximum-pool-size=1");
		asked = application(SHOW);
		blind = application();
	}

	private static OperatedApplication application(String... properties) {
		return OperatedApplication.start(Jobs.class,
				Stream.of(PROPERTIES, properties).flatMap(Stream::of).toArray(String[]::new));
	}

	@AfterAll
	static void stop() {
		holder.close();
		asked.close();
		blind.close();
		TestPostgres.execute("DROP TABLE hanging");
	}

	@AfterEach
	void endRun() {
		this.end.countDown();
		this.run.handle((result, failure) -> true).join();
	}

	@ParameterizedTest
	@ValueSource(strings = { "transaction", "session" })
	void runOfAnotherInstanceIsShownWithinFiveSeconds(String key) {
		hang(key);
		long begin = System.nanoTime();
		EndpointAnswer answer = stack(asked, key);
		assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(5));
		assertThat(answer.status()).isEqualTo(200);
		Map<String, Object> shown = only(answer);
		assertThat(shown).containsEntry("thread", "hanging-thread").containsKey("instance").doesNotContainKey("error");
		assertThat(shown.get("state")).isIn("WAITING", "TIMED_WAITING");
		assertThat(frames(shown)).noneMatch((frame) -> frame.contains("//"))
			.anySatisfy((frame) -> assertThat(frame).startsWith(Jobs.class.getName() + ".hang(RunStacksTests.java:"));
		assertThat(questions()).as("the question is removed").containsExactly("0");
	}

	@ParameterizedTest
	@ValueSource(strings = { "transaction", "session" })
	void runOfTheInstanceThatIsAskedIsShownAtOnce(String key) {
		this.run = onThread(() -> call(asked.bean(Jobs.class), key));
		awaitHolders(key, 1);
		// which has its lock a moment before its method is called
		await().untilAsserted(() -> assertThat(frames(only(stack(asked, key))))
			.anySatisfy((frame) -> assertThat(frame).contains("RunStacksTests$Jobs.hang")));
	}

	@Test
	void statementAndWhomItWaitsForAreShown() throws SQLException {
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("UPDATE hanging SET n = n + 1 WHERE id = 1");
			int pid = pid(statement);
			this.run = onThread(() -> holder.bean(Jobs.class).update(holder.bean(JdbcTemplate.class)));
			await().until(() -> TestPostgres
				.query("SELECT pid FROM pg_stat_activity WHERE " + pid + " = ANY (pg_blocking_pids(pid))")
				.size() == 1);
			Map<String, Object> shown = only(stack(asked, "updating"));
			assertThat(shown).containsEntry("statement", "UPDATE hanging SET n = -1 WHERE id = 1")
				.containsEntry("connection", "active")
				.containsEntry("waitsFor", List.of(pid))
				.containsKey("pid");
			assertThat(frames(shown)).anySatisfy((frame) -> assertThat(frame).contains("RunStacksTests$Jobs.update"));
			Map<String, Object> hidden = only(stack(blind, "updating"));
			assertThat(hidden).containsEntry("statement", "******")
				.containsEntry("waitsFor", List.of(pid))
				.containsKeys("thread", "state")
				.doesNotContainKey("frames");
			other.rollback();
		}
	}

	@Test
	void virtualThreadIsShown() {
		ExecutorService threads = VirtualThreadExecutor.create();
		this.run = CompletableFuture.runAsync(() -> holder.bean(Jobs.class).session(this.end), threads);
		awaitHolders("session", 1);
		Map<String, Object> shown = only(stack(asked, "session"));
		assertThat(shown.get("thread")).asString().matches("thread \\d+");
		assertThat(frames(shown)).anySatisfy((frame) -> assertThat(frame).contains("RunStacksTests$Jobs.hang"));
	}

	/**
	 * The applications of these tests are in one process, and have one name.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "transaction-permits", "session-permits" })
	void runsOfAllPermitsOfAllInstancesAreShown(String key) {
		this.run = CompletableFuture.allOf(onThread(() -> call(holder.bean(Jobs.class), key)),
				onThread(() -> call(asked.bean(Jobs.class), key)), onThread(() -> call(blind.bean(Jobs.class), key)));
		awaitPermits(key, 3);
		List<Map<String, Object>> runs = stack(asked, key).read("$.runs");
		assertThat(runs).hasSize(3).allSatisfy((run) -> {
			assertThat(frames(run)).anySatisfy((frame) -> assertThat(frame).contains("RunStacksTests$Jobs.hang"));
			assertThat(run).doesNotContainKey("error");
		});
		assertThat(questions()).containsExactly("0");
	}

	/**
	 * No method tells how many permits such a key has.
	 */
	@Test
	void runOfAPermitThatOnlyTheOtherInstanceKnowsIsShown() throws SQLException {
		AdvisoryLockKey key = AdvisoryLockKey.of("shop", "known-to-one");
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			statement.execute(
					"SELECT pg_advisory_lock(" + key.value() + "), pg_advisory_lock(" + key.permit(2).value() + ")");
			this.run = onThread(() -> holder.bean(AdvisoryLockOperations.class)
				.execute(LockRequest.of("known-to-one").permits(3), (lock) -> {
					Jobs.hang(this.end);
					return true;
				}));
			awaitPermits("known-to-one", 3);
			List<Map<String, Object>> runs = stack(asked, "known-to-one").read("$.runs");
			assertThat(runs).hasSize(3);
			assertThat(runs.get(0)).containsEntry("thread", "hanging-thread");
			assertThat(runs.subList(1, 3)).hasSize(2)
				.allSatisfy((run) -> assertThat(run).containsEntry("pid", pid(statement))
					.hasEntrySatisfying("error", (error) -> assertThat(error).asString().contains("is no instance")));
		}
	}

	@Test
	void lockThatNoThreadRunsUnderIsTold() {
		AdvisoryLockOperations locks = holder.bean(AdvisoryLockOperations.class);
		try (HeldLock lock = locks.tryAcquire(LockRequest.of("handed-over")).orElseThrow()) {
			assertThat(lock.isHeld()).isTrue();
			assertThat(only(stack(asked, "handed-over")).get("error")).asString().contains("'tryAcquire'");
		}
	}

	@Test
	void jobThatNobodyRunsHasNoStackAndUnknownOneIsNotFound() {
		assertThat(stack(asked, "transaction").<List<Object>>read("$.runs")).isEmpty();
		assertThat(stack(asked, "nothing").status()).isEqualTo(404);
		assertThat(stack(asked, "leader:nobody").status()).isEqualTo(400);
	}

	@Test
	void keyThatEndsAsTheAddressDoesIsNamedByItsId() {
		hang("session");
		EndpointAnswer job = EndpointAnswer.of(asked.get(EndpointAnswer.ALL + "/" + id("session/stack")));
		assertThat(job.<String>read("$.job.key")).isEqualTo("session/stack");
		assertThat(only(stack(asked, id("session")))).containsEntry("thread", "hanging-thread");
	}

	@Tag("slow")
	@Test
	void holderThatDoesNotAnswerIsNamedWithinFiveSeconds() throws SQLException {
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("SET application_name = 'al:transaction@other-host:77'");
			statement.execute("SELECT pg_advisory_xact_lock(" + number("transaction") + ")");
			long begin = System.nanoTime();
			Map<String, Object> shown = only(stack(asked, "transaction"));
			assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(6));
			assertThat(shown).containsEntry("error", "no answer from other-host:77 within 5 s")
				.containsEntry("pid", pid(statement))
				.doesNotContainKeys("thread", "frames");
			assertThat(questions()).containsExactly("0");
		}
	}

	@Test
	void holderThatEndsWhileItIsAskedIsNotMissed() throws SQLException {
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("SET application_name = 'al:transaction@other-host:77'");
			statement.execute("SELECT pg_advisory_xact_lock(" + number("transaction") + ")");
			CompletableFuture<EndpointAnswer> answer = CompletableFuture.supplyAsync(() -> stack(asked, "transaction"));
			await().until(() -> questions().equals(List.of("1")));
			other.rollback();
			assertThat(answer.join().<List<Object>>read("$.runs")).isEmpty();
		}
	}

	@Test
	void strangerIsNotWaitedFor() throws SQLException {
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			statement.execute("SELECT pg_advisory_lock(" + number("transaction") + ")");
			assertThat(only(stack(asked, "transaction")).get("error")).asString()
				.contains("is no instance of an application with this library");
		}
	}

	/**
	 * Whoever may connect may say that there are questions, but only the role of the
	 * application can ask one.
	 */
	@Test
	void wordOnTheChannelIsNoQuestion() {
		hang("session");
		for (int i = 0; i < 20; i++) {
			TestPostgres.execute("SELECT pg_notify('advisory_lock_cancel', 'question')");
		}
		assertThat(only(stack(asked, "session"))).containsEntry("thread", "hanging-thread");
		assertThat(this.run).isNotDone();
	}

	@Tag("slow")
	@Test
	void withoutLedgerAnInstanceKnowsItsOwnRunsOnly() {
		try (OperatedApplication first = application(SHOW, "advisory-lock.ledger.enabled=false");
				OperatedApplication second = application(SHOW, "advisory-lock.ledger.enabled=false")) {
			this.run = onThread(() -> first.bean(Jobs.class).session(this.end));
			awaitHolders("session", 1);
			assertThat(frames(only(stack(first, "session")))).isNotEmpty();
			assertThat(only(stack(second, "session")).get("error")).asString()
				.startsWith("no answer from ")
				.contains("without the ledger");
		}
	}

	@Test
	void runThatIsToldByMaxRunIsLoggedAndKeptWithWhatItDid() {
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
			this.run = onThread(() -> holder.bean(Jobs.class).limited(this.end));
			this.run.handle((result, failure) -> true).join();
			await().untilAsserted(() -> assertThat(log.messages()).singleElement()
				.asString()
				.contains("'shop/limited'", "'maxRun'", "\"hanging-thread\" ", "RunStacksTests$Jobs.hang"));
		}
		EndpointAnswer job = EndpointAnswer.of(asked.get(EndpointAnswer.ALL + "/limited"));
		assertThat(job.<String>read("$.runs[0].outcome")).isEqualTo("FAILED");
		assertThat(job.<String>read("$.runs[0].hangStack")).startsWith("\"hanging-thread\" ")
			.contains("\n\tat ", "RunStacksTests$Jobs.hang");
		assertThat(blind.get(EndpointAnswer.ALL + "/limited").body()).doesNotContain("hangStack");
	}

	/**
	 * Who ignores an interrupt may never come to an end.
	 */
	@Test
	void runThatGoesOnAfterMaxRunIsKeptWhileItDoes() {
		this.run = onThread(() -> holder.bean(Jobs.class).stubborn(this.end));
		await().untilAsserted(() -> assertThat(TestPostgres
			.query("SELECT hang_stack FROM operated_run WHERE key = 'stubborn' AND finished_at IS NULL"))
			.singleElement()
			.asString()
			.contains("RunStacksTests$Jobs.stubborn"));
		endRun();
		assertThat(
				TestPostgres.query("SELECT hang_stack FROM operated_run WHERE key = 'stubborn' AND outcome = 'FAILED'"))
			.singleElement()
			.asString()
			.contains("RunStacksTests$Jobs.stubborn");
	}

	@Tag("slow")
	@ParameterizedTest
	@ValueSource(strings = { "transaction", "session" })
	void runThatHoldsItsLockForLongIsLoggedAndKeptWithWhatItDoes(String key) {
		try (OperatedApplication watched = application(SHOW, "advisory-lock.doctor.long-hold=200ms");
				LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
			this.run = onThread(() -> call(watched.bean(Jobs.class), key));
			await().untilAsserted(() -> assertThat(log.messages()).singleElement()
				.asString()
				.contains("has held the lock on 'shop/" + key + "'", "RunStacksTests$Jobs.hang"));
			endRun();
			assertThat(TestPostgres.query("SELECT hang_stack FROM operated_run WHERE key = '" + key
					+ "' AND outcome = 'EXECUTED' ORDER BY fencing_token DESC LIMIT 1"))
				.singleElement()
				.asString()
				.contains("RunStacksTests$Jobs.hang");
		}
	}

	private void hang(String key) {
		this.run = onThread(() -> call(holder.bean(Jobs.class), key));
		awaitHolders(key, 1);
	}

	private void call(Jobs jobs, String key) {
		switch (key) {
			case "session" -> jobs.session(this.end);
			case "transaction-permits" -> jobs.transactionPermits(this.end);
			case "session-permits" -> jobs.sessionPermits(this.end);
			default -> jobs.transaction(this.end);
		}
	}

	private static CompletableFuture<Void> onThread(Runnable call) {
		return CompletableFuture.runAsync(call, (task) -> new Thread(task, "hanging-thread").start());
	}

	private static void awaitHolders(String key, int count) {
		awaitLocks(Stream.of(AdvisoryLockKey.of("shop", key)), count);
	}

	private static void awaitPermits(String key, int count) {
		awaitLocks(IntStream.rangeClosed(1, 3).mapToObj(AdvisoryLockKey.of("shop", key)::permit), count);
	}

	private static void awaitLocks(Stream<AdvisoryLockKey> locks, int count) {
		String numbers = locks.map((lock) -> String.valueOf(lock.value())).collect(Collectors.joining(", "));
		await().until(() -> TestPostgres
			.query("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted "
					+ "AND objsubid = 1 AND (classid::bigint << 32) | objid::bigint IN (" + numbers + ")")
			.size() == count);
	}

	private static EndpointAnswer stack(OperatedApplication application, String key) {
		return EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/" + key + "/stack"));
	}

	private static Map<String, Object> only(EndpointAnswer answer) {
		List<Map<String, Object>> runs = answer.read("$.runs");
		assertThat(runs).hasSize(1);
		return runs.get(0);
	}

	@SuppressWarnings("unchecked")
	private static List<String> frames(Map<String, Object> run) {
		return (List<String>) run.get("frames");
	}

	private static List<String> questions() {
		return TestPostgres.query("SELECT count(*) FROM operated_question");
	}

	private static String id(String key) {
		return new JobId("shop", key).text();
	}

	private static long number(String key) {
		return AdvisoryLockKey.of("shop", key).value();
	}

	private static int pid(Statement statement) throws SQLException {
		try (ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
			row.next();
			return row.getInt(1);
		}
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("transaction")
		void transaction(CountDownLatch end) {
			hang(end);
		}

		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void session(CountDownLatch end) {
			hang(end);
		}

		@SingleRunner(key = "transaction-permits", permits = 3)
		void transactionPermits(CountDownLatch end) {
			hang(end);
		}

		@SingleRunner(key = "session-permits", scope = LockScope.SESSION, permits = 3)
		void sessionPermits(CountDownLatch end) {
			hang(end);
		}

		@SingleRunner(key = "session/stack", scope = LockScope.SESSION)
		void other() {
		}

		@SingleRunner("updating")
		void update(JdbcTemplate jdbc) {
			jdbc.update("UPDATE hanging SET n = -1 WHERE id = 1");
		}

		@SingleRunner(key = "limited", maxRun = "300ms")
		void limited(CountDownLatch end) {
			hang(end);
		}

		@SingleRunner(key = "stubborn", scope = LockScope.SESSION, maxRun = "300ms")
		void stubborn(CountDownLatch end) {
			while (end.getCount() > 0) {
				LockSupport.parkNanos(1_000_000);
				Thread.interrupted();
			}
		}

		private static void hang(CountDownLatch end) {
			try {
				end.await(60, TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
