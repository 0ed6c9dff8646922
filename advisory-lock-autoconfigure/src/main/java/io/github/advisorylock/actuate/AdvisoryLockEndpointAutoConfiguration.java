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

package io.github.advisorylock.actuate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.Run;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import io.github.advisorylock.ledger.jdbc.PostgresAdvisoryLockLedger;
import io.github.advisorylock.monitor.LockMonitor;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.config.ScheduledTask;
import org.springframework.scheduling.config.ScheduledTaskHolder;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the endpoint
 * {@code advisorylocks}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = AdvisoryLockAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnBean(PostgresAdvisoryLockTemplate.class)
@ConditionalOnAvailableEndpoint(AdvisoryLocksEndpoint.class)
@EnableConfigurationProperties(AdvisoryLocksEndpointProperties.class)
public final class AdvisoryLockEndpointAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	AdvisoryLocksEndpoint advisoryLocksEndpoint(AdvisoryLocksSource source) {
		return new AdvisoryLocksEndpoint(source);
	}

	@Bean
	@ConditionalOnMissingBean
	AdvisoryLocksEndpointWebExtension advisoryLocksEndpointWebExtension(AdvisoryLocksSource source,
			ObjectProvider<LeaderElection> election, ApplicationEventPublisher eventPublisher,
			AdvisoryLocksEndpointProperties properties) {
		return new AdvisoryLocksEndpointWebExtension(source, election::getObject, eventPublisher,
				properties.showValues(), properties.roles());
	}

	@Bean
	OperationInvokerAdvisor advisoryLocksEndpointRequests() {
		return AdvisoryLocksEndpointWebExtension.pathOnly();
	}

	@Bean
	CallCounter advisoryLockCallCounter() {
		return new CallCounter();
	}

	@Bean
	AdvisoryLocksSource advisoryLocksSource(SingleRunnerAnnotationBeanPostProcessor methods, LeaderOnlyMethods roles,
			SingleRunnerSettings settings, Environment environment, ObjectProvider<ScheduledTaskHolder> schedulers,
			CallCounter counter, ObjectProvider<SanitizingFunction> sanitizing, ObjectProvider<LockDatabases> databases,
			ObjectProvider<JobRegistrySource> registries, LockScheduler.Threads threads) {
		Sanitizer sanitizer = new Sanitizer(sanitizing.orderedStream().toList());
		LockDatabases all = databases.getObject();
		JobRegistrySource recorded = registries.getIfAvailable(() -> (database) -> JobRegistry.NONE);
		BiFunction<LockDatabase, Supplier<Map<String, AdvisoryLocksSource>>, AdvisoryLocksSource> sources = (database,
				others) -> new AdvisoryLocksSource(database.name(),
						new GuardedApplication(settings.namespace(), settings.keyFactory(),
								() -> methodsOf(database, methods, all),
								() -> all.isDefault(database) ? roles.getRoles() : List.of(), () -> tasks(schedulers),
								environment::resolvePlaceholders, (key) -> stacks(database, key),
								() -> database.session().get() != null, threads),
						new LockMonitor(database.dataSource()), recorded.of(database), counter, sanitizer,
						database.session(), others);
		Map<String, AdvisoryLocksSource> others = new ConcurrentHashMap<>();
		return sources.apply(all.of(null), () -> {
			Map<String, AdvisoryLocksSource> named = new LinkedHashMap<>();
			all.others()
				.forEach((other) -> named.put(other.name(),
						others.computeIfAbsent(other.name(), (name) -> sources.apply(other, Map::of))));
			return named;
		});
	}

	private static List<SingleRunnerMethod> methodsOf(LockDatabase database,
			SingleRunnerAnnotationBeanPostProcessor methods, LockDatabases databases) {
		return methods.getMethods().stream().filter((method) -> databases.has(database, method)).toList();
	}

	private static List<Run.Stack> stacks(LockDatabase database, AdvisoryLockKey key) {
		PostgresAdvisoryLockTemplate template = database.template().get();
		return (template != null) ? template.stacks(key) : List.of();
	}

	private static Stream<ScheduledTask> tasks(ObjectProvider<ScheduledTaskHolder> schedulers) {
		return schedulers.stream().flatMap((scheduler) -> scheduler.getScheduledTasks().stream());
	}

	/**
	 * Knows what is recorded in each database.
	 */
	@FunctionalInterface
	interface JobRegistrySource {

		/**
		 * Return what is recorded in a database.
		 */
		JobRegistry of(LockDatabase database);

	}

	/**
	 * Knows what is recorded where there is a ledger.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(PostgresAdvisoryLockLedger.class)
	static class LedgerConfiguration {

		@Bean
		JobRegistrySource advisoryLockLedgerJobRegistries() {
			return (database) -> new LedgerJobRegistry(
					(database.ledger().get() instanceof PostgresAdvisoryLockLedger ledger) ? ledger : null);
		}

	}

}
