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

package io.github.advisorylock.ledger.jdbc;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link InstancePresence}, and for what an instance tells of its methods.
 */
class InstancePresenceTests extends AbstractLedgerTests {

	private static final JobFacts.Schedule HOURLY = JobFacts.Schedule.cron("0 0 * * * *", ZoneOffset.UTC);

	private final InstancePresence presence = new InstancePresence(() -> this.ledger, NAMESPACE, "1.2.3",
			() -> List.of("reports", "mail"), LockScheduler.Threads.ofCurrent());

	@AfterEach
	void stop() {
		this.presence.stop();
	}

	@Test
	void instanceIsKnownUntilItStopsInOrder() {
		long begin = System.nanoTime();
		start();
		Duration took = Duration.ofNanos(System.nanoTime() - begin);
		KnownInstance known = known();
		assertThat(known.state()).isEqualTo(KnownInstance.State.ALIVE);
		assertThat(known.version()).isEqualTo("1.2.3");
		assertThat(known.clockSkew()).isNotNull().isBetween(Duration.ofMillis(-1), took);
		assertThat(known.roles()).extracting(KnownInstance.Role::name).containsExactly("mail", "reports");
		this.presence.stop();
		assertThat(known().state()).isEqualTo(KnownInstance.State.STOPPED);
		assertThat(known().stoppedAt()).isNotNull();
		this.presence.start();
		Awaitility.await().until(() -> known().state() == KnownInstance.State.ALIVE);
		assertThat(known().startedAt()).isAfter(known.startedAt());
	}

