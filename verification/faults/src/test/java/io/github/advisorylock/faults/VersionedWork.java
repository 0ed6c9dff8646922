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

import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;

import org.springframework.context.annotation.Profile;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Does the work of {@link OperatedJob#VERSIONED} as the version of the application does
 * that is replaced.
 */
@Profile("!" + VersionedWork.NEXT)
class VersionedWork {

	/**
	 * The profile of the next version.
	 */
	static final String NEXT = "next";

	private final OperatedWork work;

	VersionedWork(OperatedWork work) {
		this.work = work;
	}

	@Scheduled(cron = "*/4 * * * * *")
	@SingleRunner(key = OperatedJob.VERSIONED, once = Once.PER_TICK)
	void versioned() throws Exception {
		this.work.work(OperatedJob.VERSIONED);
	}

	/**
	 * What the next version has: the job on another schedule, in a method of another
	 * class, and one more.
	 */
	@Profile(NEXT)
	static class Next {

		private final OperatedWork work;

		Next(OperatedWork work) {
			this.work = work;
		}

		@Scheduled(cron = "*/12 * * * * *")
		@SingleRunner(key = OperatedJob.VERSIONED, once = Once.PER_TICK)
		void renamed() throws Exception {
			this.work.work(OperatedJob.VERSIONED);
		}

		@Scheduled(cron = "2/6 * * * * *")
		@SingleRunner(key = OperatedJob.ADDED, once = Once.PER_TICK)
		void added() throws Exception {
			this.work.work(OperatedJob.ADDED);
		}

	}

}
