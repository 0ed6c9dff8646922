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

package io.github.advisorylock.benchmarks.fleet;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * An instance: what the starter makes of an application without a web server, with a pool
 * of five connections that are open from the start.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ CatchingUp.class, FirstTick.class })
class InstanceConfiguration {

	private static final String METERS = "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration,"
			+ "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration";

	/**
	 * Start an instance.
	 * @param url where its pool leads to
	 * @param properties further properties
	 */
	static ConfigurableApplicationContext start(String url, String... properties) {
		List<String> all = new ArrayList<>(List.of("spring.datasource.url=" + url, "spring.application.name=fleet",
				"spring.datasource.hikari.maximum-pool-size=5", "spring.datasource.hikari.keepalive-time=0",
				"advisory-lock.ledger.initialize-schema=always", "spring.autoconfigure.exclude=" + METERS));
		all.addAll(Arrays.asList(properties));
		ConfigurableApplicationContext context = new SpringApplicationBuilder(InstanceConfiguration.class)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.logStartupInfo(false)
			.registerShutdownHook(false)
			.properties(all.toArray(String[]::new))
			.run();
		// which fills the pool: the first round is not to measure 1,500 log-ins
		context.getBean(JdbcTemplate.class).execute("SELECT 1");
		return context;
	}

}
