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

import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Jobs with hours of all kinds.
 */
@Component
public class ClockJobs {

	@Scheduled(cron = "${fixed}", zone = "${zone}")
	@SingleRunner(key = "fixed", once = Once.PER_TICK, catchUp = "6h")
	public void runAtFixedHours() {
	}

	@Scheduled(cron = "0 0 * * * *", zone = "${zone}")
	@SingleRunner(key = "hourly", once = Once.PER_TICK, catchUp = "50m")
	public void runEachHour() {
	}

	@Scheduled(cron = "0 */15 * * * *", zone = "${zone}")
	@SingleRunner(key = "quarters", once = Once.PER_TICK)
	public void runEachQuarter() {
	}

	@Scheduled(cron = "0 0 12 1 1 *", zone = "UTC")
	@SingleRunner(key = "chosen", once = Once.PER_TICK, catchUp = "6h")
	public void runAsAnOperatorChooses() {
	}

}
