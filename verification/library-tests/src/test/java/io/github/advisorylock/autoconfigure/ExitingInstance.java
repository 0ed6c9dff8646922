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

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * An application in a process of its own that ends the JVM from inside a run.
 */
public final class ExitingInstance {

	static final int STATUS = 3;

	private ExitingInstance() {
	}

	/**
	 * Exit inside a run, with a shutdown phase of ten minutes.
	 * @param arguments the JDBC URL, and a scope or {@code LEADER}
	 */
	public static void main(String[] arguments) {
		ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.properties("spring.datasource.url=" + arguments[0], "spring.lifecycle.timeout-per-shutdown-phase=10m",
					"advisory-lock.session.heartbeat=100ms", "advisory-lock.session.dead-client-timeout=600ms",
					"spring.flyway.enabled=false", "spring.liquibase.enabled=false",
					"spring.jpa.hibernate.ddl-auto=none")
			.run();
		if (arguments[1].equals("LEADER")) {
			while (true) {
				context.getBean(Job.class).run();
			}
		}
		context.getBean(AdvisoryLockOperations.class)
			.execute(LockRequest.of("exit").scope(LockScope.valueOf(arguments[1])), (lock) -> {
				System.exit(STATUS);
				return null;
			});
	}

	/**
	 * The application.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Job job() {
			return new Job();
		}

	}

	/**
	 * What ends the leader.
	 */
	static class Job {

		@LeaderOnly("exit")
		void run() {
			System.exit(STATUS);
		}

	}

}
