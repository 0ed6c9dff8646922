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

package io.github.advisorylock;

import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.testsupport.HostileText;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that every key is either locked or refused with a message: 76,000 of them, made
 * from a seed.
 */
@Tag("slow")
class KeyFuzzTests {

	private static final long SEED = Long.getLong("fuzz.seed", 11);

	private static final int KEYS = 73_000;

	private static final int LOCKED = 3_000;

	private static final Pattern UNSEEN = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]");

	@Test
	void keyIsMadeOrRefusedWithMessageThatCanBeShown() {
		HostileText texts = new HostileText(SEED);
		for (int i = 0; i < KEYS; i++) {
			String namespace = texts.next();
			String name = texts.next();
			try {
				AdvisoryLockKey key = AdvisoryLockKey.of(namespace, name);
				assertShown(key.toString(), namespace, name);
				assertShown(LockRequest.of(key).toString(), namespace, name);
				assertThat(key.name()).isEqualTo(name);
				assertThat(key.namespace()).isEqualTo(namespace);
			}
			catch (IllegalArgumentException ex) {
				assertShown(ex.getMessage(), namespace, name);
			}
		}
	}

	@Test
	void keyIsLockedOrRefusedAndNoLockOrRowIsLeft() {
		String schema = "key_fuzz";
		TestPostgres.execute("DROP SCHEMA IF EXISTS key_fuzz CASCADE; CREATE SCHEMA key_fuzz");
		LockContextRunner.create()
			.withPropertyValues("spring.datasource.hikari.schema=" + schema,
					"advisory-lock.ledger.initialize-schema=always", "advisory-lock.ledger.enabled=true")
			.run((context) -> {
				AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
				lockAll(operations);
				context.getBean(HikariDataSource.class).getHikariPoolMXBean().softEvictConnections();
				assertThat(TestPostgres.locks()).isEmpty();
			});
		TestPostgres.execute("DROP SCHEMA key_fuzz CASCADE");
	}

	private static void lockAll(AdvisoryLockOperations operations) {
		HostileText texts = new HostileText(SEED);
		int executed = 0;
		int refused = 0;
		int expected = 0;
		for (int i = 0; i < LOCKED; i++) {
			String name = texts.next();
			boolean recorded = texts.nextInt(2) == 0;
			LockScope scope = texts.pick(List.of(LockScope.values()));
			try {
				LockRequest request = LockRequest.of(name).scope(scope);
				boolean ran = operations
					.execute(recorded ? request.minInterval(Duration.ofNanos(1000)) : request, (lock) -> lock.isHeld())
					.executed();
				executed += ran ? 1 : 0;
				expected += (ran && recorded) ? 1 : 0;
			}
			catch (IllegalArgumentException ex) {
				assertShown(ex.getMessage(), "", name);
				refused++;
			}
		}
		assertThat(executed).isGreaterThan(LOCKED / 2);
		assertThat(refused).isGreaterThan(LOCKED / 20);
		assertThat(TestPostgres.query("SELECT count(*) FROM key_fuzz.advisory_lock_run"))
			.containsExactly(String.valueOf(expected));
	}

	private static void assertShown(String text, String namespace, String name) {
		assertThat(text).as("'%s' and '%s', seed %s", namespace, name, SEED).isNotBlank().hasSizeLessThan(1000);
		assertThat(UNSEEN.matcher(text).find()).as("'%s', seed %s", text, SEED).isFalse();
	}

}
