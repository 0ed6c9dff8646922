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

package io.github.advisorylock.health;

import java.util.List;

import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.TimeLimit;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the health of advisory locks.
 *
 * @since 0.1.0
 */
@Lazy
@AutoConfiguration(after = AdvisoryLockAutoConfiguration.class,
		beforeName = "org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration")
@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnEnabledHealthIndicator("advisory-lock")
@ConditionalOnBean(PostgresAdvisoryLockTemplate.class)
public final class AdvisoryLockHealthAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(name = { "advisoryLockHealthIndicator", "advisoryLockHealthContributor" })
	AdvisoryLockHealthIndicator advisoryLockHealthIndicator(ConfigurableListableBeanFactory beans,
			LockScheduler.Threads threads) {
		return new AdvisoryLockHealthIndicator(() -> inUse(beans), new TimeLimit(threads));
	}

	/**
	 * To look at the health of an application that takes no locks must not make what
	 * takes them.
	 */
	private static List<LockDatabase> inUse(ConfigurableListableBeanFactory beans) {
		String name = "advisoryLockDatabases";
		if (!beans.containsLocalBean(name)) {
			return (beans.getParentBeanFactory() instanceof ConfigurableListableBeanFactory parent) ? inUse(parent)
					: List.of();
		}
		return (beans.getSingleton(name) instanceof LockDatabases databases)
				? databases.all().stream().filter(databases::isNamed).toList() : List.of();
	}

}
