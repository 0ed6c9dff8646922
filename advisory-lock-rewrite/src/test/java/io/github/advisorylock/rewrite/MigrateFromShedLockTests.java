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

package io.github.advisorylock.rewrite;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openrewrite.java.Assertions;
import org.openrewrite.java.JavaParser;
import org.openrewrite.test.RecipeSpec;
import org.openrewrite.test.RewriteTest;
import org.openrewrite.test.SourceSpecs;
import org.openrewrite.test.TypeValidation;

/**
 * Tests for the recipe that moves an application from ShedLock, on what ShedLock's
 * documentation shows.
 */
@Tag("gate")
class MigrateFromShedLockTests implements RewriteTest {

	private static final String PROVIDER = """
			import javax.sql.DataSource;

			import net.javacrumbs.shedlock.core.LockProvider;
			import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
			import org.springframework.context.annotation.Bean;
			import org.springframework.context.annotation.Configuration;

			@Configuration
			class Beans {

				@Bean
				LockProvider lockProvider(DataSource dataSource) {
					return new JdbcTemplateLockProvider(dataSource);
				}

			}
			""";

	@Override
	public void defaults(RecipeSpec spec) {
		spec.recipe(MigrationRecipe.load())
			.parser(JavaParser.fromJavaVersion()
				.classpath("shedlock-core", "shedlock-spring", "shedlock-provider-jdbc-template",
						"shedlock-sql-support", "spring-context", "spring-core", "spring-beans", "spring-jdbc",
						"spring-tx"))
			// The library is not on the class path of an application that is yet to move
			.typeValidationOptions(TypeValidation.all())
			.afterTypeValidationOptions(TypeValidation.all().identifiers(false).methodInvocations(false));
	}

	@Test
	void lockOfCronMethodLosesItsTimes() {
		rewriteRun(java("""
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
				import org.springframework.scheduling.annotation.Scheduled;

				class Reports {

					@Scheduled(cron = "0 */15 * * * *")
					@SchedulerLock(name = "quarterly", lockAtMostFor = "14m", lockAtLeastFor = "14m")
					public void run() {
					}

				}
				""", """
				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;
				import org.springframework.scheduling.annotation.Scheduled;

				class Reports {

					@Scheduled(cron = "0 */15 * * * *")
					@SingleRunner(key = "quarterly", scope = LockScope.SESSION)
					public void run() {
					}

				}
				"""));
	}

	@Test
	void cronWithARandomPartThatALeastTimeHidStaysWithWhatToChange() {
		rewriteRun(java("""
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
				import org.springframework.scheduling.annotation.Scheduled;

				class Reports {

					@Scheduled(cron = "${random.int[0,59]} 0 2 * * *")
					@SchedulerLock(name = "placeholder", lockAtLeastFor = "5m")
					public void placeholder() {
					}

					@Scheduled(cron = "#{T(java.util.concurrent.ThreadLocalRandom).current().nextInt(60)} 0 2 * * *")
					@SchedulerLock(name = "expression", lockAtLeastFor = "5m")
					public void expression() {
					}

					@Scheduled(fixedDelayString = "${random.int[60000,70000]}")
					@SchedulerLock(name = "delay", lockAtLeastFor = "1m")
					public void delay() {
					}

				}
				""", """
				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
				import org.springframework.scheduling.annotation.Scheduled;

				class Reports {

					@Scheduled(cron = "${random.int[0,59]} 0 2 * * *")
					RANDOM@SchedulerLock(name = "placeholder", lockAtLeastFor = "5m")
					public void placeholder() {
					}

					@Scheduled(cron = "#{T(java.util.concurrent.ThreadLocalRandom).current().nextInt(60)} 0 2 * * *")
					RANDOM@SchedulerLock(name = "expression", lockAtLeastFor = "5m")
					public void expression() {
					}

					@Scheduled(fixedDelayString = "${random.int[60000,70000]}")
					@SingleRunner(key = "delay", scope = LockScope.SESSION, minInterval = "1m")
					public void delay() {
					}

				}
				""".replace("RANDOM",
				"""
						/*~~(Stays under ShedLock: its cron expression has a random part, so that each instance plans other ticks, \
						which only lockAtLeastFor = "5m" kept from being run by all: write one expression for all instances, of which \
						one runs each tick anyway, and run the recipe again; see GUIDE)~~>*/"""
					.replace("GUIDE", ShedLock.GUIDE))));
	}

