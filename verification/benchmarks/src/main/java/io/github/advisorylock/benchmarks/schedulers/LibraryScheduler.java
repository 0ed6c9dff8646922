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

package io.github.advisorylock.benchmarks.schedulers;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Ours, with the annotation.
 */
final class LibraryScheduler implements JobScheduler {

	private final Class<?> job;

	private @Nullable ConfigurableApplicationContext context;

	LibraryScheduler(Class<?> job) {
		this.job = job;
	}

	@Override
	public void start(String url, String cron, Runnable work) {
		this.context = new SpringApplicationBuilder(Application.class, this.job).web(WebApplicationType.NONE)
			.logStartupInfo(false)
			.initializers((context) -> context.getBeanFactory().registerSingleton("work", work))
			.properties("spring.datasource.url=" + url, "spring.application.name=schedulers", "job.cron=" + cron,
					"advisory-lock.ledger.initialize-schema=always", "logging.level.root=warn",
					"spring.main.banner-mode=off")
			.run();
	}

	@Override
	public void close() {
		if (this.context != null) {
			this.context.close();
		}
	}

	/**
	 * What has the jobs.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Application {

	}

	/**
	 * Under a lock alone.
	 */
	static class PlainJob {

		private final Runnable work;

		PlainJob(Runnable work) {
			this.work = work;
		}

		@Scheduled(cron = "${job.cron}")
		@SingleRunner(JOB)
		void run() {
			this.work.run();
		}

	}

	/**
	 * Under a lock of a session.
	 */
	static class SessionJob {

		private final Runnable work;

		SessionJob(Runnable work) {
			this.work = work;
		}

		@Scheduled(cron = "${job.cron}")
		@SingleRunner(key = JOB, scope = LockScope.SESSION)
		void run() {
			this.work.run();
		}

	}

	/**
	 * With the ledger.
	 */
	static class RecordedJob {

		private final Runnable work;

		RecordedJob(Runnable work) {
			this.work = work;
		}

		@Scheduled(cron = "${job.cron}")
		@SingleRunner(key = JOB, once = Once.PER_TICK, catchUp = "10m")
		void run() {
			this.work.run();
		}

	}

}
