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

import java.util.ArrayList;
import java.util.List;

import io.github.advisorylock.faults.Contestant;
import io.github.advisorylock.faults.ContestantSettings;
import io.github.advisorylock.faults.Work;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * A Spring Boot application whose methods are {@code @Scheduled}, each instance by its
 * own clock, and guarded by what a subclass brings.
 */
abstract class SpringContestant implements Contestant {

	private final Class<?> configuration;

	private final List<String> properties;

	private @Nullable ConfigurableApplicationContext context;

	SpringContestant(Class<?> configuration, String... properties) {
		this.configuration = configuration;
		this.properties = List.of(properties);
	}

	@Override
	public void start(ContestantSettings settings, Work work) throws Exception {
		List<String> all = new ArrayList<>(this.properties);
		all.add("spring.application.name=rivals");
		all.add("spring.datasource.url=" + settings.url());
		all.add("spring.datasource.username=" + settings.user());
		all.add("spring.datasource.password=" + settings.password());
		all.add("rivals.cron=" + Schedule.cron(settings.period()));
		this.context = new SpringApplicationBuilder(SpringApplicationConfiguration.class, this.configuration)
			.web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.initializers((context) -> {
				context.getBeanFactory().registerSingleton("work", work);
				context.getBeanFactory().registerSingleton("settings", settings);
			})
			.properties(all.toArray(String[]::new))
			.run();
	}

	@Override
	public void close() {
		if (this.context != null) {
			this.context.close();
		}
	}

	/**
	 * What such an application has without a lock.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			TransactionAutoConfiguration.class, JdbcTemplateAutoConfiguration.class })
	static class SpringApplicationConfiguration {

	}

}
