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

package io.github.advisorylock.interceptor;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.task.ThreadPoolTaskSchedulerCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for how calls for ticks are spread over instances whose clocks are 15 ms apart.
 */
@Tag("slow")
class SpreadTests {

	private static final int TICKS = 100;

	private static final Queue<Run> RUNS = new ConcurrentLinkedQueue<>();

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withUserConfiguration(Application.class)
		.withPropertyValues("spring.application.name=spread", "spring.task.scheduling.pool.size=12");

	@Test
	void threeInstancesShareTheTicks() {
		RUNS.clear();
		this.runner.withPropertyValues("ahead=15")
			.run(LockContextRunner.started(
					() -> this.runner.run(LockContextRunner.started(() -> this.runner.withPropertyValues("ahead=-15")
						.run(LockContextRunner.started(() -> observe()))))));
		Map<String, List<Run>> byKey = RUNS.stream().collect(Collectors.groupingBy(Run::key));
		assertThat(List.of("transaction", "session")).allSatisfy((key) -> {
			List<Run> runs = byKey.get(key);
			assertThat(runs.stream().map(Run::tick)).doesNotHaveDuplicates();
			assertThat(ticks(runs)).as("ticks of " + key).isEqualTo(runs.size());
			assertThat(runs.stream().collect(Collectors.groupingBy(Run::instance, Collectors.counting())).values())
				.hasSize(3)
				.allSatisfy(
						(count) -> assertThat(count * 100.0 / runs.size()).as("share of " + key).isBetween(20.0, 48.0));
			assertThat(runs.stream().filter((run) -> run.late().compareTo(Duration.ofMillis(250)) <= 0).count() * 100.0
					/ runs.size())
				.isGreaterThanOrEqualTo(95);
		});
		Map<Instant, Set<String>> workers = RUNS.stream()
			.filter((run) -> run.key().startsWith("long-"))
			.collect(Collectors.groupingBy(Run::tick, Collectors.mapping(Run::instance, Collectors.toSet())));
		assertThat(workers.size()).isGreaterThan(TICKS / 5);
		assertThat(workers.values().stream().filter((all) -> all.size() == 3).count() * 4)
			.as("ticks in which all work, of " + workers)
			.isGreaterThanOrEqualTo(workers.size() * 3L);
	}

	@Test
	void onlyWhatHasOneRunForATickIsDelayed() {
		RUNS.clear();
		ApplicationContextRunner undelayed = this.runner.withUserConfiguration(Undelayed.class)
			.withPropertyValues("advisory-lock.spread=1s");
		undelayed.run(LockContextRunner.started(() -> undelayed.run(LockContextRunner.started(() -> {
			Awaitility.await().until(() -> TestPostgres.members("spread").size() == 2);
			// Two instances that try at once skip one call or none
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.until(() -> RUNS.stream()
					.filter((run) -> run.key().equals("none"))
					.map(Run::tick)
					.distinct()
					.count() >= 8);
		}))));
		List<Duration> late = RUNS.stream()
			.filter((run) -> run.key().matches("none|two|waiting"))
			.map(Run::late)
			.sorted()
			.toList();
		assertThat(late.get(late.size() * 3 / 4)).as("of " + late).isLessThan(Duration.ofMillis(190));
	}

	@Test
	void noTickIsLostOnOneThreadNorWhenAnInstanceStops() {
		RUNS.clear();
		ApplicationContextRunner one = this.runner.withPropertyValues("spring.task.scheduling.pool.size=1", "long=0",
				"ahead=0");
		one.run(LockContextRunner.started(() -> {
			one.run(LockContextRunner.started(() -> Awaitility.await()
				.until(() -> RUNS.stream().filter((run) -> run.key().equals("session")).count() >= 8)));
			Awaitility.await().until(() -> RUNS.stream().filter((run) -> run.key().equals("session")).count() >= 12);
		}));
		Map<String, List<Instant>> ticks = RUNS.stream()
			.collect(Collectors.groupingBy(Run::key, Collectors.mapping(Run::tick, Collectors.toList())));
		assertThat(List.of("transaction", "session")).allSatisfy((key) -> {
			List<Instant> distinct = ticks.get(key).stream().distinct().sorted().toList();
			assertThat(Duration.between(distinct.get(0), distinct.get(distinct.size() - 1)).toSeconds() + 1)
				.as("ticks of " + key)
				.isEqualTo(distinct.size());
		});
	}

