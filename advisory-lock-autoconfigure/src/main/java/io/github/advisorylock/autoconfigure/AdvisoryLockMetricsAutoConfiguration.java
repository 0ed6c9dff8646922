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

import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.interceptor.SingleRunnerObserver;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.metrics.AdvisoryLockMetrics;
import io.github.advisorylock.metrics.DefaultLockExecutionObservationConvention;
import io.github.advisorylock.metrics.LockExecutionObservationConvention;
import io.github.advisorylock.metrics.MicrometerSingleRunnerObserver;
import io.github.advisorylock.monitor.DatabaseClock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for meters and observations of
 * advisory locks.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = AdvisoryLockAutoConfiguration.class, afterName = {
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration",
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
@ConditionalOnClass({ MeterRegistry.class, ObservationRegistry.class })
@ConditionalOnBean({ MeterRegistry.class, PostgresAdvisoryLockTemplate.class })
public final class AdvisoryLockMetricsAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(SingleRunnerObserver.class)
	MicrometerSingleRunnerObserver singleRunnerObserver(MeterRegistry meters,
			ObjectProvider<ObservationRegistry> observations,
			ObjectProvider<LockExecutionObservationConvention> convention, ConfigurableListableBeanFactory beans,
			Environment environment) {
		LockExecutionObservationConvention own = convention.getIfAvailable();
		ObservationListeners listeners = new ObservationListeners(beans, environment);
		boolean observe = own != null || !listeners.areMetersOnly();
		return new MicrometerSingleRunnerObserver(meters,
				observe ? observations.getIfUnique(() -> ObservationRegistry.NOOP) : ObservationRegistry.NOOP,
				(own != null) ? own : new DefaultLockExecutionObservationConvention(), listeners.areForSkips());
	}

	@Bean
	@ConditionalOnBean(MicrometerSingleRunnerObserver.class)
	ApplicationListener<PayloadApplicationEvent<LockLostEvent>> lostLockCounter(
			MicrometerSingleRunnerObserver observer) {
		return ApplicationListener.forPayload(observer::lost);
	}

	/**
	 * Registers the meters of methods once these are known.
	 */
	@Bean
	@ConditionalOnBean(MicrometerSingleRunnerObserver.class)
	SmartInitializingSingleton singleRunnerMeters(SingleRunnerAnnotationBeanPostProcessor postProcessor,
			MicrometerSingleRunnerObserver observer) {
		return () -> postProcessor.getMethods().forEach((method) -> {
			AdvisoryLockKey key = method.fixedKey();
			observer.register(method.operation(),
					(key != null) ? key : AdvisoryLockKey.of(method.operation().keyTemplate()));
		});
	}

	@Bean
	@ConditionalOnMissingBean
	DatabaseClock databaseClock(LockTransactionManager transactionManager) {
		return new DatabaseClock(transactionManager.getDataSource());
	}

	@Bean
	SmartInitializingSingleton advisoryLockMetrics(MeterRegistry meters, PostgresAdvisoryLockTemplate template,
			DatabaseClock clock, ObjectProvider<LeaderRoles> leaders, ObjectProvider<LeaderElection> election) {
		return () -> {
			List<String> roles = leaders.getIfAvailable(() -> LeaderRoles.NONE).get().stream().sorted().toList();
			new AdvisoryLockMetrics(template::getHeldLocks, clock::skewInSeconds, roles,
					(role) -> election.getObject().isLeader(role))
				.bindTo(meters);
		};
	}

}
