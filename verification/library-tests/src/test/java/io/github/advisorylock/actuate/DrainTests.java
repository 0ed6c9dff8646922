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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.Tool;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for instances that an operator drains.
 */
@Tag("gate")
@ExtendWith(OutputCaptureExtension.class)
class DrainTests {

	private static final String[] PROPERTIES = { "management.endpoints.web.exposure.include=advisorylocks",
			"management.endpoint.advisorylocks.access=unrestricted", "logging.level.io.github.advisorylock.run=debug" };

	@BeforeEach
	void dropTables() {
		OperatedApplication.dropTables();
	}

	@Test
	void drainedInstanceBeginsNothingUntilItIsResumedAndWhatRunsGoesOn(CapturedOutput output) throws Exception {
		try (OperatedApplication second = start("shop-2"); OperatedApplication first = start("shop-1")) {
			Jobs jobs = second.bean(Jobs.class);
			LeaderElection election = second.bean(LeaderElection.class);
			await().until(() -> election.isLeader("outbox"));
			assertThat(first.bean(LeaderElection.class).isLeader("outbox")).isFalse();
			assertThat(jobs.lead()).contains("led");
			Gate gate = Gate.enteredBy(jobs::export);
			try (gate) {
				assertThat(post(first, "drained", "shop-2").body()).isEqualTo(
						"{\"namespace\":\"shop\",\"instance\":\"shop-2\",\"state\":\"drained\",\"by\":\"unauthenticated\"}");
				await().until(() -> first.bean(LeaderElection.class).isLeader("outbox"));
				assertThat(election.isLeader("outbox")).isFalse();
				assertThat(jobs.lead()).isEmpty();
				// nor does it run for a role that nobody has asked for before
				assertThat(election.isLeader("reports")).isFalse();
				await().until(() -> first.bean(LeaderElection.class).isLeader("reports"));
				assertRefuses(second);
				await().until(() -> members() == 1);
				assertThat(holder(first, "export")).contains("\"instance\":\"shop-2\"");
			}
			assertThat(output).contains("Skipped 'shop/report' (Jobs.report), paused: this instance is drained");
			await().untilAsserted(
					() -> assertThat(TestPostgres.query("SELECT outcome FROM operated_run WHERE key = 'export'"))
						.containsExactly("EXECUTED"));
			Map<String, Object> told = instance(first, "shop-2");
			assertThat(told).containsEntry("state", "alive")
				.containsEntry("drainedBy", "unauthenticated")
				.containsKey("drainedAt");
			assertThat(EndpointAnswer.all(second).<Boolean>read("$.drained")).isTrue();
			assertThat(instance(first, "shop-1")).doesNotContainKey("drainedAt");
			assertThat(EndpointAnswer.all(first).<List<List<String>>>read("$.leaders[*].waiting"))
				.containsOnly(List.of());
			assertThat(second.setState("report", "running").statusCode()).isEqualTo(409);
			assertThat(second.setState("report", "running").body()).contains("this instance is drained");
			assertThat(first.runNow("report").body()).contains("EXECUTED");
			assertThat(post(first, "resumed", "shop-2").statusCode()).isEqualTo(200);
			await().until(() -> !EndpointAnswer.all(second).body().contains("\"drained\""));
			assertThat(jobs.report().executed()).isTrue();
			await().until(() -> members() == 2);
			first.close();
			await().until(() -> election.isLeader("outbox"));
		}
	}

	private static void assertRefuses(OperatedApplication application) {
		Jobs jobs = application.bean(Jobs.class);
		AdvisoryLockOperations operations = application.bean(AdvisoryLockOperations.class);
		assertThat(jobs.report().outcome()).isEqualTo(LockOutcome.PAUSED);
		assertThat(jobs.upload()).isNull();
		for (LockScope scope : LockScope.values()) {
			LockResult<String> result = operations.execute(LockRequest.of("by hand").scope(scope), (lock) -> "done");
			assertThat(result.outcome()).isEqualTo(LockOutcome.PAUSED);
			assertThatIllegalStateException().isThrownBy(result::orElseThrow)
				.withMessage("Work under advisory lock 'shop/by hand' did not run: PAUSED (this instance is drained)");
		}
		assertThat(operations.tryAcquire(LockRequest.of("by hand"))).isEmpty();
	}