	@Test
	void ticksOfAnotherDatabaseAreSharedAmongItsMembers() {
		RUNS.clear();
		ApplicationContextRunner two = ReportingDatabase.application()
			.withUserConfiguration(Clocked.class, Reports.class)
			.withPropertyValues("spring.application.name=spread-two");
		two.withPropertyValues("ahead=15").run(LockContextRunner.started(() -> two.run(LockContextRunner.started(() -> {
			Awaitility.await().until(() -> RUNS.stream().map(Run::instance).distinct().count() == 2);
			Pause.of(Duration.ofSeconds(4));
			RUNS.clear();
			Awaitility.await().until(() -> RUNS.size() >= 12);
			assertThat(TestPostgres.members("spread-two")).as("of the main database").isEmpty();
			// Who ends forgets its last tick, which the other one may not have asked for
			// yet
			assertThat(RUNS.stream().map(Run::tick)).doesNotHaveDuplicates();
			assertThat(RUNS.stream().collect(Collectors.groupingBy(Run::instance, Collectors.counting())).values())
				.hasSize(2)
				.allSatisfy((count) -> assertThat(count).isGreaterThanOrEqualTo(4));
		}))));
	}

	@Test
	void lonelyInstanceAndCallByHandAreNotDelayed() {
		RUNS.clear();
		this.runner.run((context) -> {
			Awaitility.await().until(() -> RUNS.stream().filter((run) -> run.key().equals("session")).count() >= 4);
			Jobs jobs = context.getBean(Jobs.class);
			// The first call loads classes
			jobs.byHand();
			long begin = System.nanoTime();
			jobs.byHand();
			assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofMillis(40));
		});
		assertThat(RUNS.stream().filter((run) -> run.key().equals("session")).map(Run::late).sorted().findFirst())
			.hasValueSatisfying((late) -> assertThat(late).isLessThan(Duration.ofMillis(40)));
	}

	@Test
	void nobodyIsAMemberWhereTicksAreNotSpread() {
		RUNS.clear();
		this.runner.withPropertyValues("advisory-lock.spread=0").run(LockContextRunner.started(() -> {
			Awaitility.await().until(() -> RUNS.size() > 4);
			assertThat(TestPostgres.members("spread")).isEmpty();
		}));
	}

	@ParameterizedTest
	@CsvSource({ "120, 50ms, 1", "120, 0, 0", "600, 50ms, 0" })
	void sessionIsOpenedBeforeItsFirstTick(int seconds, String spread, int members) {
		SettableTicker ticker = new SettableTicker();
		LocalDateTime tick = LocalDateTime.now().plusSeconds(seconds);
		ticker.in(LockContextRunner.create())
			.withUserConfiguration(Minutely.class)
			.withPropertyValues("spring.application.name=ahead", "advisory-lock.spread=" + spread,
					"cron=%d %d %d * * *".formatted(tick.getSecond(), tick.getMinute(), tick.getHour()))
			.run((context) -> {
				assertThat(TestPostgres.members("ahead")).isEmpty();
				ticker.advance(Duration.ofSeconds(10));
				LockSession session = context.getBean(LockSession.class);
				assertThat(session.members()).isEqualTo((members > 0) ? OptionalInt.of(members) : OptionalInt.empty());
				assertThat(session.isConnected()).isEqualTo(members > 0);
				assertThat(TestPostgres.members("ahead")).hasSize(members);
			});
	}

	private static void observe() {
		Awaitility.await().until(() -> TestPostgres.members("spread").size() == 3);
		Pause.of(Duration.ofSeconds(4));
		RUNS.clear();
		Awaitility.await()
			.atMost(Duration.ofSeconds(3L * TICKS))
			.until(() -> RUNS.stream().filter((run) -> run.key().equals("session")).count() >= TICKS);
	}

	private static long ticks(List<Run> runs) {
		List<Instant> ticks = runs.stream().map(Run::tick).sorted().toList();
		return Duration.between(ticks.get(0), ticks.get(ticks.size() - 1)).toSeconds() + 1;
	}

	@EnableScheduling
	@Configuration(proxyBeanMethods = false)
	static class Clocked {

		@Bean
		ThreadPoolTaskSchedulerCustomizer clock(Environment environment) {
			return (scheduler) -> scheduler.setClock(Clock.offset(Clock.systemDefaultZone(),
					Duration.ofMillis(environment.getProperty("ahead", Long.class, 0L))));
		}

	}

	static class Reports {

		@Scheduled(cron = "* * * * * *")
		@SingleRunner(key = "report", transactionManager = "reportingTx")
		void report() {
			RUNS.add(new Run("report", String.valueOf(System.identityHashCode(this)),
					LockContext.current().flatMap(LockContext::tick).orElseThrow(), Instant.now()));
		}

	}

	@Import(Clocked.class)
	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Jobs jobs(ApplicationContext context) {
			return new Jobs(context.getId() + "@" + System.identityHashCode(context),
					Duration.ofMillis(context.getEnvironment().getProperty("long", Long.class, 1500L)));
		}

	}

	static class Jobs {

		private final String instance;

		private final Duration length;

		Jobs(String instance, Duration length) {
			this.instance = instance;
			this.length = length;
		}

		@Scheduled(cron = "* * * * * *")
		@SingleRunner("transaction")
		void transaction() {
			note("transaction");
		}

		@Scheduled(cron = "* * * * * *")
		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void session() {
			note("session");
		}

		@Scheduled(cron = "*/3 * * * * *")
		@SingleRunner(key = "long-1", scope = LockScope.SESSION)
		void one() {
			takeLong("long-1");
		}

		@Scheduled(cron = "*/3 * * * * *")
		@SingleRunner(key = "long-2", scope = LockScope.SESSION)
		void two() {
			takeLong("long-2");
		}

		@Scheduled(cron = "*/3 * * * * *")
		@SingleRunner("long-3")
		void three() {
			takeLong("long-3");
		}

		@Scheduled(cron = "*/3 * * * * *")
		@SingleRunner("long-4")
		void four() {
			takeLong("long-4");
		}

		@Scheduled(cron = "*/3 * * * * *")
		@SingleRunner(key = "long-5", scope = LockScope.SESSION)
		void five() {
			takeLong("long-5");
		}

		@Scheduled(cron = "*/3 * * * * *")
		@SingleRunner("long-6")
		void six() {
			takeLong("long-6");
		}

		@SingleRunner(key = "by-hand", scope = LockScope.SESSION)
		void byHand() {
		}

		private void takeLong(String key) {
			note(key);
			Pause.of(this.length);
		}

		private void note(String key) {
			Instant tick = LockContext.current().flatMap(LockContext::tick).orElseThrow();
			RUNS.add(new Run(key, this.instance, tick, Instant.now()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Undelayed {

		@Scheduled(cron = "*/4 * * * * *")
		@SingleRunner(key = "none", once = Once.NONE)
		void none() {
			note("none");
		}

		@Scheduled(cron = "*/4 * * * * *")
		@SingleRunner(key = "two", permits = 2)
		void two() {
			note("two");
		}

		@Scheduled(cron = "*/4 * * * * *")
		@SingleRunner(key = "waiting", waitFor = "1s")
		void waiting() {
			note("waiting");
		}

		private static void note(String key) {
			Instant now = Instant.now();
			RUNS.add(new Run(key, "", now.minusMillis(now.toEpochMilli() % 4000), now));
		}

	}

	@EnableScheduling
	@Configuration(proxyBeanMethods = false)
	static class Minutely {

		@Scheduled(cron = "${cron}")
		@SingleRunner("minutely")
		void run() {
		}

		@Scheduled(cron = "0/30 * * * * *")
		@SingleRunner(key = "unremembered", once = Once.NONE)
		void unremembered() {
		}

	}

	private record Run(String key, String instance, Instant tick, Instant begun) {

		private Duration late() {
			return Duration.between(this.tick, this.begun);
		}

	}

}
