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

import io.github.advisorylock.faults.Work;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * No lock at all: what the checker must see.
 */
public final class UnguardedContestant extends SpringContestant {

	public UnguardedContestant() {
		super(Application.class);
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Job job(Work work) {
			return new Job(work);
		}

	}

	record Job(Work work) {

		@Scheduled(cron = "${rivals.cron}")
		void run() throws Exception {
			this.work.run(Schedule.JOB, null);
		}

	}

}