	@Test
	void leastTimeOfMethodWithoutTicksBecomesMinInterval() {
		rewriteRun(java("""
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
				import org.springframework.scheduling.annotation.Scheduled;

				class Jobs {

					@Scheduled(fixedRate = 600_000)
					@SchedulerLock(name = "refresh", lockAtLeastFor = "PT9M")
					public void refresh() {
					}

					@Scheduled(fixedRate = 600_000)
					@SchedulerLock(name = "poll", lockAtLeastFor = "500")
					public void poll() {
					}

					@Scheduled(fixedRate = 600_000)
					@SchedulerLock(name = "sweep", lockAtLeastFor = "PT0S")
					public void sweep() {
					}

				}
				""", """
				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;
				import org.springframework.scheduling.annotation.Scheduled;

				class Jobs {

					@Scheduled(fixedRate = 600_000)
					@SingleRunner(key = "refresh", scope = LockScope.SESSION, minInterval = "PT9M")
					public void refresh() {
					}

					@Scheduled(fixedRate = 600_000)
					@SingleRunner(key = "poll", scope = LockScope.SESSION, minInterval = "500ms")
					public void poll() {
					}

					@Scheduled(fixedRate = 600_000)
					@SingleRunner(key = "sweep", scope = LockScope.SESSION)
					public void sweep() {
					}

				}
				"""));
	}

	@Test
	void timeForAllMethodsGoesWhereSchedulesAreLonger() {
		rewriteRun(java("""
				import java.util.concurrent.TimeUnit;

				import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
				import org.springframework.scheduling.annotation.Scheduled;

				@EnableSchedulerLock(defaultLockAtMostFor = "10m", defaultLockAtLeastFor = "100ms")
				class Jobs {

					static final long SECOND = 1000;

					@Scheduled(fixedDelay = 60_000L)
					@SchedulerLock(name = "poll")
					public void poll() {
					}

					@Scheduled(fixedRate = 5 * 60 * SECOND)
					@SchedulerLock(name = "refresh")
					public void refresh() {
					}

					@Scheduled(fixedRateString = "PT5M")
					@SchedulerLock(name = "sweep")
					public void sweep() {
					}

					@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.MINUTES)
					@SchedulerLock(name = "send")
					public void send() {
					}

					@Scheduled(cron = "*/10 * * * * *")
					@SchedulerLock(name = "count")
					public void count() {
					}

				}
				""", """
				import java.util.concurrent.TimeUnit;

				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;
				import org.springframework.scheduling.annotation.Scheduled;

				class Jobs {

					static final long SECOND = 1000;

					@Scheduled(fixedDelay = 60_000L)
					@SingleRunner(key = "poll", scope = LockScope.SESSION)
					public void poll() {
					}

					@Scheduled(fixedRate = 5 * 60 * SECOND)
					@SingleRunner(key = "refresh", scope = LockScope.SESSION)
					public void refresh() {
					}

					@Scheduled(fixedRateString = "PT5M")
					@SingleRunner(key = "sweep", scope = LockScope.SESSION)
					public void sweep() {
					}

					@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.MINUTES)
					@SingleRunner(key = "send", scope = LockScope.SESSION)
					public void send() {
					}

					@Scheduled(cron = "*/10 * * * * *")
					@SingleRunner(key = "count", scope = LockScope.SESSION)
					public void count() {
					}

				}
				"""), configuration());
	}

