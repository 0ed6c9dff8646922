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

import io.github.advisorylock.LockResult;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * An application in a process of its own, which has environment variables of its own.
 */
public final class EnvironmentInstance {

	private EnvironmentInstance() {
	}

	/**
	 * Start, and say what became of the jobs.
	 * @param arguments the JDBC URL
	 */
	public static void main(String[] arguments) {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.properties("spring.datasource.url=" + arguments[0], "spring.application.name=environment",
					"spring.flyway.enabled=false", "spring.liquibase.enabled=false",
					"spring.jpa.hibernate.ddl-auto=none")
			.run()) {
			context.getBean(SingleRunnerAnnotationBeanPostProcessor.class)
				.getMethods()
				.forEach((method) -> System.out.println("JOB " + method.operation().keyTemplate() + " paused="
						+ method.operation().paused() + " waitFor=" + method.operation().waitFor()));
			System.out.println("RUN " + context.getBean(Jobs.class).report().outcome());
		}
	}

	/**
	 * The application.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Jobs.class)
	static class Application {

	}

	/**
	 * Jobs whose keys environment variables can't spell.
	 */
	static class Jobs {

		@SingleRunner("nightly-report")
		LockResult<Void> report() {
			return LockResult.executed(null);
		}

		@SingleRunner("orders.export")
		void export() {
		}

		@SingleRunner("cleanUp")
		void cleanUp() {
		}

		@SingleRunner("import")
		void importAll() {
		}

	}

}