	/**
	 * As Kubernetes runs it in the container, where {@code HOSTNAME} is the name.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void preStopHookOfTheDocumentsDrainsItsOwnInstance(boolean ledger) throws Exception {
		try (OperatedApplication application = OperatedApplication.start(Jobs.class, PROPERTIES[0], PROPERTIES[1],
				"advisory-lock.instance=pod-1", "advisory-lock.ledger.enabled=" + ledger)) {
			Jobs jobs = application.bean(Jobs.class);
			await().until(() -> application.bean(LeaderElection.class).isLeader("outbox"));
			assertThat(jobs.report().executed()).isTrue();
			Gate gate = Gate.enteredBy(jobs::export);
			try (gate) {
				assertThat(preStop(application)).contains("\"instance\":\"pod-1\",\"state\":\"drained\"");
				assertRefuses(application);
				await().until(() -> !application.bean(LeaderElection.class).isLeader("outbox"));
				assertThat(jobs.lead()).isEmpty();
				assertThat(ForeignSession.isHeld(AdvisoryLockKey.of("shop", "export"))).isTrue();
			}
			await().until(() -> ForeignSession.isFree(AdvisoryLockKey.of("shop", "export")));
			assertRefuses(application);
			assertThat(ForeignSession.isHeld(AdvisoryLockKey.of("shop", "leader:outbox"))).isFalse();
		}
	}

	private static String preStop(OperatedApplication application) throws Exception {
		Tool.assumeRuns("curl", "--version");
		Matcher line = Pattern.compile("`(curl -s localhost:8080/actuator/advisorylocks [^`]+)`")
			.matcher(Files.readString(Path.of("../../docs/operating.md")));
		assertThat(line.find()).isTrue();
		String port = application.context().getEnvironment().getProperty("local.server.port");
		ProcessBuilder shell = new ProcessBuilder("sh", "-c",
				line.group(1).replace("localhost:8080", "127.0.0.1:" + port))
			.redirectErrorStream(true);
		shell.environment().put("HOSTNAME", "pod-1");
		Process hook = shell.start();
		String output = new String(hook.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(hook.waitFor()).as(output).isZero();
		return output;
	}

	/**
	 * Nothing is heard without a session: the heartbeat finds it.
	 */
	@Test
	void instanceWithoutASessionFindsOutByItsHeartbeat() {
		try (OperatedApplication first = start("shop-1"); OperatedApplication second = start("shop-2")) {
			await().until(() -> instances(first).contains("shop-2"));
			drainUnheard("shop-2");
			await().until(() -> second.bean(Jobs.class).report().outcome() == LockOutcome.PAUSED);
			assertThat(first.bean(Jobs.class).report().executed()).isTrue();
		}
	}

	@Test
	void instanceThatWasAskedItselfIsResumedByAnotherOne() {
		try (OperatedApplication second = start("shop-2"); OperatedApplication first = start("shop-1")) {
			await().until(() -> instances(first).containsAll(List.of("shop-1", "shop-2")));
			assertThat(post(second, "drained", "shop-2").statusCode()).isEqualTo(200);
			assertRefuses(second);
			assertThat(post(first, "resumed", "shop-2").statusCode()).isEqualTo(200);
			await().until(() -> second.bean(Jobs.class).report().executed());
		}
	}