	@Test
	void timeForAllMethodsAsksBeforeItTakesTables() {
		rewriteRun(java("""
				import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
				import org.springframework.scheduling.annotation.Scheduled;

				@EnableSchedulerLock(defaultLockAtMostFor = "10m", defaultLockAtLeastFor = "2s")
				class Jobs {

					@SchedulerLock(name = "by-hand")
					public void byHand() {
					}

					@Scheduled(fixedDelay = 500)
					@SchedulerLock(name = "often")
					public void often() {
					}

					@Scheduled(fixedDelayString = "${delay}")
					@SchedulerLock(name = "unknown")
					public void unknown() {
					}

					@Scheduled(cron = "* * * * * *")
					@SchedulerLock(name = "each-second")
					public void eachSecond() {
					}

					@SchedulerLock(name = "asked", lockAtLeastFor = "0s")
					public void asked() {
					}

				}
				""", """
				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;
				import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
				import org.springframework.scheduling.annotation.Scheduled;

				@EnableSchedulerLock(defaultLockAtMostFor = "10m", defaultLockAtLeastFor = "2s")
				class Jobs {

					ASKS@SchedulerLock(name = "by-hand")
					public void byHand() {
					}

					@Scheduled(fixedDelay = 500)
					ASKS@SchedulerLock(name = "often")
					public void often() {
					}

					@Scheduled(fixedDelayString = "${delay}")
					ASKS@SchedulerLock(name = "unknown")
					public void unknown() {
					}

					@Scheduled(cron = "* * * * * *")
					ASKS@SchedulerLock(name = "each-second")
					public void eachSecond() {
					}

					@SingleRunner(key = "asked", scope = LockScope.SESSION)
					public void asked() {
					}

				}
				""".replace("ASKS", """
				/*~~(Stays under ShedLock: to keep defaultLockAtLeastFor = "2s" here takes the ledger's tables; \
				give this method a lockAtLeastFor of its own and run the recipe again: "0s" if the time is only for \
				clocks that differ, or else the time, which becomes minInterval; see GUIDE)~~>*/""".replace("GUIDE",
				ShedLock.GUIDE))), configuration());
	}

	@Test
	void timeThatIsLongerThanFromTickToTickIsKept() {
		rewriteRun(java("""
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
				import org.springframework.scheduling.annotation.Scheduled;

				class Jobs {

					@Scheduled(cron = "0 */5 * * * *")
					@SchedulerLock(name = "sweep", lockAtLeastFor = "1h")
					public void sweep() {
					}

					@Scheduled(cron = "${sweep}")
					@SchedulerLock(name = "unknown", lockAtLeastFor = "1h")
					public void unknown() {
					}

				}
				""", """
				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;
				import org.springframework.scheduling.annotation.Scheduled;

				class Jobs {

					@Scheduled(cron = "0 */5 * * * *")
					@SingleRunner(key = "sweep", scope = LockScope.SESSION, minInterval = "1h")
					public void sweep() {
					}

					@Scheduled(cron = "${sweep}")
					@SingleRunner(key = "unknown", scope = LockScope.SESSION)
					public void unknown() {
					}

				}
				"""),
				org.openrewrite.properties.Assertions.properties("spring.application.name=shop",
						"spring.application.name=shop\nadvisory-lock.ledger.initialize-schema=always",
						(spec) -> spec.path("src/main/resources/application.properties")));
	}

