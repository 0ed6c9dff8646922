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

import java.lang.management.ManagementFactory;
import java.time.Duration;

import com.sun.management.OperatingSystemMXBean;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.test.Fleet;
import io.github.advisorylock.test.FleetTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.test.context.ContextConfiguration;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;

/**
 * How long virtual time takes, in seconds, and the time of the processors: a table line
 * for each run, without the start of its instances. To be asked for, and not judged by
 * any time.
 */
class VirtualTimeFigures {

	private static void play(Fleet fleet, String what, Duration time) {
		long begin = System.nanoTime();
		long busy = processorNanos();
		fleet.advanceBy(time);
		System.out.printf("| %s | %.2f | %.2f |%n", what, (System.nanoTime() - begin) / 1e9,
				(processorNanos() - busy) / 1e9);
	}

	private static long processorNanos() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	/**
	 * A daily job.
	 */
	@Nested
	@FleetTest(DailyJob.class)
	@ContextConfiguration(classes = Application.class)
	class Year {

		@RepeatedTest(5)
		void ofADailyJobOnThreeInstances(Fleet fleet) {
			play(fleet, "a year of a daily job on three instances", Duration.ofDays(365));
			assertThatLock("daily").hasRunOncePerTick();
		}

	}

	/**
	 * Many jobs.
	 */
	@Nested
	@FleetTest(value = TwentyJobs.class, instances = 10)
	@ContextConfiguration(classes = Application.class)
	class Week {

		@RepeatedTest(5)
		void ofTwentyJobsOnTenInstances(Fleet fleet) {
			play(fleet, "a week of twenty jobs on ten instances", Duration.ofDays(7));
			for (int i = 0; i < 20; i++) {
				assertThatLock("job-" + i).hasRunOncePerTick();
			}
		}

	}

	/**
	 * An application.
	 */
	@SpringBootApplication
	static class Application {

	}

	/**
	 * The job.
	 */
	@Component
	static class DailyJob {

		@Scheduled(cron = "0 0 3 * * *", zone = "UTC")
		@SingleRunner("daily")
		void run() {
		}

	}

}
