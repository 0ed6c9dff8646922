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
import java.util.Optional;
import java.util.UUID;

import io.github.advisorylock.testsupport.JavaProcess;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what is left of a lock whose holder was killed.
 */
@Tag("chaos")
class ShedLockCrashTests {

	@Test
	void killedHolderLeavesWhatItHasPromisedAndNothingElse(@TempDir Path directory) {
		try (ShedLockApplication survivor = ShedLockApplication.start()) {
			String name = UUID.randomUUID().toString();
			kill(directory, name, Duration.ofHours(1));
			assertThat(lock(survivor, name)).isEmpty();
			ShedLockApplication.letTimePass(name);
			lock(survivor, name).orElseThrow().unlock();
			String other = UUID.randomUUID().toString();
			kill(directory, other, Duration.ZERO);
			lock(survivor, other).orElseThrow().unlock();
		}
	}

	/**
	 * Start an instance that takes a lock, kill it, and wait until the server has
	 * noticed.
	 */
	private static void kill(Path directory, String name, Duration atLeast) {
		try (JavaProcess holder = JavaProcess.start(directory.resolve(name), ShedLockInstance.class, TestPostgres.url(),
				name, atLeast.toString())) {
			holder.awaitLine("locked");
			assertThat(ShedLockApplication.isLocked(name)).isTrue();
			holder.kill();
		}
		Awaitility.await().atMost(Patience.TIME).until(() -> !ShedLockApplication.isLocked(name));
	}

	private static Optional<SimpleLock> lock(ShedLockApplication application, String name) {
		return application.provider()
			.lock(new LockConfiguration(ClockProvider.now(), name, Duration.ofHours(1), Duration.ZERO));
	}

}
