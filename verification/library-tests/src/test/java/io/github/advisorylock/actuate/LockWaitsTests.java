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
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what is told of jobs that wait for rows, and of who holds them up.
 */
class LockWaitsTests {

	private static final String LOCKS = "actuator/advisorylockspage?view=locks";

	private static final AdvisoryLockKey STRANGE = AdvisoryLockKey.ofValue(4711);

	private static OperatedApplication application;

	private static Jobs jobs;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		TestPostgres.execute("DROP TABLE IF EXISTS operated_account");
		TestPostgres.execute("CREATE TABLE operated_account (id int PRIMARY KEY, balance int NOT NULL)");
		TestPostgres.execute("INSERT INTO operated_account VALUES (1, 0), (2, 0)");
		application = OperatedApplication.start(Jobs.class, "spring.datasource.hikari.maximum-pool-size=8",
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage",
				"management.endpoint.advisorylocks.show-values=always");
		jobs = application.bean(Jobs.class);
	}

	@AfterAll
	static void stop() {
		application.close();
		TestPostgres.execute("DROP TABLE operated_account");
		OperatedApplication.dropTables();
	}

	@AfterEach
	void waitUntilNobodyHasALock() {
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
	}

	@Test
	void chainOverRowsAndAdvisoryLocksIsToldAndDrawn() {
		CompletableFuture<Void> second;
		CompletableFuture<Void> first;
		try (ForeignSession stranger = ForeignSession.holding(STRANGE)) {
			String strange = ForeignSession.holders(STRANGE).get(0);
			second = Gate.runAsync(() -> jobs.book(1));
			awaitBlocked("book");
			first = Gate.runAsync(() -> jobs.audit(1));
			awaitBlocked("audit");
			int stranded = pid("book");
			EndpointAnswer answer = EndpointAnswer.all(application);
			Map<String, Object> wait = wait(answer, "audit");
			assertThat(wait).containsEntry("lock", "row of public.operated_account").containsKeys("since", "waiting");
			assertThat(cast(wait.get("waiter"))).containsEntry("pid", pid("audit"))
				.containsEntry("namespace", "shop")
				.containsEntry("target", Jobs.class.getName() + ".audit")
				.containsKeys("instance", "application", "user", "query");
			assertThat(answer.<List<Integer>>read("$.waits[0].blockers[*].pid")).containsExactly(stranded);
			assertThat(answer.<List<String>>read("$.waits[0].blockers[*].key")).containsExactly("book");
			assertThat(application.get(LOCKS).body())
				.containsSubsequence("(" + strange + ")</b> holds up", "shop/book", "waits for advisory lock 4711",
						"shop/audit", "Jobs.<wbr>audit",
						"(" + pid("audit") + ")</b> waits for row of public.operated_account")
				.doesNotContain("deadlock</span>");
		}
		second.join();
		first.join();
		assertThat(EndpointAnswer.all(application).<List<Object>>read("$.waits")).isEmpty();
	}

	/**
	 * The server looks for deadlocks after a while only, which here is a minute.
	 */
	@Test
	void deadlockInTheMakingIsDrawnAsSuch() {
		try (Gate debit = new Gate(); Gate credit = new Gate()) {
			CompletableFuture<Void> one = Gate.runAsync(() -> jobs.debit(debit));
			CompletableFuture<Void> other = Gate.runAsync(() -> jobs.credit(credit));
			debit.awaitEntered();
			credit.awaitEntered();
			debit.close();
			credit.close();
			awaitBlocked("debit");
			awaitBlocked("credit");
			EndpointAnswer answer = EndpointAnswer.all(application);
			assertThat(answer.<List<String>>read("$.waits[*].waiter.key")).containsExactlyInAnyOrder("debit", "credit");
			assertThat(application.get(LOCKS).body()).containsOnlyOnce("deadlock</span>")
				.contains("shop/debit", "shop/credit", " waits for row of public.operated_account");
			TestPostgres.execute("SELECT pg_cancel_backend(" + pid("debit") + ")");
			assertThat(one.handle((done, failure) -> failure).join()).isInstanceOf(CompletionException.class);
			other.join();
		}
	}

	/**
	 * What others do with rows of theirs is nobody's business here.
	 */
	@Test
	void waitsOfOtherRolesAreToldOnlyInOneChainWithOurs() throws SQLException {
		TestPostgres.execute("CREATE ROLE operated_other LOGIN PASSWORD 'other'");
		TestPostgres.execute("GRANT SELECT, UPDATE ON operated_account TO operated_other");
		CompletableFuture<Void> waiting;
		CompletableFuture<Void> job;
		try (Connection holder = openOther(); Connection waiter = openOther()) {
			update(holder);
			waiting = Gate.runAsync(() -> update(waiter));
			Awaitility.await().until(() -> blocked("usename = 'operated_other'") == 1);
			assertThat(EndpointAnswer.all(application).<List<Object>>read("$.waits")).isEmpty();
			job = Gate.runAsync(() -> jobs.audit(1));
			awaitBlocked("audit");
			assertThat(EndpointAnswer.all(application).<List<String>>read("$.waits[*].waiter.user")).hasSize(2)
				.contains("operated_other");
			holder.rollback();
			waiting.join();
			waiter.rollback();
			job.join();
		}
		finally {
			TestPostgres.execute("DROP OWNED BY operated_other; DROP ROLE operated_other");
		}
	}

	private static Connection openOther() throws SQLException {
		Connection connection = DriverManager
			.getConnection(TestPostgres.url().replaceFirst("user=[^&]*", "user=operated_other") + "&password=other");
		connection.setAutoCommit(false);
		return connection;
	}

	private static void update(Connection connection) {
		try (Statement statement = connection.createStatement()) {
			statement.execute("UPDATE operated_account SET balance = 1 WHERE id = 1");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Map<String, Object> wait(EndpointAnswer answer, String key) {
		List<Map<String, Object>> waits = answer.read("$.waits[?(@.waiter.key == '" + key + "')]");
		assertThat(waits).hasSize(1);
		return waits.get(0);
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Object> cast(Object value) {
		return (Map<String, Object>) value;
	}

	private static void awaitBlocked(String key) {
		Awaitility.await().until(() -> ForeignSession.isHeld(key(key)) && blocked("pid = " + pid(key)) == 1);
	}

	private static int blocked(String condition) {
		return Integer.parseInt(
				TestPostgres
					.query("SELECT count(*) FROM pg_stat_activity WHERE " + condition
							+ " AND cardinality(pg_blocking_pids(pid)) > 0")
					.get(0));
	}

	private static int pid(String key) {
		return Integer.parseInt(ForeignSession.holders(key(key)).get(0));
	}

	private static AdvisoryLockKey key(String key) {
		return AdvisoryLockKey.of("shop", key);
	}

	/**
	 * Guarded methods that change rows.
	 */
	static class Jobs {

		private final JdbcTemplate jdbc;

		Jobs(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@SingleRunner("book")
		void book(int account) {
			change(account);
			this.jdbc.execute("SELECT pg_advisory_xact_lock(" + STRANGE.value() + ")");
		}

		@SingleRunner("audit")
		void audit(int account) {
			change(account);
		}

		@SingleRunner("debit")
		void debit(Gate gate) {
			this.jdbc.execute("SET LOCAL deadlock_timeout = '1min'");
			change(1);
			gate.pass();
			change(2);
		}

		@SingleRunner("credit")
		void credit(Gate gate) {
			this.jdbc.execute("SET LOCAL deadlock_timeout = '1min'");
			change(2);
			gate.pass();
			change(1);
		}

		private void change(int account) {
			this.jdbc.update("UPDATE operated_account SET balance = balance + 1 WHERE id = ?", account);
		}

	}

}
