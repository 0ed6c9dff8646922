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

package io.github.advisorylock.test.fleet;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Jobs of all kinds.
 */
@Component
public class Jobs {

	private final Ledgers ledgers;

	Jobs(Ledgers ledgers) {
		this.ledgers = ledgers;
	}

	@Scheduled(cron = "0 0 3 * * *", zone = "UTC")
	@SingleRunner("cleanup")
	public void cleanUp() {
		this.ledgers.write("cleanup");
	}

	@Scheduled(cron = "0 0 * * * *", zone = "UTC")
	@SingleRunner(key = "export", scope = LockScope.SESSION, maxRun = "30m")
	public void export() {
		this.ledgers.write("export");
	}

	@Scheduled(fixedRateString = "PT10M")
	@SingleRunner("sync")
	public void sync() {
		this.ledgers.write("sync");
	}

	@Scheduled(fixedDelayString = "PT10M")
	@SingleRunner("poll")
	public void poll() {
		this.ledgers.write("poll");
	}

	@Scheduled(cron = "0 0 5 * * *", zone = "UTC")
	public void unguarded() {
		this.ledgers.write("unguarded");
	}

}
