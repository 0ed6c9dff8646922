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

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.jdbc.LockScheduler;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.InstancePresence;
import io.github.advisorylock.ledger.LedgerLifecycle;
import io.github.advisorylock.ledger.LedgerSettings;
import io.github.advisorylock.ledger.PostgresAdvisoryLockLedger;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.info.BuildProperties;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the ledger, the tables that
 * remember runs.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = AdvisoryLockAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
@ConditionalOnBooleanProperty(name = "advisory-lock.ledger.enabled", matchIfMissing = true)
@ConditionalOnBean(DataSource.class)
public final class AdvisoryLockLedgerAutoConfiguration {

	/**
	 * Made by whatever uses it first.
	 */
	@Bean
	@Lazy
	@ConditionalOnMissingBean(AdvisoryLockLedger.class)
	@DependsOnDatabaseInitialization
	PostgresAdvisoryLockLedger advisoryLockLedger(Ledgers ledgers, LockDatabase database,
			ObjectProvider<LedgerLifecycle> lifecycle, ObjectProvider<InstancePresence> presence) {
		PostgresAdvisoryLockLedger ledger = ledgers.ledger(database);
		ledger.whenOpen(() -> {
			lifecycle.getObject().ledgerOpened();
			presence.ifAvailable(InstancePresence::ledgerOpened);
		});
		return ledger;
	}

	@Bean
	@ConditionalOnBean(PostgresAdvisoryLockLedger.class)
	LedgerLifecycle advisoryLockLedgerLifecycle(Ledgers ledgers, ObjectProvider<PostgresAdvisoryLockLedger> ledger,
			ObjectProvider<AdvisoryLockOperations> operations, LockDatabase database) {
		return ledgers.lifecycle(ledger::getObject, operations::getIfAvailable, database);
	}

	@Bean
	@ConditionalOnBean(PostgresAdvisoryLockLedger.class)
	@ConditionalOnBooleanProperty(name = "advisory-lock.ledger.instances", matchIfMissing = true)
	InstancePresence advisoryLockInstancePresence(Ledgers ledgers, ObjectProvider<PostgresAdvisoryLockLedger> ledger,
			ObjectProvider<LeaderRoles> roles) {
		return ledgers.presence(ledger::getObject, () -> roles.getIfAvailable(() -> LeaderRoles.NONE).get());
	}

	@Bean
	@ConditionalOnBean(InstancePresence.class)
	ApplicationListener<PayloadApplicationEvent<LeadershipGainedEvent>> advisoryLockLeadershipGainedListener(
			InstancePresence presence) {
		return (event) -> presence.gained(event.getPayload().role(), event.getPayload().term());
	}

	@Bean
	@ConditionalOnBean(InstancePresence.class)
	ApplicationListener<PayloadApplicationEvent<LeadershipLostEvent>> advisoryLockLeadershipLostListener(
			InstancePresence presence) {
		return (event) -> presence.lost(event.getPayload().role());
	}

	@Bean
	@ConditionalOnBean(LedgerLifecycle.class)
	ApplicationListener<ApplicationReadyEvent> advisoryLockMissedTickListener(LedgerLifecycle lifecycle) {
		return (event) -> lifecycle.catchUp();
	}

	@Bean
	Ledgers advisoryLockLedgers(AdvisoryLockProperties lockProperties, SingleRunnerSettings settings,
			SingleRunnerAnnotationBeanPostProcessor methods, ObjectProvider<LockDatabases> databases,
			ObjectProvider<BuildProperties> build, ConfigurableApplicationContext context,
			LockScheduler.Threads threads) {
		BuildProperties properties = build.getIfUnique();
		String version = (properties != null) ? properties.getVersion()
				: context.getEnvironment().getProperty("spring.application.version");
		return new Ledgers(lockProperties.ledger(), settings, methods, databases, version, context, threads);
	}

	private static LedgerSettings settings(AdvisoryLockProperties.Ledger properties) {
		return new LedgerSettings(properties.tablePrefix(),
				properties.initializeSchema() == DatabaseInitializationMode.ALWAYS, properties.keepRuns().age(),
				properties.keepRuns().count(), properties.rememberKeys());
	}

	/**
	 * Makes the ledger of a database, and what looks after it.
	 */
	static final class Ledgers implements LockDatabases.Feature, ApplicationListener<ApplicationReadyEvent> {

		private final AdvisoryLockProperties.Ledger properties;

		private final SingleRunnerSettings settings;

		private final SingleRunnerAnnotationBeanPostProcessor methods;

		private final ObjectProvider<LockDatabases> databases;

		private final @Nullable String version;

		private final ConfigurableApplicationContext context;

		private final LockScheduler.Threads threads;

		private final List<LedgerLifecycle> lifecycles = new CopyOnWriteArrayList<>();

		private volatile boolean ready;

		Ledgers(AdvisoryLockProperties.Ledger properties, SingleRunnerSettings settings,
				SingleRunnerAnnotationBeanPostProcessor methods, ObjectProvider<LockDatabases> databases,
				@Nullable String version, ConfigurableApplicationContext context, LockScheduler.Threads threads) {
			this.properties = properties;
			this.settings = settings;
			this.methods = methods;
			this.databases = databases;
			this.version = version;
			this.context = context;
			this.threads = threads;
		}

		@Override
		public List<Object> createFor(LockDatabase database) {
			PostgresAdvisoryLockLedger ledger = ledger(database);
			LedgerLifecycle lifecycle = lifecycle(() -> ledger, database.template()::get, database);
			this.lifecycles.add(lifecycle);
			if (this.ready) {
				lifecycle.catchUp();
			}
			if (!this.properties.instances()) {
				ledger.whenOpen(lifecycle::ledgerOpened);
				return List.of(ledger, lifecycle);
			}
			InstancePresence presence = presence(() -> ledger, List::of);
			ledger.whenOpen(() -> {
				lifecycle.ledgerOpened();
				presence.ledgerOpened();
			});
			return List.of(ledger, presence, lifecycle);
		}

		private PostgresAdvisoryLockLedger ledger(LockDatabase database) {
			return new PostgresAdvisoryLockLedger(database.dataSource(), settings(this.properties),
					this.settings.namespace(), InstanceName.get(), this.methods, isIn(database), this.context,
					this.context::publishEvent);
		}

		private LedgerLifecycle lifecycle(Supplier<PostgresAdvisoryLockLedger> ledger,
				Supplier<@Nullable AdvisoryLockOperations> operations, LockDatabase database) {
			return new LedgerLifecycle(ledger, operations, this.methods, isIn(database), this.context,
					settings(this.properties), Boolean.TRUE.equals(this.properties.enabled()), this.threads);
		}

		/**
		 * Roles are those of the default database.
		 */
		private InstancePresence presence(Supplier<PostgresAdvisoryLockLedger> ledger,
				Supplier<? extends Collection<String>> roles) {
			return new InstancePresence(ledger, this.settings.namespace(), this.version, roles, this.threads);
		}

		private Predicate<SingleRunnerMethod> isIn(LockDatabase database) {
			return (method) -> this.databases.getObject().has(database, method);
		}

		@Override
		public void onApplicationEvent(ApplicationReadyEvent event) {
			this.ready = true;
			this.lifecycles.forEach(LedgerLifecycle::catchUp);
		}

	}

}
