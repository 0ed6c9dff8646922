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

import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.database.TransactionManagers;
import io.github.advisorylock.jdbc.LockLifecycle;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.autoconfigure.context.LifecycleProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;

/**
 * The locks of an application that has a DataSource. Whatever needs no annotation of
 * Spring is made by {@link LockDatabaseParts}: Spring reads all methods of a
 * configuration, and loads what they take and return, in applications without locks, too.
 */
@Lazy
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
@ConditionalOnBean(DataSource.class)
class LockDatabaseConfiguration {

	static final String TEMPLATE = "advisoryLockTemplate";

	@Bean
	@ConditionalOnMissingBean
	@Nullable LockSession advisoryLockSession(LockDatabaseParts parts, LockDatabase database) {
		return parts.session(database);
	}

	@Bean(TEMPLATE)
	@ConditionalOnMissingBean(AdvisoryLockOperations.class)
	PostgresAdvisoryLockTemplate advisoryLockTemplate(LockDatabases databases) {
		return databases.templates().get(0);
	}

	/**
	 * What a test may put a mock in the place of: what works for the locks themselves
	 * keeps the template.
	 */
	@Bean
	@Primary
	@ConditionalOnBean(value = PostgresAdvisoryLockTemplate.class, search = SearchStrategy.CURRENT)
	AdvisoryLockOperations advisoryLockOperations(PostgresAdvisoryLockTemplate template, LockDatabases databases) {
		return new LockDatabases.Router(template, databases);
	}

	@Bean
	LockDatabase advisoryLockDatabase(LockDatabaseParts parts) {
		return parts.database();
	}

	/**
	 * Has whatever starts runs destroyed first. Spring begins a call of a cron schedule
	 * that becomes due while the context closes, after its last phase, and destroys beans
	 * in an order in which others happen to need them: the lock of such a run was lost
	 * though its scheduler waited for it.
	 */
	@Bean
	LockDatabaseParts advisoryLockDatabaseParts(AdvisoryLockProperties properties, SingleRunnerSettings settings,
			LockScheduler.Threads threads, SingleRunnerAnnotationBeanPostProcessor postProcessor,
			ConfigurableApplicationContext context) {
		ConfigurableListableBeanFactory beanFactory = context.getBeanFactory();
		for (String executor : beanFactory.getBeanNamesForType(Executor.class, true, false)) {
			beanFactory.registerDependentBean("advisoryLockSession", executor);
			beanFactory.registerDependentBean("advisoryLockDatabases", executor);
		}
		LifecycleProperties lifecycle = context.getBeanProvider(LifecycleProperties.class)
			.getIfAvailable(LifecycleProperties::new);
		return new LockDatabaseParts(properties, settings, threads, postProcessor, context,
				new TransactionManagers(beanFactory),
				new LockLifecycle.Time(lifecycle.getTimeoutPerShutdownPhase(), threads), new AtomicReference<>(),
				new CopyOnWriteArraySet<>());
	}

	/**
	 * Is made when something asks for locks, and has everything begin that looks after
	 * them.
	 */
	@Bean
	@ConditionalOnMissingBean
	LockDatabases advisoryLockDatabases(LockDatabaseParts parts, LockDatabase lockDatabase,
			SingleRunnerStartupCheck check) {
		LockDatabases databases = parts.databases(lockDatabase, check);
		check.made(databases);
		return databases;
	}

	/**
	 * Is there once somebody asks for it, and then runs as long as its context: it is no
	 * bean of a life cycle by its declaration, which would create it in any case.
	 */
	@Bean
	@ConditionalOnMissingBean(LeaderElection.class)
	@Nullable LeaderElection advisoryLockLeaderElection(LockDatabaseParts parts, LockDatabases databases,
			LeaderOnlyMethods methods) {
		return parts.election(databases, methods);
	}

}
