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
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockTable}.
 */
@Tag("gate")
class LockTableTests {

	private static final String[] PROPERTIES = { "management.endpoints.web.exposure.include=advisorylocks",
			"management.endpoint.advisorylocks.show-values=always" };

	private static OperatedApplication application;

	private static Jobs jobs;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class, PROPERTIES);
		jobs = application.bean(Jobs.class);
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	/**
	 * The server frees the locks of a connection a moment after that was closed.
	 */
	@AfterEach
	void waitUntilNoJobHasItsLock() {
		Awaitility.await()
			.until(() -> Stream.of("report", "export", "patient", "partner")
				.noneMatch((key) -> ForeignSession.isHeld(AdvisoryLockKey.of("shop", key))));
	}

	@Test
	void holderInTransactionIsToldWithStartOfItsTransaction() {
		try (Gate gate = Gate.enteredBy(jobs::report)) {
			Map<String, Object> job = EndpointAnswer.job(application, "report");
			assertThat(job).containsEntry("state", "running");
			assertThat(holder(job)).containsEntry("instance", new LockInstance(null).name())
				.containsEntry("pid", pid("report"))
				.containsEntry("state", "idle in transaction")
				.containsKeys("application", "user", "client", "query")
				.containsEntry("since",
						instant("SELECT xact_start FROM pg_stat_activity WHERE pid = " + pid("report")));
		}
		assertThat(EndpointAnswer.job(application, "report")).containsEntry("state", "idle")
			.containsEntry("holders", List.of());
	}

	@Test
	void holderInSessionIsToldWithStartOfItsRun() {
		try (Gate gate = Gate.enteredBy(jobs::export)) {
			Map<String, Object> job = EndpointAnswer.job(application, "export");
			assertThat(job).containsEntry("state", "running");
			assertThat(holder(job)).containsEntry("instance", new LockInstance(null).name())
				.containsEntry("pid", pid("export"))
				.containsEntry("since", instant("SELECT started_at FROM operated_run WHERE key = 'export'"));
		}
	}

	@Test
	void holderOnAnotherInstanceIsNamedAfterItsConnection() throws SQLException {
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			statement.execute("SET application_name = 'al:report@other-host:77'");
			lock(statement, AdvisoryLockKey.of("shop", "report"), "pg_advisory_lock");
			assertThat(holder(EndpointAnswer.job(application, "report"))).containsEntry("instance", "other-host:77")
				.doesNotContainKey("since");
		}
	}

	@Test
	void holderThatIsNoInstanceHasNoInstance() {
		AdvisoryLockKey key = AdvisoryLockKey.of("shop", "report");
		try (ForeignSession session = ForeignSession.holding(key)) {
			Map<String, Object> job = EndpointAnswer.job(application, "report");
			assertThat(job).containsEntry("state", "running");
			assertThat(holder(job)).doesNotContainKey("instance").containsKeys("pid", "application");
		}
	}

	@Test
	void sharedHoldersOfJobAreAllTold() throws SQLException {
		AdvisoryLockKey key = AdvisoryLockKey.of("shop", "report");
		try (Connection one = TestPostgres.open();
				Connection two = TestPostgres.open();
				Statement first = one.createStatement();
				Statement second = two.createStatement()) {
			lock(first, key, "pg_advisory_lock_shared");
			lock(second, key, "pg_advisory_lock_shared");
			assertThat((List<?>) EndpointAnswer.job(application, "report").get("holders")).hasSize(2);
		}
	}

	@Test
	void holdersOfAllPermitsAreToldAndOneThatIsNotKnownHere() {
		AdvisoryLockKey key = AdvisoryLockKey.of("shop", "partner");
		try (Gate gate = Gate.enteredBy(jobs::partner)) {
			assertThat(EndpointAnswer.job(application, "partner")).containsEntry("permits", 3)
				.containsEntry("state", "running")
				.containsEntry("problems", List.of());
			try (ForeignSession other = new ForeignSession()) {
				int second = (ForeignSession.isFree(key.permit(2))) ? 2 : 1;
				assertThat(other.tryLock(key.permit(second))).isTrue();
				assertThat((List<?>) EndpointAnswer.job(application, "partner").get("holders")).hasSize(2);
				assertThat(other.tryLock(key.permit(5))).isTrue();
				assertThat(EndpointAnswer.job(application, "partner")).containsEntry("problems", List.of("PERMITS"))
					.extractingByKey("holders", InstanceOfAssertFactories.LIST)
					.hasSize(3);
			}
		}
		assertThat(EndpointAnswer.job(application, "report")).doesNotContainKey("permits");
	}

	@Test
	void numberOfPermitsThatAnotherInstanceHasToldTheLedgerIsAProblem() {
		TestPostgres.execute("UPDATE operated_job SET lock = lock || ',1:2:1' WHERE key = 'report'");
		try {
			assertThat(EndpointAnswer.job(application, "report")).containsEntry("problems", List.of("PERMITS"));
		}
		finally {
			TestPostgres.execute("UPDATE operated_job SET lock = split_part(lock, ',', 1) WHERE key = 'report'");
		}
		assertThat(EndpointAnswer.job(application, "report")).containsEntry("problems", List.of());
	}

	@Test
	void holderOfPermitOfJobThatOnlyOtherInstancesHaveIsTold() {
		AdvisoryLockKey key = AdvisoryLockKey.of("shop", "elsewhere");
		TestPostgres.execute("INSERT INTO operated_job (namespace, key, method, scope, once, recorded, lock) VALUES "
				+ "('shop', 'elsewhere', 'Jobs.elsewhere', 'SESSION', 'NONE', false, '"
				+ PostgresAdvisoryLockTemplate.lockEntry(key) + ","
				+ PostgresAdvisoryLockTemplate.lockEntry(key.permit(2)) + "')");
		try (ForeignSession holder = ForeignSession.holding(key.permit(2))) {
			assertThat(EndpointAnswer.job(application, "elsewhere")).containsEntry("state", "running")
				.containsEntry("permits", 2)
				.extractingByKey("holders", InstanceOfAssertFactories.LIST)
				.hasSize(1);
			assertThat(holder.unlock(key.permit(2))).isTrue();
		}
		finally {
			TestPostgres.execute("DELETE FROM operated_job WHERE key = 'elsewhere'");
		}
	}

	/**
	 * Instances of the library ask again and again and do not queue in the server.
	 */
	@Test
	void programThatWaitsIsToldWithTimeAndWhomItWaitsFor() throws SQLException {
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			CompletableFuture<Void> waiting;
			try (Gate gate = Gate.enteredBy(jobs::patient)) {
				waiting = Gate.runAsync(() -> lock(statement, "patient"));
				Awaitility.await().atMost(Patience.TIME).until(() -> waiter().containsKey("since"));
				assertThat(waiter()).containsEntry("blockedBy", List.of(pid("patient")))
					.containsKeys("since", "application", "user", "client")
					.doesNotContainEntry("pid", pid("patient"));
			}
			waiting.join();
		}
	}

	@Test
	void lockOfSameNumberInAnotherDatabaseIsNotThatOfTheJob() throws SQLException {
		TestPostgres.execute("CREATE DATABASE operated_other");
		String url = TestPostgres.url().replaceFirst("(//[^/]+/)[^?]+", "$1operated_other");
		try (Connection other = DriverManager.getConnection(url); Statement statement = other.createStatement()) {
			lock(statement, AdvisoryLockKey.of("shop", "report"), "pg_advisory_lock");
			EndpointAnswer answer = EndpointAnswer.all(application);
			assertThat(answer.job("report")).containsEntry("state", "idle");
		}
		finally {
			TestPostgres.execute("DROP DATABASE operated_other WITH (FORCE)");
		}
	}

	@Test
	void holderOfPairOfNumbersIsFound() {
		try (OperatedApplication pairs = OperatedApplication.start(Jobs.class, PROPERTIES[0],
				"advisory-lock.key-format=pair")) {
			try (Gate gate = Gate.enteredBy(pairs.bean(Jobs.class)::report)) {
				assertThat(EndpointAnswer.all(pairs).job("report")).containsEntry("state", "running");
			}
		}
	}

	private static Map<String, Object> holder(Map<String, Object> job) {
		List<Map<String, Object>> holders = cast(job.get("holders"));
		assertThat(holders).hasSize(1);
		return holders.get(0);
	}

	private static Map<String, Object> waiter() {
		List<Map<String, Object>> waiters = cast(EndpointAnswer.job(application, "patient").get("waiters"));
		return waiters.isEmpty() ? Map.of() : waiters.get(0);
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> cast(Object value) {
		return (List<Map<String, Object>>) value;
	}

	private static int pid(String key) {
		return Integer.parseInt(ForeignSession.holders(AdvisoryLockKey.of("shop", key)).get(0));
	}

	private static String instant(String sql) {
		String text = TestPostgres
			.query("SELECT to_char(x AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') FROM (" + sql + ") t (x)")
			.get(0);
		return Instant.parse(text).toString();
	}

	private static void lock(Statement statement, String key) {
		try {
			lock(statement, AdvisoryLockKey.of("shop", key), "pg_advisory_lock");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void lock(Statement statement, AdvisoryLockKey key, String function) throws SQLException {
		statement.execute("SELECT " + function + "(" + key.value() + ")");
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("report")
		void report(Gate gate) {
			gate.pass();
		}

		@SingleRunner(key = "export", scope = LockScope.SESSION)
		void export(Gate gate) {
			gate.pass();
		}

		@SingleRunner(key = "partner", permits = 3)
		void partner(Gate gate) {
			gate.pass();
		}

		@SingleRunner("payment:#{#id}")
		void pay(String id, Gate gate) {
			gate.pass();
		}

		@SingleRunner(key = "upload:#{#id}", scope = LockScope.SESSION)
		void upload(String id, Gate gate) {
			gate.pass();
		}

		@SingleRunner("patient")
		void patient(Gate gate) {
			gate.pass();
		}

		@Scheduled(fixedDelay = 3_600_000, initialDelay = 3_600_000)
		@LeaderOnly("roll-up")
		void rollUp() {
		}

	}

}
