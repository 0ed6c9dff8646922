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

package io.github.advisorylock.documentation;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what {@code docs/questions.md} answers about work of each deployment, and
 * about other annotations on a guarded method.
 */
@Tag("gate")
class QuestionsTests {

	private static final AtomicInteger seeded = new AtomicInteger();

	@Test
	void workOfADeploymentRunsOnceForEachVersion() {
		dropTables();
		deploy("1");
		assertThat(seeded).hasValue(1);
		deploy("2");
		assertThat(seeded).hasValue(2);
		deploy("1");
		assertThat(seeded).hasValue(2);
		dropTables();
	}

	private static void dropTables() {
		for (String table : List.of("job", "run", "completion", "instance", "pause", "question")) {
			TestPostgres.execute("DROP TABLE IF EXISTS seeds_" + table + " CASCADE");
		}
		TestPostgres.execute("DROP SEQUENCE IF EXISTS seeds_fencing_token");
	}

	/**
	 * Start two instances, one after the other.
	 */
	private static void deploy(String version) {
		for (int i = 0; i < 2; i++) {
			LockContextRunner.create()
				.withBean(Seed.class)
				.withPropertyValues("app.version=" + version, "advisory-lock.ledger.initialize-schema=always",
						"advisory-lock.ledger.table-prefix=seeds_")
				.run((context) -> context.publishEvent(new ApplicationReadyEvent(new SpringApplication(Seed.class),
						new String[0], context.getSourceApplicationContext(), Duration.ZERO)));
		}
	}

	@Test
	void skippedCallIsNotCachedAndACacheHitTakesTheLock() {
		LockContextRunner.create().withUserConfiguration(Caching.class).run((context) -> {
			Prices prices = context.getBean(Prices.class);
			try (ForeignSession other = ForeignSession.holding(AdvisoryLockKey.of("test", "session-prices"))) {
				assertThat(prices.inSession()).isNull();
				assertThat(other.unlock(AdvisoryLockKey.of("test", "session-prices"))).isTrue();
			}
			assertThat(prices.inSession()).isEqualTo("1");
			assertThat(prices.inSession()).isEqualTo("1");
			try (ForeignSession other = ForeignSession.holding(AdvisoryLockKey.of("test", "session-prices"))) {
				assertThat(prices.inSession()).isNull();
				assertThat(other.unlock(AdvisoryLockKey.of("test", "session-prices"))).isTrue();
			}
		});
	}

	@Test
	void nullOfASkippedCallInATransactionIsCachedUnlessToldOtherwise() {
		LockContextRunner.create().withUserConfiguration(Caching.class).run((context) -> {
			Prices prices = context.getBean(Prices.class);
			try (ForeignSession other = ForeignSession.holding(AdvisoryLockKey.of("test", "prices"))) {
				assertThat(prices.inTransaction()).isNull();
				assertThat(prices.withoutNull()).isNull();
				assertThat(other.unlock(AdvisoryLockKey.of("test", "prices"))).isTrue();
			}
			assertThat(prices.inTransaction()).isNull();
			assertThat(prices.withoutNull()).isEqualTo("1");
		});
	}

	static class Seed {

		@EventListener(ApplicationReadyEvent.class)
		@SingleRunner(key = "seed:${app.version}", once = Once.PER_KEY, waitFor = "5m")
		void load() {
			seeded.incrementAndGet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching
	static class Caching {

		@Bean
		CacheManager cacheManager() {
			return new ConcurrentMapCacheManager();
		}

		@Bean
		Prices prices() {
			return new Prices();
		}

	}

	static class Prices {

		@Cacheable("session")
		@SingleRunner(key = "session-prices", scope = LockScope.SESSION)
		@Nullable String inSession() {
			return "1";
		}

		@Cacheable("transaction")
		@SingleRunner(key = "prices", allowSharedKey = true)
		@Nullable String inTransaction() {
			return "1";
		}

		@Cacheable(cacheNames = "without", unless = "#result == null")
		@SingleRunner(key = "prices", allowSharedKey = true)
		@Nullable String withoutNull() {
			return "1";
		}

	}

}