	/**
	 * A context that comes after it in its process is another one, from its first run on.
	 */
	@Test
	void instanceThatHasStoppedIsDrainedNoLonger() throws SQLException {
		try (OperatedApplication drained = start("shop-2")) {
			await().until(() -> instances(drained).contains("shop-2"));
			assertThat(post(drained, "drained", "shop-2").statusCode()).isEqualTo(200);
		}
		try (Connection late = DriverManager.getConnection(TestPostgres.url());
				Statement lock = late.createStatement()) {
			late.setAutoCommit(false);
			lock.execute("SELECT FROM operated_instance FOR UPDATE");
			try (OperatedApplication next = start("shop-2")) {
				assertThat(next.bean(Jobs.class).report().executed()).isTrue();
				late.rollback();
				await().until(() -> instance(next, "shop-2").get("state").equals("alive"));
				assertThat(instance(next, "shop-2")).doesNotContainKey("drainedAt");
				assertThat(next.bean(Jobs.class).report().executed()).isTrue();
			}
		}
	}

	/**
	 * As a container that is killed after it was drained, and started again.
	 */
	@Test
	void processWithTheNameOfADrainedOneThatHasVanishedBegins() {
		start("shop-1").close();
		TestPostgres.execute("INSERT INTO operated_instance (namespace, instance, born_at, started_at, seen_at, "
				+ "drained_at, drained_by) SELECT 'shop', 'shop-2', t.then, t.then, t.then, t.then, 'anna' "
				+ "FROM (SELECT clock_timestamp() - INTERVAL '1 hour' AS then) t");
		try (OperatedApplication next = start("shop-2")) {
			await().until(() -> instances(next).contains("shop-2"));
			assertThat(next.bean(Jobs.class).report().executed()).isTrue();
			assertThat(next.bean(Jobs.class).upload()).isEqualTo("done");
			assertThat(EndpointAnswer.all(next).<List<Object>>read("$.instances[?(@.state == 'vanished')]")).hasSize(1);
		}
	}

	/**
	 * Where a run begins, the ledger says it, whatever the instance has heard by then.
	 */
	@ParameterizedTest
	@EnumSource
	void recordedRunDoesNotBeginOnceAnotherInstanceHasAnswered(LockScope scope) {
		try (OperatedApplication second = start("shop-2"); OperatedApplication first = start("shop-1")) {
			await().until(() -> instances(first).containsAll(List.of("shop-1", "shop-2")));
			AdvisoryLockOperations operations = second.bean(AdvisoryLockOperations.class);
			Function<String, LockRequest> recorded = (
					key) -> LockRequest.of(key).scope(scope).minInterval(Duration.ofMillis(1));
			LockResult<LockOutcome> running = operations.execute(recorded.apply("outer"), (lock) -> {
				drainUnheard("shop-2");
				return operations.execute(recorded.apply("inner"), (part) -> "done").outcome();
			});
			assertThat(running.value()).isEqualTo(LockOutcome.EXECUTED);
			for (String namespace : List.of("shop", "other")) {
				LockResult<String> result = operations.execute(recorded.apply("late").namespace(namespace),
						(lock) -> "late");
				assertThat(result.outcome()).isEqualTo(LockOutcome.PAUSED);
				assertThatIllegalStateException().isThrownBy(result::orElseThrow)
					.withMessageContaining("PAUSED (this instance is drained)");
			}
			assertRefuses(second);
			assertThat(first.bean(Jobs.class).report().executed()).isTrue();
			assertThat(post(first, "resumed", "shop-2").statusCode()).isEqualTo(200);
			await().until(() -> second.bean(Jobs.class).report().executed());
		}
	}

	@Test
	void scheduledTickOfAnInstanceThatHasNotHeardOfItIsLeftToOthers() {
		try (OperatedApplication second = start("shop-2")) {
			await().until(() -> instances(second).contains("shop-2"));
			drainUnheard("shop-2");
			AdvisoryLockOperations operations = second.bean(AdvisoryLockOperations.class);
			LockRequest tick = LockRequest.of("nightly").oncePerTick(Instant.now().truncatedTo(ChronoUnit.SECONDS));
			assertThat(operations.execute(tick, (lock) -> "late").outcome()).isEqualTo(LockOutcome.PAUSED);
			try (OperatedApplication first = start("shop-1")) {
				assertThat(first.bean(AdvisoryLockOperations.class).execute(tick, (lock) -> "done").value())
					.isEqualTo("done");
			}
		}
	}