	@Test
	void transactionalMethodsKeepTheirLockInTheirTransaction() {
		rewriteRun(java("""
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
				import org.springframework.transaction.annotation.Isolation;
				import org.springframework.transaction.annotation.Propagation;
				import org.springframework.transaction.annotation.Transactional;

				class Jobs {

					@Transactional(timeout = 30, propagation = Propagation.REQUIRES_NEW)
					@SchedulerLock(name = "bill")
					public void bill() {
					}

					@Transactional(isolation = Isolation.SERIALIZABLE)
					@SchedulerLock(name = "settle")
					public void settle() {
					}

					@Transactional("reporting")
					@SchedulerLock(name = "report")
					public void report() {
					}

				}
				""", """
				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;
				import org.springframework.transaction.annotation.Isolation;
				import org.springframework.transaction.annotation.Propagation;
				import org.springframework.transaction.annotation.Transactional;

				class Jobs {

					@Transactional(timeout = 30, propagation = Propagation.REQUIRES_NEW)
					@SingleRunner(key = "bill")
					public void bill() {
					}

					@Transactional(isolation = Isolation.SERIALIZABLE)
					@SingleRunner(key = "settle", scope = LockScope.SESSION)
					public void settle() {
					}

					@Transactional("reporting")
					@SingleRunner(key = "report", scope = LockScope.SESSION)
					public void report() {
					}

				}
				"""));
	}

	@Test
	void placeholdersStayAndArgumentsAreNamed() {
		rewriteRun(java("""
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

				class Imports {

					@SchedulerLock(name = "${imports.prefix:in}-nightly")
					public void nightly() {
					}

					@SchedulerLock(name = "import-#{#tenant}-#{#p1.toLowerCase()}")
					public void run(String tenant, String kind) {
					}

				}
				""", """
				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;

				class Imports {

					@SingleRunner(key = "${imports.prefix:in}-nightly", scope = LockScope.SESSION)
					public void nightly() {
					}

					@SingleRunner(key = "import-#{#tenant}-#{#kind.toLowerCase()}", scope = LockScope.SESSION)
					public void run(String tenant, String kind) {
					}

				}
				"""));
	}

	@Test
	void configurationThatIsOnlyForShedLockIsDeleted() {
		rewriteRun(java("""
				import javax.sql.DataSource;

				import net.javacrumbs.shedlock.core.LockProvider;
				import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
				import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
				import org.springframework.context.annotation.Bean;
				import org.springframework.context.annotation.Configuration;
				import org.springframework.jdbc.core.JdbcTemplate;

				@Configuration
				@EnableSchedulerLock(defaultLockAtMostFor = "10m")
				class LockConfiguration {

					@Bean
					LockProvider lockProvider(DataSource dataSource) {
						return new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
							.withJdbcTemplate(new JdbcTemplate(dataSource))
							.usingDbTime()
							.build());
					}

				}
				""", null));
	}

	@Test
	void restOfConfigurationStays() {
		rewriteRun(java("""
				import java.time.Clock;

				import javax.sql.DataSource;

				import net.javacrumbs.shedlock.core.LockProvider;
				import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
				import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
				import org.springframework.context.annotation.Bean;
				import org.springframework.context.annotation.Configuration;
				import org.springframework.scheduling.annotation.EnableScheduling;

				@Configuration
				@EnableScheduling
				@EnableSchedulerLock(defaultLockAtMostFor = "10m")
				public class Scheduling {

					@Bean
					public LockProvider lockProvider(DataSource dataSource) {
						return new JdbcTemplateLockProvider(dataSource);
					}

					@Bean
					public Clock clock() {
						return Clock.systemUTC();
					}

				}
				""", """
				import java.time.Clock;

				import org.springframework.context.annotation.Bean;
				import org.springframework.context.annotation.Configuration;
				import org.springframework.scheduling.annotation.EnableScheduling;

				@Configuration
				@EnableScheduling
				public class Scheduling {

					@Bean
					public Clock clock() {
						return Clock.systemUTC();
					}

				}
				"""));
	}

	@Test
	void methodsThatShareALockSayThatTheyMeanTo() {
		rewriteRun(java("""
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

				class Stock {

					static final String LOCK = "stock";

					@SchedulerLock(name = LOCK)
					public void count() {
					}

					@SchedulerLock(name = "stock")
					public void order() {
					}

				}
				""", """
				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;

				class Stock {

					static final String LOCK = "stock";

					@SingleRunner(key = LOCK, scope = LockScope.SESSION, allowSharedKey = true)
					public void count() {
					}

					@SingleRunner(key = "stock", scope = LockScope.SESSION, allowSharedKey = true)
					public void order() {
					}

				}
				"""));
	}

