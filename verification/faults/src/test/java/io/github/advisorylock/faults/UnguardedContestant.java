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

package io.github.advisorylock.faults;

import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A timer on each instance, without a lock: shows that the checker can tell.
 */
final class UnguardedContestant implements Contestant {

	private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

	@Override
	public void start(ContestantSettings settings, Work work) {
		long period = settings.period().toMillis();
		this.timer.scheduleAtFixedRate(() -> {
			long number = System.currentTimeMillis() / period;
			try {
				work.run(Job.TICK_TRANSACTION.key(number), Instant.ofEpochMilli(number * period));
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}, period - System.currentTimeMillis() % period, period, TimeUnit.MILLISECONDS);
	}

	@Override
	public void close() throws Exception {
		this.timer.shutdown();
		this.timer.awaitTermination(10, TimeUnit.SECONDS);
	}

}
