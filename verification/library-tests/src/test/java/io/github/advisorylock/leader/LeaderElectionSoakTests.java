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

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.testsupport.TestProxy;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PostgresLeaderElection} while leaders are killed, cut off and stopped,
 * for as long as {@code -Dsoak} says.
 */
@Tag("chaos")
class LeaderElectionSoakTests {

	private static final Log logger = LogFactory.getLog(LeaderElectionSoakTests.class);

	private final Random random = new Random();

	private final List<TestProxy> proxies = new ArrayList<>();

	private final List<LeaderCandidate> candidates = new ArrayList<>();

	private final List<Long> gaps = Collections.synchronizedList(new ArrayList<>());

	private final AtomicInteger doubles = new AtomicInteger();

	private final AtomicInteger samples = new AtomicInteger();

	private volatile boolean over;

	@Test
	void threeCandidatesNeverBelieveAtTheSameTime() throws Exception {
		long end = System.nanoTime() + Duration.parse(System.getProperty("soak", "PT20S")).toNanos();
		for (int i = 0; i < 3; i++) {
			this.proxies.add(new TestProxy(Duration.ZERO));
			this.candidates.add(new LeaderCandidate(this.proxies.get(i).url()));
		}
		Thread sampler = new Thread(this::sample, "sampler");
		sampler.start();
		int losses = 0;
		while (System.nanoTime() < end) {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200 + this.random.nextInt(1500)));
			losses += harmLeader() ? 1 : 0;
		}
		this.over = true;
		sampler.join();
		this.candidates.forEach(LeaderCandidate::close);
		this.proxies.forEach(TestProxy::close);
		report(losses);
		assertThat(this.doubles).hasValue(0);
		assertThat(losses).isPositive();
	}

	private boolean harmLeader() {
		for (int i = 0; i < this.candidates.size(); i++) {
			LeaderCandidate candidate = this.candidates.get(i);
			if (candidate.isLeader()) {
				switch (this.random.nextInt(4)) {
					case 0 -> cutOff(candidate, this.proxies.get(i));
					case 1 -> restart(candidate);
					default -> candidate.terminate();
				}
				return true;
			}
		}
		return false;
	}

	private void cutOff(LeaderCandidate candidate, TestProxy proxy) {
		proxy.stall();
		candidate.terminate();
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(this.random.nextInt(1000)));
		proxy.resume();
	}

	private void restart(LeaderCandidate candidate) {
		candidate.election().stop();
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(this.random.nextInt(200)));
		candidate.election().start();
	}

	private void sample() {
		boolean led = false;
		long lastSeen = 0;
		while (!this.over) {
			boolean leads = LeaderCandidate.findLeader(this.candidates, this.doubles::incrementAndGet) != null;
			if (leads && !led && lastSeen != 0) {
				this.gaps.add(System.nanoTime() - lastSeen);
			}
			led = leads;
			lastSeen = leads ? System.nanoTime() : lastSeen;
			this.samples.incrementAndGet();
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
		}
	}

	private void report(int losses) {
		Collections.sort(this.gaps);
		assertThat(this.gaps).isNotEmpty();
		logger.info(losses + " leaders harmed, " + this.samples + " samples, " + this.doubles
				+ " with two leaders; gaps without one: " + this.gaps.size() + ", median "
				+ TimeUnit.NANOSECONDS.toMillis(this.gaps.get(this.gaps.size() / 2)) + " ms, longest "
				+ TimeUnit.NANOSECONDS.toMillis(this.gaps.get(this.gaps.size() - 1)) + " ms, trust window "
				+ LeaderCandidate.SETTINGS.trust().toMillis() + " ms");
	}

}
