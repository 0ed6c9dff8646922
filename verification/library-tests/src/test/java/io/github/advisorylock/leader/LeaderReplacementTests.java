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

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for how long a role has no leader after its leader has vanished, with the default
 * settings. The instances go by a clock that the tests set, and the server by its own.
 */
@Tag("servers")
class LeaderReplacementTests {

	private static final Log logger = LogFactory.getLog(LeaderReplacementTests.class);

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "leader:" + LeaderCandidate.ROLE);

	private static final LockSessionSettings SETTINGS = LockSessionSettings.DEFAULT;

	/**
	 * For how long a candidate waits for a predecessor that may believe in itself.
	 */
	private static final Duration WINDOW = SETTINGS.trust().plus(SETTINGS.trust().dividedBy(10));

	private static final Duration STEP = Duration.ofMillis(50);

	private final SettableTicker ticker = new SettableTicker();

	@Test
	void killedLeaderIsReplacedWithinTwoWindows(@TempDir Path directory) throws Exception {
		Path log = directory.resolve("log");
		Process leader = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				System.getProperty("java.class.path"), LeaderInstance.class.getName(), TestPostgres.url())
			.redirectErrorStream(true)
			.redirectOutput(log.toFile())
			.start();
		try {
			Awaitility.await().atMost(Patience.TIME).until(() -> Files.readString(log).contains(LeaderInstance.LEADS));
			try (LeaderCandidate follower = candidate(TestPostgres.url())) {
				Awaitility.await().until(follower::isFollowing);
				// at any time between two looks of the follower
				this.ticker.advance(Duration.ofMillis(ThreadLocalRandom.current().nextInt(5000)));
				assertThat(follower.isLeader()).isFalse();
				leader.destroyForcibly().waitFor();
				Awaitility.await().atMost(Patience.TIME).until(() -> !ForeignSession.isHeld(KEY));
				Duration gap = awaitLeader(follower);
				logger.info("A leader that was killed was replaced after " + gap.toMillis() + " ms");
				assertThat(gap).isBetween(WINDOW, WINDOW.multipliedBy(2));
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
		SettableTicker behind = new SettableTicker();
		try (TestProxy proxy = new TestProxy(Duration.ZERO);
				TestProxy looks = new TestProxy(Duration.ZERO);
				LeaderCandidate leader = candidate(proxy.url(), behind)) {
			awaitLeader(leader, behind);
			try (LeaderCandidate follower = candidate(looks.url())) {
				Awaitility.await().until(follower::isFollowing);
				leader.confirm();
				int before = looks.waits();
				awaitWhile(() -> this.ticker.advance(STEP), () -> looks.waits() > before);
				leader.confirm();
				proxy.stall();
				long cut = this.ticker.nanoTime();
				// the proxy answers the server's probes, so we do what the server would
				for (Duration left = SETTINGS.deadClientTimeout(); !left.isZero(); left = left.minus(STEP)) {
					this.ticker.advance(STEP);
					assertThat(follower.isLeader()).isFalse();
				}
				leader.terminate();
				awaitLeader(follower);
				Duration gap = Duration.ofNanos(this.ticker.nanoTime() - cut);
				logger.info("A leader behind a cut network was replaced after " + gap.toMillis() + " ms");
				assertThat(gap).isLessThan(SETTINGS.deadClientTimeout().plusSeconds(1));
				proxy.resume();
			}
		}
	}

	private LeaderCandidate candidate(String url) {
		return candidate(url, this.ticker);
	}

	private static LeaderCandidate candidate(String url, SettableTicker ticker) {
		return new LeaderCandidate(new DriverManagerDataSource(url), SETTINGS, ticker.threads());
	}

	private Duration awaitLeader(LeaderCandidate candidate) {
		return awaitLeader(candidate, this.ticker);
	}

	/**
	 * Let time pass until a candidate leads.
	 */
	static Duration awaitLeader(LeaderCandidate candidate, SettableTicker ticker) {
		long start = ticker.nanoTime();
		awaitWhile(() -> ticker.advance(STEP), candidate::isLeader);
		return Duration.ofNanos(ticker.nanoTime() - start);
	}

	private static void awaitWhile(Runnable step, BooleanSupplier reached) {
		Awaitility.await().atMost(Patience.TIME).pollInSameThread().pollInterval(Duration.ofMillis(1)).until(() -> {
			boolean done = reached.getAsBoolean();
			if (!done) {
				step.run();
			}
			return done;
		});
	}

}