	@Test
	void composedAnnotationsAreTranslatedWithTheirUses() {
		rewriteRun(java("""
				import java.lang.annotation.Retention;
				import java.lang.annotation.RetentionPolicy;

				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
				import org.springframework.core.annotation.AliasFor;

				@Retention(RetentionPolicy.RUNTIME)
				@SchedulerLock
				@interface Single {

					@AliasFor(annotation = SchedulerLock.class, attribute = "name")
					String name();

					@AliasFor(annotation = SchedulerLock.class, attribute = "lockAtMostFor")
					String atMost() default "5m";

				}
				""", """
				import java.lang.annotation.Retention;
				import java.lang.annotation.RetentionPolicy;

				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;
				import org.springframework.core.annotation.AliasFor;

				@Retention(RetentionPolicy.RUNTIME)
				@SingleRunner(scope = LockScope.SESSION)
				@interface Single {

					@AliasFor(annotation = SingleRunner.class, attribute = "key")
					String name();

				}
				"""), java("""
				class Work {

					@Single(name = "a", atMost = "1h")
					public void a() {
					}

					@Single(name = "b")
					public void b() {
					}

				}
				""", """
				class Work {

					@Single(name = "a")
					public void a() {
					}

					@Single(name = "b")
					public void b() {
					}

				}
				"""));
	}

	@Test
	void assertionsAskForTheLockOfTheRun() {
		rewriteRun(java("""
				import java.time.Duration;

				import net.javacrumbs.shedlock.core.LockAssert;
				import net.javacrumbs.shedlock.core.LockExtender;
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

				class Jobs {

					@SchedulerLock(name = "long", lockAtMostFor = "1m")
					public void longer() {
						LockAssert.assertLocked();
						LockExtender.extendActiveLock(Duration.ofMinutes(5), Duration.ZERO);
					}

				}
				""", """
				import io.github.advisorylock.LockContext;
				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;

				class Jobs {

					@SingleRunner(key = "long", scope = LockScope.SESSION)
					public void longer() {
						LockContext.current().orElseThrow();
						LockContext.current().orElseThrow().checkHeld();
					}

				}
				"""));
	}

	@Test
	void staticallyImportedAssertionIsTranslated() {
		rewriteRun(java("""
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

				import static net.javacrumbs.shedlock.core.LockAssert.assertLocked;

				class Jobs {

					@SchedulerLock(name = "a")
					public void run() {
						assertLocked();
					}

				}
				""", """
				import io.github.advisorylock.LockContext;
				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;

				class Jobs {

					@SingleRunner(key = "a", scope = LockScope.SESSION)
					public void run() {
						LockContext.current().orElseThrow();
					}

				}
				"""));
	}

	@Test
	void whatCannotBeTranslatedStaysUnderShedLockAndIsMarked() {
		rewriteRun(java("""
				import java.util.concurrent.CompletableFuture;

				import net.javacrumbs.shedlock.core.LockAssert;
				import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

				@EnableSchedulerLock(defaultLockAtMostFor = "10m")
				class Jobs {

					@SchedulerLock(name = "#{@environment.getProperty('lock')}")
					public void named() {
						LockAssert.assertLocked();
					}

					@SchedulerLock(name = "later")
					public CompletableFuture<String> later() {
						return CompletableFuture.completedFuture("");
					}

					@SchedulerLock(name = "now")
					public void now() {
					}

				}
				""",
				"""
						import java.util.concurrent.CompletableFuture;

						import io.github.advisorylock.LockScope;
						import io.github.advisorylock.annotation.SingleRunner;
						import net.javacrumbs.shedlock.core.LockAssert;
						import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
						import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

						@EnableSchedulerLock(defaultLockAtMostFor = "10m")
						class Jobs {

							/*~~(Stays under ShedLock: its name has an expression that no key can have)~~>*/@SchedulerLock(name = "#{@environment.getProperty('lock')}")
							public void named() {
								LockAssert.assertLocked();
							}

							/*~~(Stays under ShedLock: the lock would be released before the work is done: the method returns a CompletableFuture<String>)~~>*/@SchedulerLock(name = "later")
							public CompletableFuture<String> later() {
								return CompletableFuture.completedFuture("");
							}

							@SingleRunner(key = "now", scope = LockScope.SESSION)
							public void now() {
							}

						}
						"""));
	}

