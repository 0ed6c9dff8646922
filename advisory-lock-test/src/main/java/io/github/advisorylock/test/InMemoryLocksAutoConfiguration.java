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

package io.github.advisorylock.test;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.ledger.jdbc.LedgerLifecycle;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigureAfter;
import org.springframework.boot.autoconfigure.AutoConfigureBefore;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for locks in memory. Not applied by
 * itself: see {@link AutoConfigureInMemoryLocks} and {@link AdvisoryLockTest}.
 *
 * @since 0.1.0
 */
@Configuration(proxyBeanMethods = false)
@AutoConfigureAfter(SliceTransactionAutoConfiguration.class)
@AutoConfigureBefore({ AdvisoryLockAutoConfiguration.class, TestLocksAutoConfiguration.class })
@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", havingValue = false, matchIfMissing = true)
final class InMemoryLocksAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	CallRecorder advisoryLockTestCallRecorder() {
		return new CallRecorder();
	}

	@Bean
	@ConditionalOnMissingBean(TestLocks.class)
	InMemoryLocks advisoryLockTestLocks(SingleRunnerSettings settings, CallRecorder calls,
			ApplicationEventPublisher eventPublisher) {
		return new InMemoryLocks(settings, calls, eventPublisher::publishEvent, null);
	}

	@Bean
	@ConditionalOnMissingBean(AdvisoryLockOperations.class)
	AdvisoryLockOperations advisoryLockOperations(InMemoryLocks locks, ConfigurableListableBeanFactory beans) {
		return locks.createOperations(beans);
	}

	/**
	 * Refuses at the start what a call would be refused for.
	 */
	@Bean
	static SmartInitializingSingleton advisoryLockTestMethodsCheck(ObjectProvider<AdvisoryLockOperations> operations,
			SingleRunnerAnnotationBeanPostProcessor processor) {
		return () -> {
			if (operations.getIfAvailable() instanceof InMemoryLockOperations inMemory) {
				for (SingleRunnerMethod method : processor.getMethods()) {
					inMemory.transactions().check(method);
					if (method.operation().ledger().recorded()) {
						LedgerLifecycle.check(method, inMemory.rememberKeys());
					}
				}
			}
		};
	}

	@Bean
	@ConditionalOnMissingBean(LeaderElection.class)
	LeaderElection advisoryLockLeaderElection(InMemoryLocks locks) {
		return locks.leaderElection();
	}

}
