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

package io.github.advisorylock.autoconfigure;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications for the doctor to look at.
 */
final class DoctorContexts {

	private DoctorContexts() {
	}

	static ApplicationContextRunner create(String url) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
					TransactionAutoConfiguration.class, AdvisoryLockAutoConfiguration.class))
			.withPropertyValues("spring.application.name=doctor", "spring.datasource.url=" + url,
					"spring.datasource.hikari.maximum-pool-size=4", "spring.datasource.hikari.minimum-idle=0",
					"spring.datasource.hikari.connection-timeout=5000");
	}

	static ApplicationContextRunner inTransaction(String url) {
		return create(url).withBean(TransactionJob.class);
	}

	static ApplicationContextRunner inSession(String url) {
		return create(url).withBean(SessionJob.class);
	}

	/**
	 * Return what Spring Boot says when the doctor stops the start.
	 */
	static String failureOf(ApplicationContextRunner runner) {
		AtomicReference<String> text = new AtomicReference<>();
		runner.run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = new AdvisoryLockFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis).as("%s", context.getStartupFailure()).isNotNull();
			text.set(analysis.getDescription() + "\n" + analysis.getAction());
		});
		return text.get();
	}

	/**
	 * A method of scope TRANSACTION.
	 */
	static class TransactionJob {

		@SingleRunner(key = "doctor-transaction")
		void run(Runnable work) {
			work.run();
		}

	}

	/**
	 * A method of scope TRANSACTION that runs by itself.
	 */
	static class ScheduledJob {

		@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.DAYS)
		@SingleRunner(key = "doctor-scheduled")
		void run() {
		}

	}

	/**
	 * A method of scope TRANSACTION that runs at planned times.
	 */
	static class CronJob {

		private int runs;

		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRunner(key = "doctor-cron")
		void run() {
			this.runs++;
		}

		int runs() {
			return this.runs;
		}

	}

	/**
	 * A method of scope TRANSACTION that waits.
	 */
	static class WaitingJob {

		@SingleRunner(key = "doctor-waiting", waitFor = "5s")
		void run(Runnable work) {
			work.run();
		}

	}

	/**
	 * A method of scope SESSION.
	 */
	static class SessionJob {

		@SingleRunner(key = "doctor-session", scope = LockScope.SESSION)
		void run(Runnable work) {
			work.run();
		}

	}

}