	@Test
	void sharedLockWithLeastTimeStaysUnderShedLock() {
		rewriteRun(java("""
				import net.javacrumbs.shedlock.core.LockAssert;
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

				class Jobs {

					@SchedulerLock(name = "stock", lockAtLeastFor = "5m")
					public void count() {
						check();
					}

					@SchedulerLock(name = "stock", lockAtLeastFor = "0s")
					public void order() {
						check();
					}

					private void check() {
						LockAssert.assertLocked();
					}

				}
				""",
				"""
						import net.javacrumbs.shedlock.core.LockAssert;
						import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

						class Jobs {

							/*~~(Stays under ShedLock: two methods share this lock and it has a lockAtLeastFor; @SingleRunner has either: give each method a key of its own, or drop lockAtLeastFor)~~>*/@SchedulerLock(name = "stock", lockAtLeastFor = "5m")
							public void count() {
								check();
							}

							/*~~(Stays under ShedLock: another method that has this lock stays under ShedLock)~~>*/@SchedulerLock(name = "stock", lockAtLeastFor = "0s")
							public void order() {
								check();
							}

							private void check() {
								/*~~(Asks for a lock of ShedLock's, which not every caller has)~~>*/LockAssert.assertLocked();
							}

						}
						"""));
	}

	@Test
	void executorIsMarkedAndKeepsItsProvider() {
		rewriteRun(
				java("""
						import java.time.Duration;
						import java.time.Instant;

						import net.javacrumbs.shedlock.core.LockConfiguration;
						import net.javacrumbs.shedlock.core.LockingTaskExecutor;

						class Jobs {

							private LockingTaskExecutor executor;

							void run(Runnable task) {
								executor.executeWithLock(task, new LockConfiguration(Instant.now(), "a", Duration.ofMinutes(1), Duration.ZERO));
							}

						}
						""",
						"""
								import java.time.Duration;
								import java.time.Instant;

								import net.javacrumbs.shedlock.core.LockConfiguration;
								import net.javacrumbs.shedlock.core.LockingTaskExecutor;

								class Jobs {

									private LockingTaskExecutor executor;

									void run(Runnable task) {
										/*~~(With advisory-lock-shedlock this takes the lock that @SingleRunner takes with the same name as key; to go without ShedLock, use AdvisoryLockOperations; see https://github.com/advisorylock/advisory-lock/blob/main/docs/migrate-from-shedlock.md)~~>*/executor.executeWithLock(task, new LockConfiguration(Instant.now(), "a", Duration.ofMinutes(1), Duration.ZERO));
									}

								}
								"""),
				java("""
						import javax.sql.DataSource;

						import net.javacrumbs.shedlock.core.LockProvider;
						import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
						import org.springframework.context.annotation.Bean;

						class Beans {

							@Bean
							LockProvider lockProvider(DataSource dataSource) {
								return new JdbcTemplateLockProvider(dataSource);
							}

						}
						"""));
	}