	/**
	 * As a leader that hands its role over meanwhile.
	 */
	@Test
	void nobodyWaitsForWhoSaysThatTheInstanceEnds() throws Exception {
		start();
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("LOCK TABLE ledger_tests_instance IN SHARE MODE");
			Thread stopping = new Thread(this.presence::stop);
			stopping.start();
			Awaitility.await().until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
			this.presence.lost("reports");
			assertThat(this.presence.isRunning()).isFalse();
			assertThat(stopping.isAlive()).isTrue();
			other.rollback();
			stopping.join();
		}
		assertThat(known().state()).isEqualTo(KnownInstance.State.STOPPED);
	}

	@Test
	void nothingIsSaidBeforeTheLedgerIsOpen() {
		this.presence.start();
		this.presence.gained("reports", 1);
		this.presence.stop();
		assertThat(TestPostgres.query("SELECT instance FROM ledger_tests_instance")).isEmpty();
	}

	/**
	 * And not with the next word that it is there.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "on", "off" })
	void termOfALeaderIsToldAtOnceAndTakenBack(String arrayNulls) {
		HikariDataSource pool = TestPostgres.pool(4);
		pool.addDataSourceProperty("options", "-c array_nulls=" + arrayNulls);
		usePool(pool);
		this.ledger.prepare();
		SettableTicker ticker = new SettableTicker();
		InstancePresence presence = new InstancePresence(() -> this.ledger, NAMESPACE, null,
				() -> List.of("reports", "mail"), ticker.threads());
		try {
			presence.ledgerOpened();
			presence.start();
			ticker.passUntil(() -> !this.ledger.repository().overview(NAMESPACE, 1).instances().isEmpty());
			presence.gained("reports", 775);
			awaitTerms(null, 775L);
			assertThat(known().roles().get(1).since()).isNotNull();
			presence.lost("reports");
			awaitTerms(null, null);
		}
		finally {
			presence.stop();
		}
	}

	@Test
	void termThatBeginsWhileTheInstanceAppearsIsTold() throws Exception {
		SettableTicker ticker = new SettableTicker();
		InstancePresence presence = new InstancePresence(() -> this.ledger, NAMESPACE, null, () -> List.of("reports"),
				ticker.threads());
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("LOCK TABLE ledger_tests_instance IN SHARE MODE");
			presence.ledgerOpened();
			presence.start();
			ticker.passUntil(() -> !TestPostgres
				.query("SELECT pid FROM pg_locks WHERE relation = 'ledger_tests_instance'::regclass AND NOT granted")
				.isEmpty());
			presence.gained("reports", 775);
			other.rollback();
			Awaitility.await().until(() -> !this.ledger.repository().overview(NAMESPACE, 1).instances().isEmpty());
			awaitTerms(775L);
		}
		finally {
			presence.stop();
		}
	}

	private void awaitTerms(@Nullable Long... terms) {
		Awaitility.await()
			.untilAsserted(
					() -> assertThat(known().roles()).extracting(KnownInstance.Role::term).containsExactly(terms));
	}

	@Test
	void stopDoesNotWaitForWhoeverHasTheRow() throws Exception {
		start();
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("UPDATE ledger_tests_instance SET version = 'locked'");
			CompletableFuture<Void> stopped = CompletableFuture.runAsync(this.presence::stop, (task) -> {
				Thread thread = new Thread(task, "stop");
				thread.setDaemon(true);
				thread.start();
			});
			stopped.get(Patience.SECONDS, TimeUnit.SECONDS);
			assertThat(this.presence.isRunning()).isFalse();
			other.rollback();
		}
		Awaitility.await().until(() -> known().state() == KnownInstance.State.STOPPED);
	}

	@Test
	void instanceThatWasNotSeenVanishedUnlessItHasAConnection() throws Exception {
		TestPostgres.execute("INSERT INTO ledger_tests_instance (namespace, instance, seen_at) VALUES "
				+ "('tests', 'a-host-with-a-name-that-is-long:9', clock_timestamp() - INTERVAL '36 seconds'), "
				+ "('tests', 'other:9', clock_timestamp() - INTERVAL '30 seconds')");
		assertThat(states()).containsExactly("ALIVE other:9", "VANISHED a-host-with-a-name-that-is-long:9");
		try (Connection connection = TestPostgres.open(); Statement statement = connection.createStatement()) {
			statement.execute("SET application_name = 'al:job@t-with-a-name-that-is-long:9'");
			statement.execute("SELECT pg_advisory_lock(17)");
			assertThat(states()).contains("ALIVE a-host-with-a-name-that-is-long:9");
			assertThat(this.ledger.repository().overview(NAMESPACE, 1).instances())
				.filteredOn((one) -> one.instance().startsWith("a-host"))
				.extracting(KnownInstance::locks)
				.containsExactly(1);
		}
	}

	@Test
	void processThatHasTheNameOfOneThatVanishedDoesNotHideThat() throws Exception {
		TestPostgres.execute("INSERT INTO ledger_tests_instance (namespace, instance, born_at, started_at, seen_at) "
				+ "VALUES ('tests', 'host:1', clock_timestamp() - INTERVAL '1 hour', "
				+ "clock_timestamp() - INTERVAL '1 hour', clock_timestamp() - INTERVAL '1 second')");
		assertThat(states()).containsExactly("ALIVE host:1");
		start();
		Awaitility.await().untilAsserted(() -> assertThat(states()).containsExactly("ALIVE host:1", "VANISHED host:1"));
		try (Connection connection = TestPostgres.open(); Statement statement = connection.createStatement()) {
			statement.execute("SET application_name = 'al:job@host:1'");
			statement.execute("SELECT pg_advisory_lock(18)");
			assertThat(this.ledger.repository().overview(NAMESPACE, 1).instances()).extracting(KnownInstance::locks)
				.containsExactly(1, 0);
		}
		this.presence.stop();
		assertThat(states()).containsExactlyInAnyOrder("STOPPED host:1", "VANISHED host:1");
	}

	@Test
	void instanceIsForgottenADayAfterItWasSeen() {
		TestPostgres.execute("INSERT INTO ledger_tests_instance (namespace, instance, seen_at) VALUES "
				+ "('tests', 'old:1', clock_timestamp() - INTERVAL '25 hours'), "
				+ "('tests', 'young:1', clock_timestamp() - INTERVAL '23 hours')");
		LedgerPurge purge = this.ledger.purge();
		LedgerPurge.Work last = purge.outdated().get(purge.outdated().size() - 1);
		purge.execute(last, last.first());
		assertThat(states()).containsExactly("VANISHED young:1");
	}

	@Test
	void applicationSaysThatItIsThereAndWhatItsJobsAre() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS presence CASCADE; CREATE SCHEMA presence");
		ApplicationContextRunner runner = LockContextRunner.create()
			.withPropertyValues("advisory-lock.ledger.table-prefix=presence.al_",
					"advisory-lock.ledger.initialize-schema=always", "advisory-lock.ledger.enabled=true",
					"advisory-lock.ledger.instances=true", "spring.application.version=7.8", "nightly.cron=0 0 3 * * *")
			.withBean(Jobs.class);
		runner.run((context) -> {
			assertThat(context).hasNotFailed();
			Awaitility.await()
				.until(() -> TestPostgres.query("SELECT instance || ' ' || version FROM presence.al_instance")
					.equals(List.of(new LockInstance(null).name() + " 7.8")));
			assertThat(facts()).containsExactly(
					"nightly " + Jobs.class.getName() + ".nightly TRANSACTION [{\"type\":\"cron\",\"expression\":"
							+ "\"0 0 3 * * *\",\"zone\":\"Europe/Berlin\"}] NONE",
					"often " + Jobs.class.getName() + ".often TRANSACTION "
							+ "[{\"type\":\"fixedDelay\",\"interval\":\"PT1H\"}] NONE");
			assertThat(TestPostgres.query("SELECT lock FROM presence.al_job WHERE lock NOT LIKE '%:1'")).isEmpty();
			// what it says of its methods once is not forgotten with its next word
			context.getBean(InstancePresence.class).gained("reports", 775);
			Awaitility.await()
				.untilAsserted(() -> assertThat(TestPostgres
					.query("SELECT schedules FROM presence.al_instance WHERE terms = ARRAY[775]::bigint[]"))
					.singleElement()
					.asString()
					.contains("\"often\": \"fixedDelay PT1H\"", "\"nightly\": \"cron 0 0 3 * * * Europe/Berlin"));
		});
		assertThat(TestPostgres.query("SELECT instance FROM presence.al_instance WHERE stopped_at IS NOT NULL"))
			.containsExactly(new LockInstance(null).name());
		TestPostgres.execute("TRUNCATE presence.al_instance");
		runner.withPropertyValues("advisory-lock.ledger.instances=false", "nightly.cron=0 0 4 * * *").run((context) -> {
			assertThat(context).doesNotHaveBean(InstancePresence.class);
			assertThat(facts().get(0)).contains("0 0 4 * * *");
		});
		assertThat(TestPostgres.query("SELECT instance FROM presence.al_instance")).isEmpty();
		TestPostgres.execute("DROP SCHEMA presence CASCADE");
	}

	@Test
	void startDoesNotWaitForARunThatHasTheRowOfAJobWhichChanged() throws Exception {
		JobName name = new JobName(NAMESPACE, "job");
		this.ledger.repository().register(List.of(fact(name)));
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("UPDATE ledger_tests_job SET attempts = 0");
			this.ledger.repository().register(List.of(fact(name, HOURLY)));
			other.rollback();
		}
		assertThat(TestPostgres.query("SELECT schedules FROM ledger_tests_job")).containsExactly("[]");
		this.ledger.repository().register(List.of(fact(name, HOURLY)));
		assertThat(TestPostgres.query("SELECT period || ' ' || (next_at > now()) FROM ledger_tests_job"))
			.containsExactly("3600000000 true");
		String version = TestPostgres.query("SELECT xmin FROM ledger_tests_job").get(0);
		this.ledger.repository().register(List.of(fact(name, HOURLY), NamedJobs.unknown(name)));
		assertThat(TestPostgres.query("SELECT xmin FROM ledger_tests_job")).containsExactly(version);
	}

	private static JobFacts fact(JobName name, JobFacts.Schedule... schedules) {
		return new JobFacts(name, "Jobs.run", "SESSION", List.of(schedules), "NONE", null, null, "1:2:1", true, false,
				0, CronTicks.Changes.NONE);
	}

	private void start() {
		this.presence.ledgerOpened();
		this.presence.start();
		Awaitility.await().until(() -> !this.ledger.repository().overview(NAMESPACE, 1).instances().isEmpty());
	}

	private KnownInstance known() {
		return this.ledger.repository().overview(NAMESPACE, 1).instances().get(0);
	}

	private List<String> states() {
		return this.ledger.repository()
			.overview(NAMESPACE, 1)
			.instances()
			.stream()
			.map((one) -> one.state() + " " + one.instance())
			.toList();
	}

	private static List<String> facts() {
		return TestPostgres
			.query("SELECT concat_ws(' ', key, method, scope, schedules, once) FROM presence.al_job ORDER BY key");
	}

	static class Jobs {

		@SingleRunner("nightly")
		@Scheduled(cron = "${nightly.cron}", zone = "Europe/Berlin")
		void nightly() {
		}

		@SingleRunner("often")
		@Scheduled(fixedDelay = 3_600_000, initialDelay = 3_600_000)
		void often() {
		}

	}

}
