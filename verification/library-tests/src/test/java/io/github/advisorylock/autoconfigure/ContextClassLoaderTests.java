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

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.shedlock.AdvisoryLockShedLockAutoConfiguration;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.PlatformThread;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the class loaders of threads. Callers here have one that sees neither the
 * driver nor the application, as threads may have in an executable jar.
 */
@Tag("gate")
class ContextClassLoaderTests {

	private static final ClassLoader BLIND = ClassLoader.getPlatformClassLoader();

	private static final Instant HOUR_AGO = Instant.now()
		.minus(Duration.ofHours(1))
		.with(ChronoField.NANO_OF_SECOND, 0);

	private static final LockRequest SESSION = LockRequest.of("class-loader").scope(LockScope.SESSION);

	private static final String[] LEDGER = { "advisory-lock.ledger.initialize-schema=always",
			"advisory-lock.ledger.table-prefix=class_loader_tests.ledger_" };

	private final ClassLoader ofApplication = new URLClassLoader(new URL[0], getClass().getClassLoader());

	private final Seen seen = new Seen(new ConcurrentHashMap<>());

	@Test
	void callerOpensTheConnectionWhateverItSees() {
		LockContextRunner.create().run((context) -> assertThat(takesLock(context)).isTrue());
	}

	@Test
	void callerOpensTheConnectionOfAPoolThatNamesAClass() {
		LockContextRunner.withoutDatabase()
			.withBean(HikariDataSource.class, ContextClassLoaderTests::poolOfClass)
			.withConfiguration(AutoConfigurations.of(DataSourceTransactionManagerAutoConfiguration.class))
			.run((context) -> assertThat(takesLock(context)).isTrue());
	}

	@Test
	void callerOpensTheConnectionToTheUrlOfTheSession() {
		LockContextRunner.create()
			.withPropertyValues("advisory-lock.session.url=" + TestPostgres.url())
			.run((context) -> assertThat(takesLock(context)).isTrue());
	}

	@Test
	void callerHasTheTablesOfTheLedgerCreatedWhateverItSees() {
		createSchema();
		LockContextRunner.create()
			.withPropertyValues(LEDGER)
			.run((context) -> assertThat(blind(() -> context.getBean(AdvisoryLockOperations.class)
				.execute(LockRequest.of("recorded").oncePerKey(), (lock) -> true)
				.executed())).isTrue());
	}