	@Test
	void locksInCodeGetTheProviderOfThisLibraryAndOneMarkEach() {
		rewriteRun(jobs("""
				import io.github.advisorylock.LockScope;
				import io.github.advisorylock.annotation.SingleRunner;

				class Jobs {

					@SingleRunner(key = "stock", scope = LockScope.SESSION)
					public void count() {
					}

				}
				"""),
				java("""
						import java.util.Optional;

						import net.javacrumbs.shedlock.core.LockConfiguration;
						import net.javacrumbs.shedlock.core.LockProvider;
						import net.javacrumbs.shedlock.core.SimpleLock;

						class RunNow {

							private final LockProvider provider;

							RunNow(LockProvider provider) {
								this.provider = provider;
							}

							void run(LockConfiguration configuration) {
								Optional<SimpleLock> lock = this.provider.lock(configuration);
								lock.ifPresent((held) -> {
									held.unlock();
								});
							}

						}
						""",
						"""
								import java.util.Optional;

								import net.javacrumbs.shedlock.core.LockConfiguration;
								import net.javacrumbs.shedlock.core.LockProvider;
								import net.javacrumbs.shedlock.core.SimpleLock;

								class RunNow {

									private final LockProvider provider;

									RunNow(LockProvider provider) {
										this.provider = provider;
									}

									void run(LockConfiguration configuration) {
										/*~~(With advisory-lock-shedlock this takes the lock that @SingleRunner takes with the same name as key; to go without ShedLock, use AdvisoryLockOperations; see https://github.com/advisorylock/advisory-lock/blob/main/docs/migrate-from-shedlock.md)~~>*/Optional<SimpleLock> lock = this.provider.lock(configuration);
										lock.ifPresent((held) -> {
											held.unlock();
										});
									}

								}
								"""),
				Assertions.srcTestJava(java("""
						import net.javacrumbs.shedlock.core.LockConfiguration;
						import net.javacrumbs.shedlock.core.LockProvider;

						class Mocks {

							void stub(LockProvider mock, LockConfiguration configuration) {
								mock.lock(configuration);
							}

						}
						""")), java(PROVIDER, null));
	}

	@Test
	void annotationsStayWhereLocksOfCodeCannotBeProvided() {
		rewriteRun(
				jobs("""
						import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

						class Jobs {

							/*~~(Stays under ShedLock: code takes locks from ShedLock too, and advisory-lock-shedlock can't provide them: code depends on JdbcTemplateLockProvider; see https://github.com/advisorylock/advisory-lock/blob/main/docs/migrate-from-shedlock.md)~~>*/@SchedulerLock(name = "stock")
							public void count() {
							}

						}
						"""),
				java("""
						import net.javacrumbs.shedlock.core.LockConfiguration;
						import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;

						class RunNow {

							void run(JdbcTemplateLockProvider provider, LockConfiguration configuration) {
								provider.lock(configuration);
							}

						}
						""",
						"""
								import net.javacrumbs.shedlock.core.LockConfiguration;
								import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;

								class RunNow {

									/*~~(Only ShedLock takes locks from this; see https://github.com/advisorylock/advisory-lock/blob/main/docs/migrate-from-shedlock.md)~~>*/void run(JdbcTemplateLockProvider provider, LockConfiguration configuration) {
										/*~~(With advisory-lock-shedlock this takes the lock that @SingleRunner takes with the same name as key; to go without ShedLock, use AdvisoryLockOperations; see https://github.com/advisorylock/advisory-lock/blob/main/docs/migrate-from-shedlock.md)~~>*/provider.lock(configuration);
									}

								}
								"""),
				java(PROVIDER));
	}

	private static SourceSpecs jobs(String after) {
		return java("""
				import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

				class Jobs {

					@SchedulerLock(name = "stock")
					public void count() {
					}

				}
				""", after);
	}

	/**
	 * A configuration that stays as it is.
	 */
	private static SourceSpecs configuration() {
		return org.openrewrite.properties.Assertions.properties("spring.application.name=shop",
				(spec) -> spec.path("src/main/resources/application.properties"));
	}

	private static SourceSpecs java(String before) {
		return Assertions.java(before);
	}

	private static SourceSpecs java(String before, @Nullable String after) {
		return Assertions.java(before, after);
	}

}
