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

package io.github.advisorylock.test;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.test.shop.OrderCleanup;
import io.github.advisorylock.test.shop.ShopApplication;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.simple.JdbcClient;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for applications on PostgreSQL that are tested on H2, with all that Spring Boot
 * configures.
 */
class OtherDatabaseTests {

	private static final String CREATE = "CREATE TABLE IF NOT EXISTS shop_order (id int, closed boolean)";

	@Test
	@ExtendWith({ OutputCaptureExtension.class, LockLeakDetector.class })
	void errorNamesTheLineThatIsMissing(CapturedOutput output) {
		SpringApplication application = new SpringApplication(ShopApplication.class);
		assertThatException().isThrownBy(() -> application.run("--spring.datasource.url=jdbc:h2:mem:none"))
			.withStackTraceContaining("it is 'H2' and not PostgreSQL");
		assertThat(output).contains("it is 'H2' and not PostgreSQL", "@AutoConfigureInMemoryLocks",
				"set 'advisory-lock.enabled' to false");
	}

	@Nested
	@SpringBootTest(classes = ShopApplication.class, properties = "spring.datasource.url=jdbc:h2:mem:memory")
	@AutoConfigureInMemoryLocks
	class WithLocksInMemory {

		@Autowired
		private OrderCleanup cleanup;

		@Autowired
		private JdbcClient jdbc;

		@Autowired
		private TestLocks locks;

		@Test
		void applicationIsGuarded() {
			this.jdbc.sql(CREATE).update();
			this.jdbc.sql("INSERT INTO shop_order VALUES (1, false)").update();
			try (HeldLock other = this.locks.holdElsewhere("order-cleanup")) {
				this.cleanup.run();
				assertThat(other.isHeld()).isTrue();
			}
			assertThat(open()).isOne();
			this.cleanup.run();
			assertThat(open()).isZero();
			assertThatLock("order-cleanup").hasOutcomes(LockOutcome.BUSY, LockOutcome.EXECUTED);
		}

		private int open() {
			return this.jdbc.sql("SELECT count(*) FROM shop_order WHERE NOT closed").query(Integer.class).single();
		}

	}

	@Nested
	@SpringBootTest(classes = ShopApplication.class,
			properties = { "spring.datasource.url=jdbc:h2:mem:off", "advisory-lock.enabled=false" })
	class WithoutLocks {

		@Autowired
		private OrderCleanup cleanup;

		@Autowired
		private JdbcClient jdbc;

		@Autowired
		private AdvisoryLockOperations operations;

		@Test
		void applicationRunsWithoutAnyLock() {
			this.jdbc.sql(CREATE).update();
			this.cleanup.run();
			assertThat(this.cleanup.lead()).isPresent();
			assertThat(this.operations.getClass().getSimpleName()).startsWith("Unguarded");
		}

	}

}
