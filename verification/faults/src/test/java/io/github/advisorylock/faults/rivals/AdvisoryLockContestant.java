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

package io.github.advisorylock.faults.rivals;

import java.time.Instant;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.faults.Work;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Ours, with the annotation and its defaults, as in the README.
 */
public class AdvisoryLockContestant extends SpringContestant {

	public AdvisoryLockContestant() {
		super(PlainApplication.class);
	}

	AdvisoryLockContestant(Class<?> application, String... properties) {
		super(application, properties);
	}

	private static @Nullable Instant tick() {
		return LockContext.current().flatMap(LockContext::tick).orElse(null);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class PlainApplication {

		@Bean
		PlainJob job(Work work) {
			return new PlainJob(work);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class RecordedApplication {

		@Bean
		RecordedJob job(Work work) {
			return new RecordedJob(work);
		}

	}

	public static class PlainJob {

		private final Work work;

		PlainJob(Work work) {
			this.work = work;
		}

		@Scheduled(cron = "${rivals.cron}")
		@SingleRunner(key = Schedule.JOB)
		public void run() throws Exception {
			this.work.run(Schedule.JOB, tick());
		}

	}

	public static class RecordedJob {

		private final Work work;

		RecordedJob(Work work) {
			this.work = work;
		}

		@Scheduled(cron = "${rivals.cron}")
		@SingleRunner(key = Schedule.JOB, once = Once.PER_TICK, catchUp = "10m")
		public void run() throws Exception {
			this.work.run(Schedule.JOB, tick());
		}

	}

	/**
	 * Each tick once, and made up for where nobody has completed it.
	 */
	public static final class Recorded extends AdvisoryLockContestant {

		public Recorded() {
			super(RecordedApplication.class, "advisory-lock.ledger.initialize-schema=always");
		}

	}

}
