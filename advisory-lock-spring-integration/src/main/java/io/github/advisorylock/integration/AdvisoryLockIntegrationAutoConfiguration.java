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

package io.github.advisorylock.integration;

import java.util.Set;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.autoconfigure.LockUse;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for Spring Integration's locks. Who
 * wants them injects the registry: the bean alone changes no flow.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = AdvisoryLockAutoConfiguration.class)
@ConditionalOnClass(DistributedLock.class)
@ConditionalOnBean(AdvisoryLockOperations.class)
public final class AdvisoryLockIntegrationAutoConfiguration {

	/**
	 * Locks on a database.
	 */
	@Lazy
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
	static class GuardedConfiguration {

		@Bean
		@ConditionalOnMissingBean(LockRegistry.class)
		AdvisoryLockRegistry advisoryLockRegistry(AdvisoryLockOperations operations) {
			return new AdvisoryLockRegistry(operations);
		}

		/**
		 * The registry is there whether or not it is used.
		 */
		@Bean
		@ConditionalOnBean(AdvisoryLockRegistry.class)
		LockUse advisoryLockRegistryUse(ConfigurableListableBeanFactory beanFactory) {
			return () -> LockUse.isInjected(beanFactory, "advisoryLockRegistry") ? Set.of(LockScope.SESSION) : Set.of();
		}

	}

	/**
	 * No locks on a database, because the application said so: the threads of an
	 * aggregator have to exclude each other all the same.
	 */
	@Lazy
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", havingValue = false)
	static class UnguardedConfiguration {

		@Bean
		@ConditionalOnMissingBean(LockRegistry.class)
		DefaultLockRegistry advisoryLockRegistry() {
			return new DefaultLockRegistry();
		}

	}

}
