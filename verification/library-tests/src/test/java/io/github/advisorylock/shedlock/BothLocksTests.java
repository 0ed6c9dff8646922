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

package io.github.advisorylock.shedlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.TestPostgres;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a rolling deployment: instances with ShedLock's table, instances that take
 * both locks, and instances with advisory locks only.
 */
@Tag("servers")
class BothLocksTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Duration LONG_ENOUGH_TO_OVERLAP = Duration.ofMillis(5);

	private static final AtomicInteger running = new AtomicInteger();

	private static final AtomicInteger overlaps = new AtomicInteger();

	private static final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();

	private final String name = UUID.randomUUID().toString();

	@BeforeAll
	static void createTable() {
		TestPostgres.execute("CREATE TABLE IF NOT EXISTS shedlock (name varchar(64) PRIMARY KEY, "
				+ "lock_until timestamp NOT NULL, locked_at timestamp NOT NULL, locked_by varchar(255) NOT NULL)");
	}

	@AfterAll
	static void dropTable() {
		TestPostgres.execute("DROP TABLE shedlock");
	}

	@Test
	void jobRunsOnOneInstanceAtATimeWhileOthersComeAndGoAndOnTheWayBack() {
		ShedLockApplication old = start(Kind.OLD, "old", Rolling.class);
		ShedLockApplication both = start(Kind.BOTH, "both", Rolling.class);
		awaitRuns("old", "both");
		old.close();
		ShedLockApplication advisory = start(Kind.ADVISORY, "advisory", Rolling.class);
		awaitRuns("both", "advisory");
		both.close();
		awaitRuns("advisory");
		both = start(Kind.BOTH, "both again", Rolling.class);
		awaitRuns("advisory", "both again");
		advisory.close();
		old = start(Kind.OLD, "old again", Rolling.class);
		awaitRuns("both again", "old again");
		both.close();
		old.close();
		assertThat(overlaps).hasValue(0);
	}

	@Test
	void eachNeighbourKeepsWhatTheOtherHasPromised() {
		try (ShedLockApplication old = start(Kind.OLD, "old");
				ShedLockApplication both = start(Kind.BOTH, "both");
				ShedLockApplication advisory = start(Kind.ADVISORY, "advisory")) {
			lock(both, this.name, HOUR).orElseThrow().unlock();
			assertThat(lock(old, this.name, HOUR)).isEmpty();
			assertThat(lock(advisory, this.name, HOUR)).isEmpty();
			String other = this.name + "-2";
			lock(old, other, HOUR).orElseThrow().unlock();
			assertThat(lock(both, other, HOUR)).isEmpty();
			assertThat(ShedLockApplication.isLocked(other)).isFalse();
			// what was not run is not promised
			lock(advisory, other, Duration.ZERO).orElseThrow().unlock();
			String third = this.name + "-3";
			lock(advisory, third, HOUR).orElseThrow().unlock();
			assertThat(lock(both, third, HOUR)).isEmpty();
			lock(old, third, Duration.ZERO).orElseThrow().unlock();
		}
	}

	@Test
	void bothLocksAreHeldExtendedAndReleasedTogether() {
		try (ShedLockApplication old = start(Kind.OLD, "old"); ShedLockApplication both = start(Kind.BOTH, "both")) {
			SimpleLock lock = lock(both, this.name, Duration.ZERO).orElseThrow();
			assertThat(ShedLockApplication.isLocked(this.name)).isTrue();
			assertThat(lock(old, this.name, Duration.ZERO)).isEmpty();
			SimpleLock extended = lock.extend(HOUR, Duration.ZERO).orElseThrow();
			assertThat(ShedLockApplication.isLocked(this.name)).isTrue();
			extended.unlock();
			assertThat(ShedLockApplication.isLocked(this.name)).isFalse();
			lock(old, this.name, Duration.ZERO).orElseThrow().unlock();
		}
	}

	@Test
	void lockThatIsKeptAliveEndsWhenItIsReleased() {
		try (ShedLockApplication both = start(Kind.BOTH, "both", KeepAlive.class)) {
			SimpleLock lock = lock(both, this.name, Duration.ZERO).orElseThrow();
			assertThat(ShedLockApplication.isLocked(this.name)).isTrue();
			lock.unlock();
			assertThat(ShedLockApplication.isLocked(this.name)).isFalse();
		}
	}

	private static ShedLockApplication start(Kind kind, String instance, Class<?>... more) {
		boolean own = kind != Kind.ADVISORY && !List.of(more).contains(KeepAlive.class);
		List<Class<?>> sources = new ArrayList<>(List.of(more));
		if (own) {
			sources.add(Table.class);
		}
		return ShedLockApplication.start(sources, "test.instance=" + instance,
				"advisory-lock.enabled=" + (kind != Kind.OLD), "advisory-lock.shedlock.enabled=" + (kind != Kind.OLD),
				"advisory-lock.shedlock.both-locks=" + (kind == Kind.BOTH));
	}

	private static Optional<SimpleLock> lock(ShedLockApplication application, String name, Duration atLeast) {
		return application.provider().lock(new LockConfiguration(ClockProvider.now(), name, HOUR, atLeast));
	}

	/**
	 * Wait until each of some instances has had its turns beside the others.
	 */
	private static void awaitRuns(String... instances) {
		for (String instance : instances) {
			int before = runs(instance);
			Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> runs(instance) > before + 5);
		}
	}

	private static int runs(String instance) {
		return runs.computeIfAbsent(instance, (key) -> new AtomicInteger()).get();
	}

	private enum Kind {

		OLD, BOTH, ADVISORY

	}

	@Configuration(proxyBeanMethods = false)
	static class Table {

		@Bean
		LockProvider lockProvider(DataSource dataSource) {
			return new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
				.withJdbcTemplate(new JdbcTemplate(dataSource))
				.usingDbTime()
				.build());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class KeepAlive {

		@Bean
		LockProvider lockProvider(DataSource dataSource) {
			return new KeepAliveLockProvider(new JdbcTemplateLockProvider(dataSource),
					Executors.newSingleThreadScheduledExecutor());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	static class Rolling {

		@Bean
		Job job(Environment environment) {
			return new Job(environment.getRequiredProperty("test.instance"));
		}

	}

	static class Job {

		private final String instance;

		Job(String instance) {
			this.instance = instance;
		}

		@Scheduled(fixedDelay = 1)
		@SchedulerLock(name = "rolling")
		void run() {
			if (running.incrementAndGet() != 1) {
				overlaps.incrementAndGet();
			}
			runs(this.instance);
			Pause.of(LONG_ENOUGH_TO_OVERLAP);
			runs.get(this.instance).incrementAndGet();
			running.decrementAndGet();
		}

	}

}
