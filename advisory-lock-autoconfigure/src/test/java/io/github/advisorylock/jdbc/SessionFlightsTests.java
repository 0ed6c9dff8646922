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

package io.github.advisorylock.jdbc;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.junit.jupiter.api.Test;

import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SessionFlights}.
 */
class SessionFlightsTests {

	private final List<SessionCommand> flown = new CopyOnWriteArrayList<>();

	private final SessionFlights flights = new SessionFlights(this.flown::addAll, LockScheduler.Threads.ofCurrent());

	@Test
	void virtualThreadFailsWhereNoThreadCanLeadAndTheNextOneFlies() throws Exception {
		ExecutorService virtualThreads = VirtualThreadExecutor.create();
		ThreadPoolExecutor pilot = (ThreadPoolExecutor) ReflectionTestUtils.getField(this.flights, "pilot");
		ThreadFactory threads = pilot.getThreadFactory();
		OutOfMemoryError expected = new OutOfMemoryError("unable to create native thread");
		pilot.setThreadFactory((task) -> {
			throw expected;
		});
		SessionCommand stranded = new SessionCommand.Turn(() -> {
		});
		virtualThreads.submit(() -> this.flights.submit(stranded)).get(Patience.SECONDS, TimeUnit.SECONDS);
		assertThat(stranded.failure()).isSameAs(expected);
		assertThat(this.flown).isEmpty();
		pilot.setThreadFactory(threads);
		SessionCommand next = new SessionCommand.Turn(() -> {
		});
		virtualThreads.submit(() -> this.flights.submit(next)).get(Patience.SECONDS, TimeUnit.SECONDS);
		virtualThreads.shutdown();
		assertThat(this.flown).containsExactly(next);
	}

}
