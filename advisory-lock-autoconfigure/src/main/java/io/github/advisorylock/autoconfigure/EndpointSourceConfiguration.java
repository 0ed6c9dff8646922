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

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.advisorylock.actuate.AdvisoryLocksSource;
import io.github.advisorylock.actuate.CallCounter;
import io.github.advisorylock.actuate.GuardedApplication;
import io.github.advisorylock.actuate.JobRegistry;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.jdbc.LockScheduler;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import io.github.advisorylock.monitor.LockMonitor;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.config.ScheduledTask;
import org.springframework.scheduling.config.ScheduledTaskHolder;

/**
 * What the endpoint and the page are made of, either of which may be there alone.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(AdvisoryLocksEndpointProperties.class)
public final class EndpointSourceConfiguration {

	@Bean
	CallCounter advisoryLockCallCounter() {
		return new CallCounter();
	}

	@Bean
	AdvisoryLocksSource advisoryLocksSource(SingleRunnerAnnotationBeanPostProcessor methods, LeaderOnlyMethods roles,
			SingleRunnerSettings settings, Environment environment, ObjectProvider<ScheduledTaskHolder> schedulers,
			LockMonitor monitor, ObjectProvider<JobRegistry> registry, CallCounter counter,
			ObjectProvider<SanitizingFunction> sanitizing, ObjectProvider<LockDatabases> databases,
			ObjectProvider<JobRegistrySource> registries, LockScheduler.Threads threads) {
		Sanitizer sanitizer = new Sanitizer(sanitizing.orderedStream().toList());
		Function<LockDatabase, GuardedApplication> applications = (database) -> new GuardedApplication(
				settings.namespace(), settings.keyFactory(), () -> methodsOf(database, methods, databases.getObject()),
				() -> databases.getObject().isDefault(database) ? roles.getRoles() : List.of(), () -> tasks(schedulers),
				environment::resolvePlaceholders, threads);
		LockDatabases all = databases.getObject();
		AdvisoryLocksSource source = new AdvisoryLocksSource(applications.apply(all.of(null)), monitor,
				registry.getIfAvailable(() -> JobRegistry.NONE), counter, sanitizer);
		Map<String, AdvisoryLocksSource> others = new ConcurrentHashMap<>();
		source.setDatabases(() -> {
			Map<String, AdvisoryLocksSource> sources = new LinkedHashMap<>();
			sources.put(all.of(null).name(), source);
			all.others()
				.forEach((other) -> sources.put(other.name(),
						others.computeIfAbsent(other.name(),
								(name) -> new AdvisoryLocksSource(applications.apply(other),
										new LockMonitor(other.dataSource()),
										registries.getIfAvailable(() -> (database) -> JobRegistry.NONE).of(other),
										counter, sanitizer))));
			return sources;
		});
		return source;
	}

	private static List<SingleRunnerMethod> methodsOf(LockDatabase database,
			SingleRunnerAnnotationBeanPostProcessor methods, LockDatabases databases) {
		return methods.getMethods().stream().filter((method) -> databases.has(database, method)).toList();
	}

	private static Stream<ScheduledTask> tasks(ObjectProvider<ScheduledTaskHolder> schedulers) {
		return schedulers.stream().flatMap((scheduler) -> scheduler.getScheduledTasks().stream());
	}

	/**
	 * Knows what is recorded in further databases.
	 */
	@FunctionalInterface
	interface JobRegistrySource {

		/**
		 * Return what is recorded in a database.
		 */
		JobRegistry of(LockDatabase database);

	}

}
