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
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import com.jayway.jsonpath.JsonPath;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.ledger.jdbc.PostgresAdvisoryLockLedger;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for ticks that an operator has run at last, or again. One instance is asked, and
 * another one looks on.
 */
@Tag("gate")
class BackfillTests {

	private static final String[] PROPERTIES = { "management.endpoints.web.exposure.include=advisorylocks",
			"management.endpoint.advisorylocks.access=unrestricted",
			"management.endpoint.advisorylocks.show-values=always" };

	static final Instant FROM = Instant.parse("2026-03-01T00:00:00Z");

	private static OperatedApplication application;

	private static OperatedApplication other;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class, PROPERTIES);
		other = OperatedApplication.start(Jobs.class, PROPERTIES);
	}

	@AfterAll
	static void stop() {
		other.close();
		application.close();
	}

	@BeforeEach
	void forgetRuns() {
		TestPostgres.execute("DELETE FROM operated_run; DELETE FROM operated_backfill; DELETE FROM operated_pause; "
				+ "UPDATE operated_job SET last_tick = NULL, open_tick = NULL, given_up = false");
		TestPostgres.execute("DELETE FROM operated_schedule");
		learn();
		application.bean(Jobs.class).reset();
		other.bean(Jobs.class).reset();
	}

	private static void learn() {
		application.bean(PostgresAdvisoryLockLedger.class).rescheduled();
		other.bean(PostgresAdvisoryLockLedger.class).rescheduled();
	}

	private static void reschedule(String key, @Nullable String cron, String zone, String from) {
		TestPostgres.execute("INSERT INTO operated_schedule (namespace, key, expression, zone, effective_at) "
				+ "SELECT 'shop', '" + key + "', c, CASE WHEN c <> '' THEN '" + zone + "' END, '" + from
				+ "' FROM (SELECT nullif('" + ((cron != null) ? cron : "") + "', '')) s (c)");
	}

	@ParameterizedTest
	@ValueSource(strings = { "report", "export", "auto" })
	void eachTickIsRunAndRecordedOldestFirstAndTheLastTickStays(String key) {
		Instant last = Instant.parse("2026-07-01T02:00:00Z");
		assertThat(post(key, last.minusSeconds(60), last.plusSeconds(60), "")).containsEntry("outcome", "EXECUTED")
			.containsEntry("state", "backfilled");
		assertThat(lastTick(key)).isEqualTo(last);
		post(key, FROM, FROM.plus(Duration.ofDays(4)), "");
		assertThat(awaitEnd(key)).containsEntry("from", FROM.toString())
			.containsEntry("to", "2026-03-05T00:00:00Z")
			.containsEntry("done", 4)
			.containsEntry("of", 4)
			.containsEntry("skipped", 0)
			.containsEntry("outcome", "EXECUTED")
			.containsEntry("instance", application.bean(LockInstance.class).name())
			.containsEntry("by", "unauthenticated");
		assertThat(jobs().ticks()).containsExactly(last, tick(0), tick(1), tick(2), tick(3));
		assertThat(history(key)).containsExactly(run(last, "EXECUTED"), run(tick(0), "EXECUTED"),
				run(tick(1), "EXECUTED"), run(tick(2), "EXECUTED"), run(tick(3), "EXECUTED"));
		assertThat(lastTick(key)).isEqualTo(last);
		assertThat(TestPostgres.query("SELECT open_tick FROM operated_job WHERE key = '" + key + "'"))
			.containsOnlyNulls();
	}

	@ParameterizedTest
	@CsvSource({ "report, '', 1, 2", "export, '', 1, 2", "auto, '', 1, 2", "report, ',\"again\":true', 3, 0",
			"export, ',\"again\":true', 3, 0", "auto, ',\"again\":true', 3, 0" })
	void executedTicksAreLeftOutUnlessAskedFor(String key, String again, int done, int skipped) {
		post(key, FROM, FROM.plus(Duration.ofDays(2)), "");
		assertThat(awaitEnd(key)).containsEntry("done", 2);
		post(key, FROM, FROM.plus(Duration.ofDays(3)), again);
		await().untilAsserted(() -> assertThat(backfill(key)).containsEntry("of", 3)
			.containsEntry("done", done)
			.containsEntry("skipped", skipped)
			.containsEntry("outcome", "EXECUTED"));
		assertThat(history(key)).hasSize(2 + done);
		assertThat(lastTick(key)).isEqualTo(tick(2));
		TestPostgres.execute("DELETE FROM operated_run");
		post(key, FROM.plus(Duration.ofDays(2)), FROM.plus(Duration.ofDays(3)), again);
		await().untilAsserted(() -> assertThat(backfill(key)).as("the last tick, whose run nobody keeps any more")
			.containsEntry("of", 1)
			.containsEntry("skipped", again.isEmpty() ? 1 : 0)
			.containsEntry("outcome", "EXECUTED"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "report", "export" })
	void firstFailureStopsItAndTheRestCanFollow(String key) {
		jobs().failing().add(tick(1));
		post(key, FROM, FROM.plus(Duration.ofDays(3)), "");
		assertThat(awaitEnd(key)).containsEntry("done", 1)
			.containsEntry("outcome", "FAILED")
			.hasEntrySatisfying("error", (error) -> assertThat(error).asString().contains("no paper"));
		assertThat(history(key)).containsExactly(run(tick(0), "EXECUTED"), run(tick(1), "FAILED"));
		jobs().failing().clear();
		post(key, FROM, FROM.plus(Duration.ofDays(3)), "");
		await().untilAsserted(() -> assertThat(backfill(key)).containsEntry("done", 2)
			.containsEntry("skipped", 1)
			.containsEntry("outcome", "EXECUTED"));
		assertThat(lastTick(key)).isEqualTo(tick(2));
	}

	@Test
	void failureOfAnEarlierTickOpensNone() {
		post("report", FROM.plus(Duration.ofDays(5)), FROM.plus(Duration.ofDays(6)), "");
		awaitEnd("report");
		jobs().failing().add(tick(1));
		post("report", FROM, FROM.plus(Duration.ofDays(3)), "");
		await().untilAsserted(() -> assertThat(backfill("report")).containsEntry("outcome", "FAILED"));
		assertThat(TestPostgres
			.query("SELECT concat_ws(' ', open_tick, attempts, given_up) FROM operated_job WHERE key = 'report'"))
			.containsExactly("0 f");
		assertThat(lastTick("report")).isEqualTo(tick(5));
	}

	@ParameterizedTest
	@ValueSource(strings = { "report", "export" })
	void anyInstanceShowsAndCancelsIt(String key) {
		Gate gate = new Gate();
		jobs().hold(gate);
		post(key, FROM, FROM.plus(Duration.ofDays(3)), "");
		gate.awaitEntered();
		assertThat(EndpointAnswer.job(other, key)).extractingByKey("backfill")
			.asString()
			.contains("done=0", "of=3", "tick=" + tick(0))
			.doesNotContain("outcome");
		assertThat(send(other, key, FROM, FROM.plus(Duration.ofDays(1)), "").statusCode()).isEqualTo(409);
		assertThat(other.setState(key, "cancelled").statusCode()).isEqualTo(200);
		await().untilAsserted(() -> assertThat(backfill(key)).containsEntry("outcome", "CANCELLED"));
		await().untilAsserted(() -> assertThat(history(key)).containsExactly(run(tick(0), "CANCELLED")));
		assertThat(other.setState(key, "cancelled").statusCode()).isEqualTo(409);
	}

	@ParameterizedTest
	@ValueSource(strings = { "report", "export" })
	void runThatLastsKeepsItUnderWay(String key) {
		Gate gate = new Gate();
		jobs().hold(gate);
		post(key, FROM, FROM.plus(Duration.ofDays(1)), "");
		gate.awaitEntered();
		TestPostgres.execute("UPDATE operated_backfill SET seen_at = seen_at - INTERVAL '1 minute'");
		assertThat(backfill(key)).containsEntry("tick", tick(0).toString()).doesNotContainKey("outcome");
		assertThat(send(other, key, FROM, FROM.plus(Duration.ofDays(1)), "").statusCode()).isEqualTo(409);
		gate.close();
		await().untilAsserted(
				() -> assertThat(backfill(key)).containsEntry("outcome", "EXECUTED").containsEntry("done", 1));
	}

	/**
	 * Between a run that has lasted and the next word of its instance.
	 */
	@Test
	void runThatHasJustEndedKeepsItUnderWay() {
		post("report", FROM, FROM.plus(Duration.ofDays(1)), "");
		awaitEnd("report");
		TestPostgres.execute("UPDATE operated_backfill SET outcome = NULL, current_tick = '" + tick(0)
				+ "', seen_at = seen_at - INTERVAL '1 minute'");
		assertThat(backfill("report")).doesNotContainKey("outcome");
		assertThat(send(other, "report", FROM, FROM.plus(Duration.ofDays(1)), "").statusCode()).isEqualTo(409);
		TestPostgres.execute("UPDATE operated_run SET finished_at = finished_at - INTERVAL '11 seconds'");
		assertThat(backfill("report")).containsEntry("outcome", "ABANDONED");
	}

	@ParameterizedTest
	@ValueSource(strings = { "report", "export" })
	void runThatIsCancelledByItsBeginEndsItAsCancelled(String key) {
		Gate gate = new Gate();
		jobs().hold(gate);
		post(key, FROM, FROM.plus(Duration.ofDays(3)), "");
		gate.awaitEntered();
		String since = EndpointAnswer.of(other.get(EndpointAnswer.ALL + "/" + key)).read("$.job.holders[0].since");
		HttpResponse<String> answer = other.post("actuator/advisorylocks/" + key, "application/json",
				"{\"state\":\"cancelled\",\"since\":\"" + since + "\"}");
		assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
		assertThat(awaitEnd(key)).containsEntry("outcome", "CANCELLED").containsEntry("done", 0);
		await().untilAsserted(() -> assertThat(history(key)).containsExactly(run(tick(0), "CANCELLED")));
	}

	@ParameterizedTest
	@ValueSource(strings = { "report", "export" })
	void lockThatSomebodyElseHoldsIsWaitedFor(String key) {
		try (ForeignSession busy = ForeignSession.holding(AdvisoryLockKey.of("shop", key))) {
			post(key, FROM, FROM.plus(Duration.ofDays(2)), "");
			await().until(() -> backfill(key).containsKey("tick"));
			await().during(Duration.ofMillis(300)).until(() -> !backfill(key).containsKey("outcome"));
		}
		assertThat(awaitEnd(key)).containsEntry("outcome", "EXECUTED").containsEntry("done", 2);
		assertThat(jobs().ticks()).containsExactly(tick(0), tick(1));
	}

	@Test
	void runThatWaitsForItsLockDoesNotBeginOnceTheBackfillIsCancelled() {
		try (ForeignSession busy = ForeignSession.holding(AdvisoryLockKey.of("shop", "patient"))) {
			post("patient", FROM, FROM.plus(Duration.ofDays(3)), "");
			await().until(() -> backfill("patient").containsKey("tick"));
			assertThat(other.setState("patient", "cancelled").statusCode()).isEqualTo(200);
			assertThat(backfill("patient")).containsEntry("outcome", "CANCELLED").containsEntry("done", 0);
		}
		await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().values())
			.noneMatch((stack) -> List.of(stack).toString().contains("ledger.Backfill.get")));
		assertThat(jobs().ticks()).isEmpty();
		assertThat(history("patient")).isEmpty();
		assertThat(backfill("patient")).containsEntry("outcome", "CANCELLED").containsEntry("done", 0);
	}

	@ParameterizedTest
	@ValueSource(strings = { "report", "export" })
	void instanceThatIsDrainedBeginsNoOtherRunOfIt(String key) {
		Gate gate = new Gate();
		jobs().hold(gate);
		post(key, FROM, FROM.plus(Duration.ofDays(100)), "");
		gate.awaitEntered();
		TestPostgres.execute("UPDATE operated_instance SET drained_at = now() WHERE instance = '"
				+ application.bean(LockInstance.class).name() + "'");
		gate.close();
		assertThat(awaitEnd(key)).containsEntry("outcome", "PAUSED").containsEntry("done", 1);
		assertThat(history(key)).containsExactly(run(tick(0), "EXECUTED"));
		TestPostgres.execute("UPDATE operated_instance SET drained_at = NULL");
		application.bean(PostgresAdvisoryLockLedger.class).look();
	}

	@ParameterizedTest
	@ValueSource(strings = { "report", "export" })
	void callsOfOthersHaveTheLockBetweenTwoRuns(String key) {
		post(key, FROM, FROM.plus(Duration.ofDays(200)), "");
		Jobs elsewhere = other.bean(Jobs.class);
		Instant before = Instant.now();
		await().until(() -> {
			if (key.equals("report")) {
				elsewhere.report();
			}
			else {
				elsewhere.export();
			}
			return !elsewhere.ticks().isEmpty();
		});
		assertThat(elsewhere.ticks()).singleElement()
			.satisfies((tick) -> assertThat(tick).isBetween(before.minus(Duration.ofDays(1)), Instant.now()));
		assertThat(backfill(key)).doesNotContainKey("outcome");
		assertThat(other.setState(key, "paused").statusCode()).isEqualTo(200);
		await().untilAsserted(() -> assertThat(backfill(key)).containsEntry("outcome", "PAUSED"));
		assertThat(send(application, key, FROM, FROM.plus(Duration.ofDays(1)), "").body()).contains("is paused");
	}

	@ParameterizedTest
	@CsvSource({
			"report, 0 30 2 * * *, 2026-10-24T12:00:00Z, 2026-10-26T12:00:00Z, 2026-10-25T00:30:00Z 2026-10-26T01:30:00Z",
			"export, 0 30 2 * * *, 2026-10-24T12:00:00Z, 2026-10-26T12:00:00Z, 2026-10-25T00:30:00Z 2026-10-26T01:30:00Z",
			"auto, 0 30 2 * * *, 2026-10-25T01:00:00Z, 2026-10-26T12:00:00Z, 2026-10-26T01:30:00Z",
			"export, 0 30 * * * *, 2026-10-25T00:00:00Z, 2026-10-25T02:00:00Z, 2026-10-25T00:30:00Z 2026-10-25T01:30:00Z",
			"report, 0 30 2 * * *, 2026-03-28T12:00:00Z, 2026-03-30T12:00:00Z, 2026-03-30T00:30:00Z" })
	void nightsInWhichClocksChangeHaveTheTicksOfTheOtherSchedule(String key, String cron, Instant from, Instant to,
			String ticks) {
		reschedule(key, cron, "Europe/Berlin", "2020-01-01T00:00:00Z");
		learn();
		post(key, from, to, "");
		assertThat(awaitEnd(key)).containsEntry("outcome", "EXECUTED");
		assertThat(jobs().ticks()).extracting(Instant::toString).containsExactly(ticks.split(" "));
	}

	@ParameterizedTest
	@CsvSource({ "report, 0 0 5 * * *", "export, 0 0 5 * * *", "auto, 0 0 5 * * *", "report,", "export,", "auto," })
	void ticksOfTheScheduleThatHoldsNowAreRunWhateverHeldThen(String key, @Nullable String now) {
		reschedule(key, "0 0 4 * * *", "UTC", "2026-03-02T12:00:00Z");
		reschedule(key, now, "UTC", "2026-03-03T12:00:00Z");
		learn();
		post(key, FROM, FROM.plus(Duration.ofDays(4)), "");
		assertThat(awaitEnd(key)).containsEntry("outcome", "EXECUTED");
		int hours = (now != null) ? 3 : 0;
		assertThat(jobs().ticks()).containsExactlyElementsOf(
				IntStream.range(0, 4).mapToObj((day) -> tick(day).plus(hours, ChronoUnit.HOURS)).toList());
	}

	@ParameterizedTest
	@ValueSource(strings = { "report", "export", "auto" })
	void scheduleThatChangesMeanwhileIsFollowedByTheCallsInBetween(String key) {
		Gate gate = new Gate();
		jobs().hold(gate);
		post(key, FROM, FROM.plus(Duration.ofDays(2)), "");
		gate.awaitEntered();
		ZonedDateTime now = ZonedDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.SECONDS);
		ZonedDateTime next = now.plusSeconds(1);
		reschedule(key, next.format(DateTimeFormatter.ofPattern("s m H * * *", Locale.ROOT)), "UTC", now.toString());
		learn();
		await().until(() -> Instant.now().isAfter(next.plusSeconds(1).toInstant()));
		gate.close();
		assertThat(awaitEnd(key)).containsEntry("outcome", "EXECUTED");
		assertThat(history(key)).containsExactly(run(tick(0), "EXECUTED"), run(next.toInstant(), "EXECUTED"),
				run(tick(1), "EXECUTED"));
	}

	@ParameterizedTest
	@CsvSource({ "report, 400, '', 'from', must be times",
			"report, 400, '\"from\":\"2026-03-02T00:00:00Z\",\"to\":\"2026-03-01T00:00:00Z\"', 'from', the first one before the second",
			"report, 400, '\"from\":\"soon\",\"to\":\"2026-03-01T00:00:00Z\"', soon, must be a time",
			"report, 400, '\"from\":\"-999999999-01-01T00:00:00Z\",\"to\":\"2026-03-01T00:00:00Z\"', 'from', must be a time",
			"report, 400, '\"from\":\"2026-11-01T00:00:00Z\",\"to\":\"+999999999-12-31T00:00:00Z\"', 'to', must be a time",
			"report, 400, '\"from\":\"2026-03-01T02:00:01Z\",\"to\":\"2026-03-02T02:00:00Z\"', report, has had no tick",
			"report, 400, '\"from\":\"2126-03-01T00:00:00Z\",\"to\":\"2126-03-09T00:00:00Z\"', report, has had no tick",
			"report, 400, '\"from\":\"2020-03-01T00:00:00Z\",\"to\":\"2026-03-01T00:00:00Z\"', 2191 ticks, 1000 are the most",
			"report, 400, '\"from\":\"2026-03-01T00:00:00Z\",\"to\":\"2026-03-02T00:00:00Z\",\"again\":\"maybe\"', again, true or false",
			"rate, 409, '\"from\":\"2026-03-01T00:00:00Z\",\"to\":\"2026-03-02T00:00:00Z\"', rate, one cron schedule",
			"plain, 409, '\"from\":\"2026-03-01T00:00:00Z\",\"to\":\"2026-03-02T00:00:00Z\"', plain, one cron schedule",
			"nobody, 404, '\"from\":\"2026-03-01T00:00:00Z\",\"to\":\"2026-03-02T00:00:00Z\"', such, no such job" })
	void whatCannotBeBackfilledIsRefusedWithTheReason(String key, int status, String span, String word, String reason) {
		HttpResponse<String> answer = application.post("actuator/advisorylocks/" + key, "application/json",
				"{\"state\":\"backfilled\"" + (span.isEmpty() ? "" : ",") + span + "}");
		assertThat(answer.statusCode()).isEqualTo(status);
		assertThat(answer.body()).contains(word, reason);
		assertThat(TestPostgres.query("SELECT key FROM operated_backfill")).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "report", "export" })
	void killedInstanceEndsItAndAnotherOneGoesOn(String key) throws Exception {
		Process instance = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", "-D" + TestPostgres.class.getName() + "=" + TestPostgres.url(), "-cp",
				System.getProperty("java.class.path"), BackfillingInstance.class.getName(), key)
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		try {
			await().untilAsserted(
					() -> assertThat(backfill(key)).containsEntry("done", 2).containsEntry("tick", tick(2).toString()));
			assertThat(send(application, key, FROM, FROM.plus(Duration.ofDays(4)), "").body())
				.contains("a backfill of it is under way");
		}
		finally {
			instance.destroyForcibly().waitFor();
		}
		await().untilAsserted(() -> assertThat(backfill(key)).containsEntry("outcome", "ABANDONED"));
		assertThat(history(key)).startsWith(run(tick(0), "EXECUTED"), run(tick(1), "EXECUTED"));
		post(key, FROM, FROM.plus(Duration.ofDays(4)), "");
		await().untilAsserted(() -> assertThat(backfill(key)).containsEntry("outcome", "EXECUTED")
			.containsEntry("skipped", 2)
			.containsEntry("done", 2));
		assertThat(jobs().ticks()).containsExactly(tick(2), tick(3));
		assertThat(history(key).stream().filter((run) -> run.endsWith("EXECUTED"))).hasSize(4);
	}

	@Test
	void actIsAuditedAndForOneStateOnly() {
		post("report", FROM, FROM.plus(Duration.ofDays(1)), "");
		assertThat(application.bean(InMemoryAuditEventRepository.class).find(null, null, "ADVISORY_LOCK_BACKFILLED"))
			.extracting(AuditEvent::getData)
			.contains(Map.of("namespace", "shop", "key", "report"));
		assertThat(application
			.post("actuator/advisorylocks/report", "application/json", "{\"state\":\"running\",\"again\":true}")
			.body()).contains("for state 'backfilled' only");
	}

	@Test
	void instanceWithoutTheMethodRefuses() {
		try (OperatedApplication without = OperatedApplication.start(Nothing.class, PROPERTIES)) {
			assertThat(send(without, "report", FROM, FROM.plus(Duration.ofDays(1)), ""))
				.satisfies((answer) -> assertThat(answer.statusCode()).isEqualTo(409))
				.satisfies((answer) -> assertThat(answer.body()).contains("this instance has no method of that key"));
		}
	}

	private static Map<String, Object> post(String key, Instant from, Instant to, String more) {
		HttpResponse<String> answer = send(application, key, from, to, more);
		assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
		return JsonPath.read(answer.body(), "$");
	}

	private static HttpResponse<String> send(OperatedApplication application, String key, Instant from, Instant to,
			String more) {
		return application.post("actuator/advisorylocks/" + key, "application/json",
				"{\"state\":\"backfilled\",\"from\":\"" + from + "\",\"to\":\"" + to + "\"" + more + "}");
	}

	private static Map<String, Object> awaitEnd(String key) {
		await().until(() -> backfill(key).containsKey("outcome"));
		return backfill(key);
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Object> backfill(String key) {
		return (Map<String, Object>) EndpointAnswer.job(other, key).get("backfill");
	}

	private static Jobs jobs() {
		return application.bean(Jobs.class);
	}

	private static Instant lastTick(String key) {
		return Instant.parse(TestPostgres
			.query("SELECT to_char(last_tick AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') FROM operated_job "
					+ "WHERE key = '" + key + "'")
			.get(0));
	}

	private static List<String> history(String key) {
		return TestPostgres
			.query("SELECT to_char(tick AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') || ' ' || outcome "
					+ "FROM operated_run WHERE key = '" + key + "' ORDER BY fencing_token");
	}

	private static String run(Instant tick, String outcome) {
		return tick + " " + outcome;
	}

	private static Instant tick(int day) {
		return FROM.plus(day, ChronoUnit.DAYS).plus(2, ChronoUnit.HOURS);
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		private final List<Instant> ticks = new CopyOnWriteArrayList<>();

		private final Set<Instant> failing = ConcurrentHashMap.newKeySet();

		private volatile Gate gate = Gate.opened();

		@Bean
		InMemoryAuditEventRepository auditEvents() {
			return new InMemoryAuditEventRepository();
		}

		List<Instant> ticks() {
			return this.ticks;
		}

		Set<Instant> failing() {
			return this.failing;
		}

		void reset() {
			this.ticks.clear();
			this.failing.clear();
			this.gate = Gate.opened();
		}

		void hold(Gate gate) {
			this.gate = gate;
		}

		@Scheduled(cron = "0 0 2 * * *", zone = "UTC")
		@SingleRunner(key = "report", once = Once.PER_TICK, catchUp = "1s", maxRetries = 1)
		void report() {
			run();
		}

		@Scheduled(cron = "0 0 2 * * *", zone = "UTC")
		@SingleRunner(key = "export", once = Once.PER_TICK, scope = LockScope.SESSION)
		void export() {
			run();
		}

		@Scheduled(cron = "0 0 2 * * *", zone = "UTC")
		@SingleRunner("auto")
		void auto() {
			run();
		}

		@Scheduled(cron = "0 0 2 * * *", zone = "UTC")
		@SingleRunner(key = "patient", once = Once.PER_TICK, waitFor = "1m")
		void patient() {
			run();
		}

		@Scheduled(fixedRate = 86_400_000, initialDelay = 86_400_000)
		@SingleRunner("rate")
		void rate() {
		}

		@SingleRunner("plain")
		void plain() {
		}

		private void run() {
			Instant tick = LockContext.currentTick();
			this.ticks.add(tick);
			this.gate.pass();
			if (this.failing.contains(tick)) {
				throw new IllegalStateException("no paper");
			}
		}

	}

	/**
	 * No guarded methods.
	 */
	static class Nothing {

	}

}
