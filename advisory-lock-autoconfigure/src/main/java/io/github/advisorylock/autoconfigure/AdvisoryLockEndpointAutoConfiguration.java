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

import java.util.stream.Stream;

import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.actuate.AdvisoryLocksEndpoint;
import io.github.advisorylock.actuate.AdvisoryLocksEndpointWebExtension;
import io.github.advisorylock.actuate.AdvisoryLocksSource;
import io.github.advisorylock.actuate.CallCounts;
import io.github.advisorylock.actuate.GuardedApplication;
import io.github.advisorylock.actuate.JobActions;
import io.github.advisorylock.annotation.LeaderOnlyAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.LeaderOnlyMethod;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.interceptor.SingleRunnerFinishedEvent;
import io.github.advisorylock.interceptor.SingleRunnerSkippedEvent;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockLedger;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.PostgresLockMonitor;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
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
	AdvisoryLocksEndpointWebExtension advisoryLocksEndpointWebExtension(AdvisoryLocksSource source, JobActions actions,
			AdvisoryLocksEndpointProperties properties) {
		return new AdvisoryLocksEndpointWebExtension(source, actions, properties.getShowValues(),
				properties.getRoles());
	}

	@Bean
	CallCounts callCounts() {
		return new CallCounts();
	}

	@Bean
	ApplicationListener<PayloadApplicationEvent<SingleRunnerFinishedEvent>> finishedCallListener(CallCounts counts) {
		return ApplicationListener.forPayload(counts::finished);
	}

	@Bean
	ApplicationListener<PayloadApplicationEvent<SingleRunnerSkippedEvent>> skippedCallListener(CallCounts counts) {
		return ApplicationListener.forPayload(counts::skipped);
	}

	@Bean
	ApplicationListener<PayloadApplicationEvent<LockLostEvent>> lossListener(CallCounts counts) {
		return ApplicationListener.forPayload(counts::lost);
	}

	@Bean
	AdvisoryLocksSource advisoryLocksSource(SingleRunnerAnnotationBeanPostProcessor methods,
			LeaderOnlyAnnotationBeanPostProcessor leaders, SingleRunnerSettings settings, Environment environment,
			ObjectProvider<ScheduledTaskHolder> schedulers, LockTransactionManager transactionManager,
			AdvisoryLockProperties properties, ObjectProvider<PostgresAdvisoryLockLedger> ledgers, CallCounts counts,
			ObjectProvider<SanitizingFunction> sanitizing) {
		GuardedApplication application = new GuardedApplication(settings, methods::getMethods,
				() -> leaders.getMethods().stream().map(LeaderOnlyMethod::role).distinct().toList(),
				() -> tasks(schedulers), environment::resolvePlaceholders);
		PostgresLockMonitor monitor = new PostgresLockMonitor(transactionManager.getDataSource(),
				properties.getLedger().toSettings().tablePrefix());
		PostgresAdvisoryLockLedger ledger = ledgers.getIfAvailable();
		return new AdvisoryLocksSource(application, monitor, () -> ledger != null && ledger.isOpen(), counts,
				sanitizer(sanitizing));
	}

	@Bean
	JobActions jobActions(ObjectProvider<PostgresAdvisoryLockLedger> ledgers, ApplicationEventPublisher eventPublisher,
			ObjectProvider<SanitizingFunction> sanitizing) {
		SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("advisory-lock-run-now-");
		executor.setDaemon(true);
		return new JobActions(ledgers.getIfAvailable(), executor, eventPublisher, sanitizer(sanitizing));
	}

	private static Stream<ScheduledTask> tasks(ObjectProvider<ScheduledTaskHolder> schedulers) {
		return schedulers.stream().flatMap((scheduler) -> scheduler.getScheduledTasks().stream());
	}

	private static Sanitizer sanitizer(ObjectProvider<SanitizingFunction> sanitizing) {
		return new Sanitizer(sanitizing.orderedStream().toList());
	}

}
