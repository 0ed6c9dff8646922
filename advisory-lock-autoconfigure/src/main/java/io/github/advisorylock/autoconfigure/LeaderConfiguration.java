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

import javax.sql.DataSource;

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.jdbc.LockLifecycle;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import io.github.advisorylock.leader.PostgresLeaderElection;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Leader roles on a database.
 */
@Lazy
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
@ConditionalOnBean(DataSource.class)
class LeaderConfiguration {

	/**
	 * Is there once somebody asks for it, and then runs as long as its context: it is no
	 * bean of a life cycle by its declaration, which would create it in any case.
	 */
	@Bean
	@ConditionalOnMissingBean(LeaderElection.class)
	@Nullable LeaderElection advisoryLockLeaderElection(SingleRunnerSettings settings, AdvisoryLockProperties properties,
			LockDatabases databases, LeaderOnlyMethods methods, LockLifecycle.Time shutdown,
			ConfigurableApplicationContext context) {
		LockSession available = databases.of(null).session().get();
		if (available == null) {
			return null;
		}
		PostgresLeaderElection election = new PostgresLeaderElection(available, settings.namespace(),
				settings.keyFactory(), properties.leader().termsAbove(), (event) -> {
					if (event instanceof LeadershipGainedEvent gained) {
						methods.callOnElection(gained.role());
					}
					context.publishEvent(event);
				}, shutdown::limit);
		if (context.isRunning()) {
			election.start();
		}
		return election;
	}

}
