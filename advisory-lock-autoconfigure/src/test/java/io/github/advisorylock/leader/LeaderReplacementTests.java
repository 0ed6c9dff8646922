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

package io.github.advisorylock.leader;

import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for how long a role has no leader after its leader has vanished, with the default
 * settings.
 */
@Tag("servers")
class LeaderReplacementTests {

	private static final Log logger = LogFactory.getLog(LeaderReplacementTests.class);

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "leader:" + LeaderCandidate.ROLE);

	private static final LockSessionSettings SETTINGS = LockSessionSettings.DEFAULT;

	@Test
	void killedLeaderIsReplacedWithinTwoWindows(@TempDir Path directory) throws Exception {
		File log = directory.resolve("log").toFile();
		Process leader = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				System.getProperty("java.class.path"), LeaderInstance.class.getName(), TestPostgres.url())
			.redirectErrorStream(true)
			.redirectOutput(log)
			.start();
		try {
			Awaitility.await().atMost(Patience.TIME).until(() -> ForeignSession.isHeld(KEY));
			try (LeaderCandidate follower = new LeaderCandidate(TestPostgres.url(), SETTINGS)) {
				// until it leads, and at any time between two looks of the follower
				Pause.of(Duration.ofSeconds(7 + ThreadLocalRandom.current().nextInt(5)));
				assertThat(follower.isLeader()).isFalse();
				leader.destroyForcibly().waitFor();
				Duration gap = awaitLeader(follower);
				logger.info("A leader that was killed was replaced after " + gap.toMillis() + " ms");
				assertThat(gap).isBetween(SETTINGS.trust(), Duration.ofSeconds(12));
			}
		}
		finally {
			leader.destroyForcibly();
		}
	}

	/**
	 * Its last sign of life comes right after a look of the follower, which is when the
	 * follower learns of its silence last.
	 */
	@Test
	void leaderBehindACutNetworkIsReplacedWhenItsSessionHasEnded() {
		LockSessionSettings lively = new LockSessionSettings(Duration.ofMillis(200), SETTINGS.deadClientTimeout(),
				SETTINGS.whenLost());
		try (TestProxy proxy = new TestProxy(Duration.ZERO);
				TestProxy looks = new TestProxy(Duration.ZERO);
				LeaderCandidate leader = new LeaderCandidate(proxy.url(), lively)) {
			Awaitility.await().until(leader::isLeader);
			try (LeaderCandidate follower = new LeaderCandidate(looks.url(), SETTINGS)) {
				Awaitility.await().until(follower::isFollowing);
				Pause.of(Duration.ofSeconds(1));
				int before = looks.waits();
				Awaitility.await().pollInterval(Duration.ofMillis(5)).until(() -> looks.waits() > before);
				Pause.of(Duration.ofMillis(300));
				proxy.stall();
				long cut = System.nanoTime();
				// the proxy answers the server's probes, so we do what the server would
				Pause.of(SETTINGS.deadClientTimeout());
				assertThat(follower.isLeader()).isFalse();
				leader.terminate();
				awaitLeader(follower);
				Duration gap = Duration.ofNanos(System.nanoTime() - cut);
				logger.info("A leader behind a cut network was replaced after " + gap.toMillis() + " ms");
				assertThat(gap).isLessThan(SETTINGS.deadClientTimeout().plusSeconds(3));
			}
		}
	}

	private static Duration awaitLeader(LeaderCandidate candidate) {
		long start = System.nanoTime();
		Awaitility.await().atMost(Patience.TIME).pollInterval(Duration.ofMillis(5)).until(candidate::isLeader);
		return Duration.ofNanos(System.nanoTime() - start);
	}

}
