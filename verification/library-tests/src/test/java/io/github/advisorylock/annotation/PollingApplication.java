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

package io.github.advisorylock.annotation;

import java.io.IOException;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * One instance of an application that polls at a fixed rate and with a fixed delay, once
 * per interval. Says when, and lives as long as nobody closes its input. Public for the
 * JVM that starts it.
 */
@EnableScheduling
@ImportAutoConfiguration({ AdvisoryLockAutoConfiguration.class, AopAutoConfiguration.class,
		DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
		TaskSchedulingAutoConfiguration.class, TransactionAutoConfiguration.class })
@SpringBootConfiguration(proxyBeanMethods = false)
public class PollingApplication {

	static final String INTERVAL = "PT3S";

	@Scheduled(fixedRateString = INTERVAL)
	@SingleRunner(key = "polled-at-rate")
	void pollAtRate() {
		say("Ran: ", "polled-at-rate");
	}

	@Scheduled(fixedDelayString = INTERVAL)
	@SingleRunner(key = "polled-with-delay", scope = LockScope.SESSION)
	void pollWithDelay() {
		say("Ran: ", "polled-with-delay");
	}

	@EventListener
	void say(SingleRunnerSkippedEvent event) {
		say("Skipped: ", event.key().name());
	}

	private static void say(String what, String key) {
		System.out.println(what + key + " " + System.currentTimeMillis());
	}

	public static void main(String[] args) throws IOException {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(PollingApplication.class)
			.web(WebApplicationType.NONE)
			.properties("spring.application.name=polling", "spring.task.scheduling.pool.size=2",
					"spring.datasource.hikari.maximum-pool-size=3")
			.run(args)) {
			System.out.println("Started");
			while (System.in.read() >= 0) {
				// says nothing to listen to
			}
		}
	}

}