	/**
	 * As an act on another instance does before that has heard of it.
	 */
	private static void drainUnheard(String instance) {
		TestPostgres.execute("UPDATE operated_instance SET drained_at = now(), drained_by = 'ops' WHERE instance = '"
				+ instance + "'");
	}

	@ParameterizedTest
	@EnumSource
	void callThatWaitsForItsLockDoesNotBeginOnceTheInstanceIsDrained(LockScope scope) throws Exception {
		try (OperatedApplication application = start("shop-1")) {
			AdvisoryLockOperations operations = application.bean(AdvisoryLockOperations.class);
			LockRequest request = LockRequest.of("patient").scope(scope);
			CompletableFuture<LockResult<String>> waiting = new CompletableFuture<>();
			LockResult<String> inner = operations.execute(request, (lock) -> {
				Thread thread = new Thread(() -> waiting
					.complete(operations.execute(request.waitFor(Duration.ofMinutes(1)), (late) -> "late")));
				thread.start();
				await().until(() -> thread.getState() != Thread.State.RUNNABLE);
				int status = post(application, "drained", "shop-1").statusCode();
				return status + operations.execute(LockRequest.of("inner").scope(scope), (part) -> " inner").value();
			});
			assertThat(inner.value()).isEqualTo("200 inner");
			assertThat(waiting.get().outcome()).isEqualTo(LockOutcome.PAUSED);
			assertThat(TestPostgres.locks()).noneMatch((lock) -> lock.contains("patient"));
		}
	}

	@Test
	void heldLockThatIsWaitedForIsNotGivenOutOnceTheInstanceIsDrained() throws Exception {
		try (OperatedApplication application = start("shop-1")) {
			AdvisoryLockOperations operations = application.bean(AdvisoryLockOperations.class);
			LockRequest request = LockRequest.of("patient").scope(LockScope.SESSION);
			CompletableFuture<Optional<HeldLock>> waiting = new CompletableFuture<>();
			try (HeldLock held = operations.tryAcquire(request).orElseThrow()) {
				Thread thread = new Thread(
						() -> waiting.complete(operations.tryAcquire(request.waitFor(Duration.ofMinutes(1)))));
				thread.start();
				await().until(() -> thread.getState() != Thread.State.RUNNABLE);
				assertThat(post(application, "drained", "shop-1").statusCode()).isEqualTo(200);
				assertThat(held.isHeld()).isTrue();
			}
			assertThat(waiting.get()).isEmpty();
			assertThat(ForeignSession.isHeld(AdvisoryLockKey.of("shop", "patient"))).isFalse();
		}
	}

	/**
	 * The other instance has found the lock taken, and comes no more for this tick.
	 */
	@Test
	void tickThatWasTakenRunsThoughItsInstanceIsDrainedMeanwhile() {
		try (OperatedApplication first = startWithTicks("shop-1");
				OperatedApplication second = startWithTicks("shop-2")) {
			TakenTick taken = second.bean(TakenTick.class);
			await().until(() -> Ticks.RUN.size() > 1);
			taken.act = () -> post(second, "drained", "shop-2");
			await().until(() -> taken.tick != null);
			await().untilAsserted(() -> assertThat(Ticks.RUN).contains(taken.tick));
			assertThat(EndpointAnswer.all(second).<Boolean>read("$.drained")).isTrue();
		}
	}

	private static OperatedApplication startWithTicks(String name) {
		return OperatedApplication.start(Ticks.class, PROPERTIES[0], PROPERTIES[1],
				"advisory-lock.ledger.enabled=false", "advisory-lock.instance=" + name);
	}

