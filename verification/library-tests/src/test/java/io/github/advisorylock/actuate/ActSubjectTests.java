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

import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;

import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link ActSubject}: an act is about the run or the tick that was looked at.
 * The operator asks the instance that does not run the job.
 */
@Tag("gate")
class ActSubjectTests {

	private static final String[] PROPERTIES = { "management.endpoints.web.exposure.include=advisorylocks",
			"management.endpoint.advisorylocks.access=unrestricted",
			"management.endpoint.advisorylocks.show-values=always", "advisory-lock.session.heartbeat=200ms" };

	private static OperatedApplication holder;

	private static OperatedApplication asked;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		holder = OperatedApplication.start(Ticks.class, PROPERTIES);
		asked = OperatedApplication.start(Ticks.class, PROPERTIES);
	}

	@AfterAll
	static void stop() {
		holder.close();
		asked.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "transaction", "session" })
	void runThatHasBegunSinceGoesOnAndIsNamed(String key) {
		CompletableFuture<Void> first = hang(key);
		String ended = since(asked, key);
		jobs().finish();
		await().until(first::isDone);
		CompletableFuture<Void> second = hang(key);
		String present = since(asked, key);
		assertThat(present).isNotEqualTo(ended);
		HttpResponse<String> answer = cancel(asked, key, "\"since\":\"" + ended + "\"");
		assertThat(answer.statusCode()).isEqualTo(409);
		assertThat(answer.body()).contains("another run is under way", present,
				read(asked, key, "$.job.holders[0].instance"));
		assertThat(cancel(asked, key, "\"since\":\"" + Instant.parse(present).minusMillis(1) + "\"").statusCode())
			.isEqualTo(409);
		assertThat(second).isNotDone();
		Instant shown = Instant.parse(present).truncatedTo(ChronoUnit.MILLIS);
		assertThat(cancel(asked, key, "\"since\":\"" + shown + "\"").body()).as("as browsers tell times")
			.contains("\"outcome\":\"ENDED\"");
		Gate.assertThatCancellationEnds(second);
	}

	@ParameterizedTest
	@ValueSource(strings = { "transaction", "session" })
	void runIsKnownByItsFencingToken(String key) {
		CompletableFuture<Void> first = hang(key);
		long ended = jobs().token();
		jobs().finish();
		await().until(first::isDone);
		CompletableFuture<Void> second = hang(key);
		long present = jobs().token();
		assertThat(present).isGreaterThan(ended);
		HttpResponse<String> answer = cancel(asked, key, "\"run\":" + ended);
		assertThat(answer.statusCode()).isEqualTo(409);
		assertThat(answer.body()).contains("another run is under way", since(asked, key));
		answer = cancel(asked, key, "\"run\":" + (present + 1));
		assertThat(answer.statusCode()).isEqualTo(409);
		assertThat(answer.body()).contains(key.equals("session") ? "(run " + present + ")" : "another one");
		assertThat(second).isNotDone();
		assertThat(cancel(asked, key, "\"run\":\"" + present + "\"").body()).contains("\"outcome\":\"ENDED\"");
		Gate.assertThatCancellationEnds(second);
	}

	@ParameterizedTest
	@ValueSource(strings = { "transaction", "session" })
	void instanceThatHasTheRunComparesIt(String key) {
		CompletableFuture<Void> run = hang(key);
		String now = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint";
		await().until(() -> {
			say(key, now + " - 600000", "who means an earlier run");
			say(key, now, "run=" + (jobs().token() + 1) + " who means another run");
			// these are heard one after the other
			say(key, now, "run=" + jobs().token() + " unauthenticated");
			return run.isDone();
		});
		Gate.assertThatCancellationEnds(run);
	}

	@ParameterizedTest
	@ValueSource(strings = { "transaction", "session" })
	void whereARunHangsHasItsBegin(String key) {
		CompletableFuture<Void> run = hang(key);
		assertThat(
				EndpointAnswer.of(asked.get(EndpointAnswer.ALL + "/" + key + "/stack")).<String>read("$.runs[0].since"))
			.isEqualTo(since(asked, key));
		jobs().finish();
		await().until(run::isDone);
	}

	@Test
	void runWithoutRecordsIsComparedByTheInstanceThatHasIt() {
		String[] properties = { PROPERTIES[0], PROPERTIES[1], PROPERTIES[3], "advisory-lock.ledger.enabled=false" };
		try (OperatedApplication other = OperatedApplication.start(Jobs.class, properties);
				OperatedApplication operator = OperatedApplication.start(Jobs.class, properties)) {
			String before = read(operator, "session", "$.time");
			CompletableFuture<Void> run = hang(other, "session");
			HttpResponse<String> answer = cancel(operator, "session", "\"since\":\"" + before + "\"");
			assertThat(answer.statusCode()).isEqualTo(409);
			assertThat(answer.body()).contains("another one than the one that is meant");
			assertThat(run).isNotDone();
			assertThat(cancel(operator, "session", "\"since\":\"" + read(operator, "session", "$.time") + "\"").body())
				.contains("\"outcome\":\"ENDED\"");
			Gate.assertThatCancellationEnds(run);
			CompletableFuture<Void> second = hang(other, "transaction");
			assertThat(cancel(operator, "transaction", "\"since\":\"" + before + "\"").body())
				.contains("another run is under way", since(operator, "transaction"));
			assertThat(second).isNotDone();
			other.bean(Jobs.class).finish();
			await().until(second::isDone);
		}
	}

	/**
	 * A session of locks is in a transaction while it executes a statement.
	 */
	@Test
	void statementOfALockSessionIsNotTheBeginOfARun() throws SQLException {
		try (Connection session = TestPostgres.open();
				Statement statement = session.createStatement();
				Connection listener = TestPostgres.open()) {
			listener.createStatement().execute("LISTEN advisory_lock_cancel");
			session.setAutoCommit(false);
			statement.execute("SET application_name = 'al:shop@other-host:77'");
			statement.execute("SELECT pg_advisory_lock(" + AdvisoryLockKey.of("shop", "session").value() + ")");
			assertThat(EndpointAnswer.job(asked, "session").get("holders")).asString()
				.contains("other-host:77")
				.doesNotContain("since");
			assertThat(TestPostgres.query(
					"SELECT state || coalesce(' since ' || since, '') FROM operated_job_state WHERE key = 'session'"))
				.containsExactly("running");
			String now = read(asked, "session", "$.time");
			CompletableFuture<HttpResponse<String>> answer = CompletableFuture
				.supplyAsync(() -> cancel(asked, "session", "\"since\":\"" + now + "\""));
			await()
				.until(() -> answer.isDone() || listener.unwrap(PGConnection.class).getNotifications(100).length > 0);
			statement.execute("SELECT pg_advisory_unlock_all()");
			assertThat(answer.join().body()).contains("\"outcome\":\"ENDED\"");
		}
	}

	@Test
	void tickThatIsNotOpenIsNotRetriedAndTheOneThatIsIsNamed() {
		assertThatIllegalStateException().isThrownBy(() -> holder.bean(Ticks.class).tick()).withMessage("expected");
		String open = read(asked, "tick", "$.job.openTick.tick");
		HttpResponse<String> answer = retry("2020-01-01T03:00:00Z");
		assertThat(answer.statusCode()).isEqualTo(409);
		assertThat(answer.body()).contains("The tick of 2020-01-01T03:00:00Z", "that of " + open);
		assertThat(TestPostgres.query("SELECT attempts FROM operated_job WHERE key = 'tick'")).containsExactly("1");
		holder.bean(Ticks.class).repair();
		asked.bean(Ticks.class).repair();
		assertThat(retry(open).body()).contains("EXECUTED");
		answer = retry(open);
		assertThat(answer.statusCode()).isEqualTo(409);
		assertThat(answer.body()).contains("it is completed");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			value = { "{\"state\":\"cancelled\",\"since\":\"soon\"} | 'since' must be a time",
					"{\"state\":\"cancelled\",\"run\":\"x\"} | 'run' must be a fencing token",
					"{\"state\":\"cancelled\",\"tick\":\"2026-03-01T02:00:00Z\"} | 'tick' is for state 'retried' only",
					"{\"state\":\"retried\",\"run\":1} | for state 'cancelled' only",
					"{\"state\":\"paused\",\"since\":\"2026-03-01T02:00:00Z\"} | for state 'cancelled' only" })
	void requestThatNamesWhatItIsNotAboutIsRefused(String body, String reason) {
		HttpResponse<String> answer = asked.post("actuator/advisorylocks/session", "application/json", body);
		assertThat(answer.statusCode()).isEqualTo(400);
		assertThat(answer.body()).contains(reason);
	}

	private static void say(String key, String millis, String user) {
		AdvisoryLockKey lock = AdvisoryLockKey.of("shop", key);
		TestPostgres.execute("SELECT pg_notify('advisory_lock_cancel', '" + Integer.toUnsignedString(lock.classId())
				+ ":" + Integer.toUnsignedString(lock.objectId()) + ":1 ' || " + millis + " || ' " + user + "')");
	}

	private static Jobs jobs() {
		return holder.bean(Jobs.class);
	}

	private static CompletableFuture<Void> hang(String key) {
		return hang(holder, key);
	}

	private static CompletableFuture<Void> hang(OperatedApplication application, String key) {
		Jobs jobs = application.bean(Jobs.class);
		jobs.begin();
		CompletableFuture<Void> run = Gate.runAsync(() -> {
			try {
				if (key.equals("session")) {
					jobs.session();
				}
				else {
					jobs.transaction();
				}
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
		await().until(() -> jobs.hasBegun());
		assertThat(ForeignSession.isHeld(AdvisoryLockKey.of("shop", key))).isTrue();
		return run;
	}

	private static String since(OperatedApplication application, String key) {
		return read(application, key, "$.job.holders[0].since");
	}

	private static String read(OperatedApplication application, String key, String path) {
		return EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/" + key)).read(path).toString();
	}

	private static HttpResponse<String> cancel(OperatedApplication application, String key, String subject) {
		return application.post("actuator/advisorylocks/" + key, "application/json",
				"{\"state\":\"cancelled\"," + subject + "}");
	}

	private static HttpResponse<String> retry(String tick) {
		return asked.post("actuator/advisorylocks/tick", "application/json",
				"{\"state\":\"retried\",\"tick\":\"" + tick + "\"}");
	}

	static class Jobs {

		private volatile CountDownLatch end = new CountDownLatch(1);

		private volatile boolean begun;

		private volatile long token;

		void begin() {
			this.begun = false;
			this.end = new CountDownLatch(1);
		}

		void finish() {
			this.end.countDown();
		}

		@SingleRunner("transaction")
		void transaction() throws InterruptedException {
			hang();
		}

		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void session() throws InterruptedException {
			hang();
		}

		boolean hasBegun() {
			return this.begun;
		}

		long token() {
			return this.token;
		}

		private void hang() throws InterruptedException {
			this.token = LockContext.current().orElseThrow().fencingToken().orElse(0);
			this.begun = true;
			this.end.await(60, TimeUnit.SECONDS);
		}

	}

	@Import(Jobs.class)
	static class Ticks {

		private volatile boolean broken = true;

		void repair() {
			this.broken = false;
		}

		@Scheduled(cron = "0 0 3 1 1 *", zone = "UTC")
		@SingleRunner(key = "tick", once = Once.PER_TICK)
		void tick() {
			if (this.broken) {
				throw new IllegalStateException("expected");
			}
		}

	}

}