	@Test
	void virtualCallerHasTheConnectionOpenedWhateverItSees() {
		LockContextRunner.create().run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			ExecutorService executor = VirtualThreadExecutor.create();
			try {
				assertThat(executor.submit(() -> {
					Thread.currentThread().setContextClassLoader(BLIND);
					return operations.execute(SESSION, (lock) -> true).executed();
				})).succeedsWithin(Patience.TIME).isEqualTo(true);
			}
			finally {
				executor.shutdownNow();
			}
		});
	}

	@Test
	void callerKeepsItsClassLoader() {
		LockContextRunner.create()
			.run((context) -> assertThat(blind(() -> context.getBean(AdvisoryLockOperations.class)
				.execute(SESSION, (lock) -> Thread.currentThread().getContextClassLoader())
				.orElseThrow())).isSameAs(BLIND));
	}

	@Test
	void whoeverIsToldOfLossesHasTheClassLoaderOfTheApplication() {
		ReportingDatabase.application()
			.withClassLoader(this.ofApplication)
			.withBean(Listeners.class, () -> new Listeners(this.seen))
			.run((context) -> {
				AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
				HeldLock held = blind(() -> operations.tryAcquire(LockRequest.of("held")).orElseThrow());
				held.onLost(() -> this.seen.add("callback"));
				HeldLock elsewhere = blind(
						() -> operations.tryAcquire(LockRequest.of("elsewhere").transactionManager("reportingTx"))
							.orElseThrow());
				elsewhere.onLost(() -> this.seen.add("callback of another database"));
				TestPostgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
						+ "WHERE application_name LIKE 'al:test@%'");
				assertSeen("callback", "callback of another database", "lost");
			});
	}

	@Test
	void whoeverIsToldOfLeadersHasTheClassLoaderOfTheApplication() {
		applicationWith(Leading.class, new Leading(this.seen)).run((context) -> {
			Leading leading = context.getBean(Leading.class);
			blind(() -> {
				Awaitility.await().until(() -> "led".equals(leading.lead()));
				return null;
			});
			TestPostgres.terminate("test");
			assertSeen("gained", "no leader any more");
		});
	}

	@Test
	void tickThatIsMadeUpForIsRunWithTheClassLoaderOfTheApplication() {
		createSchema();
		applicationWith(Nightly.class, new Nightly(this.seen)).withPropertyValues(LEDGER)
			.withPropertyValues("daily=" + dailyAt(HOUR_AGO))
			.run((started) -> {
				ConfigurableApplicationContext context = started
					.getSourceApplicationContext(ConfigurableApplicationContext.class);
				TestPostgres.execute(
						"UPDATE class_loader_tests.ledger_job SET first_seen_at = first_seen_at - interval '5 days'");
				ApplicationReadyEvent ready = new ApplicationReadyEvent(new SpringApplication(), new String[0], context,
						Duration.ZERO);
				context.stop();
				blind(() -> {
					context.start();
					context.publishEvent(ready);
					return null;
				});
				assertSeen("nightly");
			});
	}

	@Test
	void whoeverIsToldThatATermIsOverHasTheClassLoaderOfTheApplication() {
		applicationWith(Listeners.class, new Listeners(this.seen))
			.withConfiguration(AutoConfigurations.of(AdvisoryLockShedLockAutoConfiguration.class))
			.run((context) -> {
				LockProvider provider = context.getBean(LockProvider.class);
				SimpleLock lock = blind(() -> provider
					.lock(new LockConfiguration(Instant.now(), "term", Duration.ofMillis(100), Duration.ZERO))
					.orElseThrow());
				assertSeen("lost");
				lock.unlock();
			});
	}

	private <T> ApplicationContextRunner applicationWith(Class<T> type, T bean) {
		return LockContextRunner.create().withClassLoader(this.ofApplication).withBean(type, () -> bean);
	}

	private void assertSeen(String... occasions) {
		Map<String, Set<ClassLoader>> expected = Stream.of(occasions)
			.collect(Collectors.toMap(Function.identity(), (occasion) -> Set.of(this.ofApplication)));
		Awaitility.await()
			.atMost(Patience.TIME)
			.untilAsserted(() -> assertThat(this.seen.loaders()).isEqualTo(expected));
	}

	private static boolean takesLock(ApplicationContext context) throws Exception {
		AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
		return blind(() -> operations.execute(SESSION, (lock) -> true).executed());
	}

	/**
	 * Call something on a thread whose class loader sees the JDK only.
	 */
	private static <T> T blind(Callable<T> callable) throws Exception {
		return PlatformThread.call(() -> {
			Thread.currentThread().setContextClassLoader(BLIND);
			return callable.call();
		});
	}

	private static void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS class_loader_tests CASCADE");
		TestPostgres.execute("CREATE SCHEMA class_loader_tests");
	}

	private static HikariDataSource poolOfClass() {
		HikariDataSource pool = new HikariDataSource();
		pool.setDataSourceClassName("org.postgresql.ds.PGSimpleDataSource");
		pool.addDataSourceProperty("url", TestPostgres.url());
		pool.setMaximumPoolSize(2);
		return pool;
	}

	private static String dailyAt(Instant instant) {
		return instant.atZone(ZoneOffset.UTC).getSecond() + " " + instant.atZone(ZoneOffset.UTC).getMinute() + " "
				+ instant.atZone(ZoneOffset.UTC).getHour() + " * * *";
	}

	/**
	 * The class loaders of the threads that something was called on.
	 *
	 * @param loaders the class loaders, by what was called
	 */
	private record Seen(Map<String, Set<ClassLoader>> loaders) {

		private void add(String occasion) {
			this.loaders.computeIfAbsent(occasion, (key) -> ConcurrentHashMap.newKeySet())
				.add(Thread.currentThread().getContextClassLoader());
		}

	}

	static class Listeners {

		private final Seen seen;

		Listeners(Seen seen) {
			this.seen = seen;
		}

		@EventListener
		void lost(LockLostEvent event) {
			this.seen.add("lost");
		}

	}

	/**
	 * Is public, as its proxy is of another class loader.
	 */
	public static class Leading {

		private final Seen seen;

		Leading(Seen seen) {
			this.seen = seen;
		}

		@LeaderOnly("class-loaders")
		public @Nullable String lead() {
			return "led";
		}

		@EventListener
		public void gained(LeadershipGainedEvent event) {
			this.seen.add("gained");
		}

		@EventListener
		public void lost(LeadershipLostEvent event) {
			this.seen.add("no leader any more");
		}

	}

	/**
	 * Is public, as its proxy is of another class loader.
	 */
	public static class Nightly {

		private final Seen seen;

		Nightly(Seen seen) {
			this.seen = seen;
		}

		@Scheduled(cron = "${daily}", zone = "UTC")
		@SingleRunner(key = "nightly", once = Once.PER_TICK, catchUp = "2h")
		public void nightly() {
			this.seen.add("nightly");
		}

	}

}