	@Test
	void instanceThatDoesNotLiveIsNotFoundAndNothingElseIsDoneWithOne() {
		try (OperatedApplication first = start("shop-1")) {
			start("shop-2").close();
			await().until(() -> instances(first).contains("shop-2"));
			for (String name : List.of("shop-2", "nobody", "a\\u0000b")) {
				assertThat(post(first, "drained", name).statusCode()).isEqualTo(404);
			}
			assertThat(post(first, "drained", "nobody").body()).contains("There is no living instance 'nobody'");
			assertThat(post(first, "paused", "shop-1").statusCode()).isEqualTo(400);
			assertThat(first.post("actuator/advisorylocks", "application/json", "{\"state\":\"drained\"}").statusCode())
				.isEqualTo(400);
		}
	}

	@Test
	void withoutLedgerAnInstanceIsDrainedByItselfOnly() {
		try (OperatedApplication alone = OperatedApplication.start(Jobs.class, PROPERTIES[0], PROPERTIES[1],
				"advisory-lock.ledger.enabled=false", "advisory-lock.instance=shop-1")) {
			HttpResponse<String> other = post(alone, "drained", "shop-2");
			assertThat(other.statusCode()).isEqualTo(409);
			assertThat(other.body()).contains("without the ledger").contains("'shop-1'");
			assertThat(post(alone, "drained", "shop-1").statusCode()).isEqualTo(200);
			assertRefuses(alone);
			assertThat(alone.bean(LeaderElection.class).isLeader("outbox")).isFalse();
			assertThat(post(alone, "resumed", "shop-1").statusCode()).isEqualTo(200);
			assertThat(alone.bean(Jobs.class).report().executed()).isTrue();
			await().until(() -> alone.bean(LeaderElection.class).isLeader("outbox"));
		}
	}

	private static OperatedApplication start(String name) {
		return OperatedApplication.start(Jobs.class, PROPERTIES[0], PROPERTIES[1], PROPERTIES[2],
				"advisory-lock.instance=" + name);
	}

	private static HttpResponse<String> post(OperatedApplication application, String state, String instance) {
		return application.post("actuator/advisorylocks", "application/json",
				"{\"state\":\"" + state + "\",\"instance\":\"" + instance + "\"}");
	}

	private static List<String> instances(OperatedApplication application) {
		return EndpointAnswer.all(application).read("$.instances[*].instance");
	}

	private static Map<String, Object> instance(OperatedApplication application, String name) {
		return EndpointAnswer.all(application)
			.<List<Map<String, Object>>>read("$.instances[?(@.instance == '" + name + "')]")
			.get(0);
	}

	private static int members() {
		return ForeignSession.holders(AdvisoryLockKey.of("shop", LockSession.MEMBERS)).size();
	}

	private static String holder(OperatedApplication application, String key) {
		return EndpointAnswer.job(application, key).get("holders").toString();
	}

	/**
	 * A job of each second that nothing records.
	 */
	@Import(TakenTick.class)
	static class Ticks {

		static final Set<Instant> RUN = ConcurrentHashMap.newKeySet();

		@Scheduled(cron = "* * * * * *")
		@SingleRunner("each-second")
		void eachSecond() {
			RUN.add(LockContext.currentTick());
		}

	}

	/**
	 * What comes between a tick that an instance takes and the transaction that is begun
	 * for it.
	 */
	static class TakenTick implements TransactionExecutionListener {

		private volatile @Nullable Runnable act;

		private volatile @Nullable Instant tick;

		@Override
		public void beforeBegin(TransactionExecution transaction) {
			Runnable act = this.act;
			if (act != null && this.tick == null) {
				this.tick = Instant.now().truncatedTo(ChronoUnit.SECONDS);
				act.run();
				// until the other instance has asked for the tick
				LockSupport.parkNanos(Duration.ofMillis(500).toNanos());
			}
		}

	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("report")
		LockResult<String> report() {
			return LockResult.executed("written");
		}

		@SingleRunner(key = "upload", scope = LockScope.SESSION)
		String upload() {
			return "done";
		}

		@SingleRunner(key = "export", scope = LockScope.SESSION)
		void export(Gate gate) {
			gate.pass();
		}

		@LeaderOnly("outbox")
		Optional<String> lead() {
			return Optional.of("led");
		}

	}

}
