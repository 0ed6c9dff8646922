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

import java.util.Map;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.interceptor.UnguardedLockOperations;
import io.github.advisorylock.leader.UnguardedLeaderElection;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Takes no locks and holds no elections, because the application said so, and says that
 * where operators look.
 */
@Lazy
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", havingValue = false)
class SwitchedOffConfiguration {

	private static final String LOCKS = "switched off by 'advisory-lock.enabled': every instance runs every method";

	@Bean
	@ConditionalOnMissingBean(AdvisoryLockOperations.class)
	UnguardedLockOperations advisoryLockOperations(SingleRunnerSettings settings) {
		return new UnguardedLockOperations(settings.namespace(), settings.keyFactory());
	}

	@Bean
	@ConditionalOnMissingBean(LeaderElection.class)
	LeaderElection advisoryLockLeaderElection() {
		return new UnguardedLeaderElection();
	}

	/**
	 * In the place of the jobs.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
	@ConditionalOnAvailableEndpoint(SwitchedOffEndpoint.class)
	static class EndpointConfiguration {

		@Bean
		SwitchedOffEndpoint advisoryLocksEndpoint(SingleRunnerSettings settings, LockInstance instance) {
			return new SwitchedOffEndpoint(settings.namespace(), instance.name());
		}

	}

	/**
	 * In the place of the state of session and ledger.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
	@ConditionalOnEnabledHealthIndicator("advisory-lock")
	static class HealthConfiguration {

		@Bean
		@ConditionalOnMissingBean(name = { "advisoryLockHealthIndicator", "advisoryLockHealthContributor" })
		HealthIndicator advisoryLockHealthIndicator() {
			return () -> Health.up().withDetail("locks", LOCKS).build();
		}

	}

	/**
	 * Knows no jobs.
	 */
	@Endpoint(id = "advisorylocks", defaultAccess = Access.READ_ONLY)
	record SwitchedOffEndpoint(String namespace, String instance) {

		@ReadOperation
		Map<String, Object> locks() {
			return Map.of("enabled", false, "locks", LOCKS, "instance", this.instance, "namespace", this.namespace);
		}

	}

}
