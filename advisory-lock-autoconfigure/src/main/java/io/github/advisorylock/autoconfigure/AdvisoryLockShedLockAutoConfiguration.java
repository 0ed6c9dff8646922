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

import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.jdbc.LockScheduler;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.RunLedger;
import io.github.advisorylock.shedlock.AdvisoryLockProvider;
import io.github.advisorylock.shedlock.BothLocksPostProcessor;
import io.github.advisorylock.shedlock.LockAtLeastForCheck;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.ExtendedLockConfigurationExtractor;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for ShedLock on advisory locks.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = AdvisoryLockAutoConfiguration.class,
		afterName = "io.github.advisorylock.autoconfigure.AdvisoryLockLedgerAutoConfiguration")
@ConditionalOnClass(LockProvider.class)
@ConditionalOnBooleanProperty(name = "advisory-lock.shedlock.enabled", matchIfMissing = true)
@ConditionalOnBean(AdvisoryLockOperations.class)
@EnableConfigurationProperties(AdvisoryLockShedLockProperties.class)
public final class AdvisoryLockShedLockAutoConfiguration {

	private static final String PROVIDER = "advisoryLockProvider";

	private static AdvisoryLockProvider provider(AdvisoryLockOperations operations, ObjectProvider<RunLedger> ledger,
			AdvisoryLockProperties locks, AdvisoryLockShedLockProperties properties,
			ApplicationEventPublisher eventPublisher, LockScheduler.Threads threads) {
		return new AdvisoryLockProvider(operations, ledger(ledger, locks), properties.scope(),
				locks.session().whenLost() == WhenLost.INTERRUPT, eventPublisher::publishEvent, threads);
	}

	private static Supplier<@Nullable RunLedger> ledger(ObjectProvider<RunLedger> ledger,
			AdvisoryLockProperties properties) {
		return () -> properties.enabled() ? ledger.getIfAvailable() : null;
	}

	/**
	 * Advisory locks instead of others.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "advisory-lock.shedlock.both-locks", havingValue = false,
			matchIfMissing = true)
	@ConditionalOnMissingBean(LockProvider.class)
	static class OneLockConfiguration {

		@Bean(PROVIDER)
		AdvisoryLockProvider advisoryLockProvider(AdvisoryLockOperations operations, ObjectProvider<RunLedger> ledger,
				AdvisoryLockProperties locks, AdvisoryLockShedLockProperties properties,
				ApplicationEventPublisher eventPublisher, LockScheduler.Threads threads) {
			return provider(operations, ledger, locks, properties, eventPublisher, threads);
		}

	}

	/**
	 * Advisory locks beside others. ShedLock takes the only provider that can be a
	 * candidate.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "advisory-lock.shedlock.both-locks")
	static class BothLocksConfiguration {

		@Bean(name = PROVIDER, autowireCandidate = false)
		AdvisoryLockProvider advisoryLockProvider(AdvisoryLockOperations operations, ObjectProvider<RunLedger> ledger,
				AdvisoryLockProperties locks, AdvisoryLockShedLockProperties properties,
				ApplicationEventPublisher eventPublisher, LockScheduler.Threads threads) {
			return provider(operations, ledger, locks, properties, eventPublisher, threads);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static BothLocksPostProcessor advisoryLockBothLocksPostProcessor(ListableBeanFactory beanFactory) {
			return new BothLocksPostProcessor(() -> beanFactory.getBean(PROVIDER, AdvisoryLockProvider.class),
					beanFactory);
		}

	}

	/**
	 * What is annotated.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ExtendedLockConfigurationExtractor.class)
	@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
	@ConditionalOnBean(ExtendedLockConfigurationExtractor.class)
	static class AnnotationConfiguration {

		@Bean
		LockAtLeastForCheck advisoryLockAtLeastForCheck(ConfigurableListableBeanFactory beanFactory,
				ObjectProvider<RunLedger> ledger, AdvisoryLockProperties locks,
				ExtendedLockConfigurationExtractor times) {
			return new LockAtLeastForCheck(beanFactory, ledger(ledger, locks), times);
		}

	}

}
