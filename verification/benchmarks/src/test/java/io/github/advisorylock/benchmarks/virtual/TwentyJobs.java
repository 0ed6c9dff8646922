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

package io.github.advisorylock.benchmarks.virtual;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Jobs that run daily, hourly, and each quarter and each twelfth of an hour.
 */
@Component
class TwentyJobs {

	private int runs;

	@Scheduled(cron = "0 0 3 * * *", zone = "UTC")
	@SingleRunner(key = "job-0", scope = LockScope.SESSION, once = Once.PER_TICK, catchUp = "1h")
	void job0() {
		this.runs++;
	}

	@Scheduled(cron = "1 30 * * * *", zone = "UTC")
	@SingleRunner(key = "job-1")
	void job1() {
		this.runs++;
	}

	@Scheduled(cron = "2 */15 * * * *", zone = "UTC")
	@SingleRunner(key = "job-2")
	void job2() {
		this.runs++;
	}

	@Scheduled(cron = "3 */5 * * * *", zone = "UTC")
	@SingleRunner(key = "job-3", scope = LockScope.SESSION)
	void job3() {
		this.runs++;
	}

	@Scheduled(cron = "4 0 3 * * *", zone = "UTC")
	@SingleRunner(key = "job-4")
	void job4() {
		this.runs++;
	}

	@Scheduled(cron = "5 30 * * * *", zone = "UTC")
	@SingleRunner(key = "job-5", once = Once.PER_TICK, catchUp = "1h")
	void job5() {
		this.runs++;
	}

	@Scheduled(cron = "6 */15 * * * *", zone = "UTC")
	@SingleRunner(key = "job-6", scope = LockScope.SESSION)
	void job6() {
		this.runs++;
	}

	@Scheduled(cron = "7 */5 * * * *", zone = "UTC")
	@SingleRunner(key = "job-7")
	void job7() {
		this.runs++;
	}

	@Scheduled(cron = "8 0 3 * * *", zone = "UTC")
	@SingleRunner(key = "job-8")
	void job8() {
		this.runs++;
	}

	@Scheduled(cron = "9 30 * * * *", zone = "UTC")
	@SingleRunner(key = "job-9", scope = LockScope.SESSION)
	void job9() {
		this.runs++;
	}

	@Scheduled(cron = "10 */15 * * * *", zone = "UTC")
	@SingleRunner(key = "job-10", once = Once.PER_TICK, catchUp = "1h")
	void job10() {
		this.runs++;
	}

	@Scheduled(cron = "11 */5 * * * *", zone = "UTC")
	@SingleRunner(key = "job-11")
	void job11() {
		this.runs++;
	}

	@Scheduled(cron = "12 0 3 * * *", zone = "UTC")
	@SingleRunner(key = "job-12", scope = LockScope.SESSION)
	void job12() {
		this.runs++;
	}

	@Scheduled(cron = "13 30 * * * *", zone = "UTC")
	@SingleRunner(key = "job-13")
	void job13() {
		this.runs++;
	}

	@Scheduled(cron = "14 */15 * * * *", zone = "UTC")
	@SingleRunner(key = "job-14")
	void job14() {
		this.runs++;
	}

	@Scheduled(cron = "15 */5 * * * *", zone = "UTC")
	@SingleRunner(key = "job-15", scope = LockScope.SESSION, once = Once.PER_TICK, catchUp = "1h")
	void job15() {
		this.runs++;
	}

	@Scheduled(cron = "16 0 3 * * *", zone = "UTC")
	@SingleRunner(key = "job-16")
	void job16() {
		this.runs++;
	}

	@Scheduled(cron = "17 30 * * * *", zone = "UTC")
	@SingleRunner(key = "job-17")
	void job17() {
		this.runs++;
	}

	@Scheduled(cron = "18 */15 * * * *", zone = "UTC")
	@SingleRunner(key = "job-18", scope = LockScope.SESSION)
	void job18() {
		this.runs++;
	}

	@Scheduled(cron = "19 */5 * * * *", zone = "UTC")
	@SingleRunner(key = "job-19")
	void job19() {
		this.runs++;
	}

}
