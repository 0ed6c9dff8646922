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

package io.github.advisorylock.benchmarks;

import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * The application whose calls are measured: the starter with its defaults. The plain JDBC
 * baselines borrow their connections from the same pool.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(GuardedJobs.class)
class BenchmarkApplication {

	/**
	 * The name of the application, and with it the namespace of its keys.
	 */
	static final String NAME = "benchmarks";

	private static final String METERS = "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration,"
			+ "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration";

	/**
	 * Writes results that are kept.
	 */
	@Bean
	static JsonMapper jsonMapper() {
		return new JsonMapper();
	}

	/**
	 * Start the application as if Micrometer were not there.
	 */
	static ConfigurableApplicationContext start(String url) {
		return builder(url).properties("spring.autoconfigure.exclude=" + METERS).run();
	}

	/**
	 * Start the application with the meters of Spring Boot and of the library.
	 * @param sources more configuration
	 */
	static ConfigurableApplicationContext startWithMeters(String url, Class<?>... sources) {
		return builder(url).sources(sources).run();
	}

	private static SpringApplicationBuilder builder(String url) {
		return new SpringApplicationBuilder(BenchmarkApplication.class).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.logStartupInfo(false)
			.properties("spring.datasource.url=" + url, "spring.application.name=" + NAME,
					"spring.datasource.hikari.minimum-idle=8", "advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.instances=false", "logging.level.root=warn");
	}

}
