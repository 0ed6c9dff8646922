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

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.github.advisorylock.testsupport.TestPgBouncer;
import io.github.advisorylock.testsupport.TestServer;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for ShedLock with PgBouncer between applications and their server.
 */
@Tag("servers")
class ShedLockPoolerTests {

	@Test
	void locksGoAroundPoolerInTransactionModeOrAreRefused(@TempDir Path directory) {
		try (TestServer server = TestServer.start(directory.resolve("server"), Map.of());
				TestPgBouncer pooler = TestPgBouncer.start(server, "transaction", directory);
				ShedLockApplication one = start(pooler, "advisory-lock.session.url=" + server.url());
				ShedLockApplication two = start(pooler, "advisory-lock.session.url=" + server.url());
				ShedLockApplication through = start(pooler, "advisory-lock.session.heartbeat=2s")) {
			SimpleLock lock = lock(one).orElseThrow();
			assertThat(lock(two)).isEmpty();
			lock.extend(Duration.ofHours(1), Duration.ZERO).orElseThrow().unlock();
			lock(two).orElseThrow().unlock();
			assertThatException().isThrownBy(() -> lock(through))
				.withMessageContaining("pooler in transaction mode")
				.withMessageContaining("advisory-lock.session.url");
		}
	}

	private static ShedLockApplication start(TestPgBouncer pooler, String property) {
		return ShedLockApplication.start(pooler.url() + "&prepareThreshold=0", List.of(),
				"spring.datasource.hikari.maximum-pool-size=4", property);
	}

	private static Optional<SimpleLock> lock(ShedLockApplication application) {
		return application.provider()
			.lock(new LockConfiguration(ClockProvider.now(), "pooled", Duration.ofHours(1), Duration.ZERO));
	}

}
