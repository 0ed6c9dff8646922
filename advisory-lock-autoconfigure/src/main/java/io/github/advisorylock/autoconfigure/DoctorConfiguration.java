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

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.connection.SessionDataSource;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.database.TransactionManagers;
import io.github.advisorylock.doctor.ApplicationDoctor;
import io.github.advisorylock.doctor.CheckContext;
import io.github.advisorylock.doctor.CheckContext.OtherUses;
import io.github.advisorylock.doctor.LockDoctor;
import io.github.advisorylock.doctor.LongHoldWatcher;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.ScheduledAnnotationBeanPostProcessor;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.function.SingletonSupplier;

/**
 * The doctor, who looks at database and application once at start-up.
 */
@Lazy
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
class DoctorConfiguration {

	/**
	 * Looks at what can be seen without a database.
	 */
	@Bean
	static ApplicationCheck advisoryLockApplicationDoctor(ConfigurableListableBeanFactory beanFactory,
			SingleRunnerAnnotationBeanPostProcessor postProcessor, ObjectProvider<LockUse> uses,
			AdvisoryLockProperties properties, Environment environment) {
		List<String> unguarded = new ArrayList<>();
		for (LockUse use : uses) {
			unguarded.addAll(use.unguarded());
		}
		return new ApplicationDoctor(beanFactory, postProcessor, unguarded, () -> LockUse.isAny(beanFactory),
				properties.namespace() != null,
				textOf((properties.namespace() != null) ? "advisory-lock.namespace" : "spring.application.name",
						environment),
				properties.doctor().everyInstance(), properties.doctor()::of)::examine;
	}

	/**
	 * Is asked for where there are databases.
	 */
	@Bean
	LockStartup advisoryLockDoctors(SingleRunnerAnnotationBeanPostProcessor postProcessor,
			ConfigurableListableBeanFactory beanFactory, LeaderOnlyMethods roles, ObjectProvider<LockUse> uses,
			AdvisoryLockProperties properties, TransactionManagers managers,
			ObjectProvider<DataSourcePoolMetadataProvider> metadata, ObjectProvider<ThreadPoolTaskScheduler> schedulers,
			ObjectProvider<SimpleAsyncTaskScheduler> simpleSchedulers,
			ObjectProvider<ScheduledAnnotationBeanPostProcessor> scheduling) {
		Supplier<OtherUses> others = SingletonSupplier.of(() -> Doctors.otherUses(beanFactory, roles, uses));
		return new Doctors(postProcessor, others, properties, managers, metadata, schedulers, simpleSchedulers,
				scheduling);
	}

	/**
	 * Return the text of a property with its placeholders.
	 */
	private static String textOf(String property, Environment environment) {
		ConfigurationPropertyName name = ConfigurationPropertyName.of(property);
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			ConfigurationProperty found = source.getConfigurationProperty(name);
			if (found != null) {
				return String.valueOf(found.getValue());
			}
		}
		return "";
	}

	/**
	 * Has a doctor look at each database that is named at start-up. What has to do with
	 * locks is here, as Spring reads all methods of a configuration.
	 */
	record Doctors(SingleRunnerAnnotationBeanPostProcessor postProcessor, Supplier<OtherUses> others,
			AdvisoryLockProperties properties, TransactionManagers managers,
			ObjectProvider<DataSourcePoolMetadataProvider> metadata, ObjectProvider<ThreadPoolTaskScheduler> schedulers,
			ObjectProvider<SimpleAsyncTaskScheduler> simpleSchedulers,
			ObjectProvider<ScheduledAnnotationBeanPostProcessor> scheduling) implements LockStartup {

		/**
		 * Return what refuses servers on which session locks guard nothing.
		 */
		static ServerJudge judge(AdvisoryLockProperties properties) {
			return LockDoctor.judge(properties.doctor().switchedOff());
		}

		/**
		 * Return what warns of locks that are held for long.
		 */
		static SmartLifecycle longHolds(List<PostgresAdvisoryLockTemplate> templates, AdvisoryLockProperties properties,
				LockScheduler.Threads threads) {
			return new LongHoldWatcher(templates, properties.doctor().checkedLongHold(), threads);
		}

		private static OtherUses otherUses(ConfigurableListableBeanFactory beans, LeaderOnlyMethods roles,
				ObjectProvider<LockUse> uses) {
			Set<LockScope> scopes = EnumSet.noneOf(LockScope.class);
			if (!roles.getRoles().isEmpty() || LockUse.isInjected(beans, "advisoryLockLeaderElection")) {
				scopes.add(LockScope.SESSION);
			}
			for (LockUse use : uses) {
				scopes.addAll(use.scopes());
			}
			return new OtherUses(scopes, LockUse.isInjected(beans, "advisoryLockOperations", "advisoryLockTemplate"));
		}

		@Override
		public void check(LockDatabases databases) {
			for (LockDatabase database : databases.all()) {
				PostgresAdvisoryLockTemplate template = databases.isNamed(database) ? database.template().get() : null;
				if (template != null) {
					doctorOf(database, template, databases).examine();
				}
			}
		}

		private LockDoctor doctorOf(LockDatabase database, PostgresAdvisoryLockTemplate template,
				LockDatabases databases) {
			DataSource dataSource = database.dataSource();
			DataSourcePoolMetadata pool = new CompositeDataSourcePoolMetadataProvider(
					this.metadata.orderedStream().toList())
				.getDataSourcePoolMetadata(dataSource);
			boolean isDefault = databases.isDefault(database);
			List<SingleRunnerMethod> methods = new ArrayList<>();
			for (SingleRunnerMethod method : this.postProcessor.getMethods()) {
				if (databases.has(database, method)) {
					methods.add(method);
				}
			}
			CheckContext context = new CheckContext(() -> methods, isDefault ? this.others : () -> OtherUses.NONE,
					template, dataSource, (method) -> transactionOf(method, database), database.transactionManager(),
					routeOf(dataSource), (pool != null) ? pool.getMax() : null, database.session().get(),
					this.properties.sessionPropertiesOf(isDefault ? null : database.name()),
					this.properties.session().toSettings(), this.properties.maxHeldLocks(),
					(method) -> hasTenants(method, database));
			String place = databases.others().isEmpty() ? ""
					: "Database of transaction manager '" + database.name() + "': ";
			return new LockDoctor(context, this.schedulers.stream().toList(), this.simpleSchedulers.stream().toList(),
					this.scheduling.stream().findAny().isPresent(), this.properties.doctor()::of, place);
		}

		/**
		 * Where the application chooses the manager, that of the locks is looked at.
		 */
		private CheckContext.@Nullable MethodTransaction transactionOf(SingleRunnerMethod method,
				LockDatabase database) {
			TransactionAttribute transactional = this.managers.transactionalOf(method);
			PlatformTransactionManager chosen = this.managers.of(method, database);
			PlatformTransactionManager manager = (chosen != null) ? chosen : database.transactionManager();
			TransactionDefinition definition = (transactional != null) ? transactional
					: TransactionDefinition.withDefaults();
			return (manager != null) ? new CheckContext.MethodTransaction(manager, definition, transactional != null)
					: null;
		}

		private static CheckContext.Route routeOf(DataSource dataSource) {
			return SessionDataSource.isRouting(dataSource) ? CheckContext.Route.ROUTED
					: SessionDataSource.opensByUrl(dataSource) ? CheckContext.Route.URL : CheckContext.Route.UNKNOWN;
		}

		private boolean hasTenants(SingleRunnerMethod method, LockDatabase database) {
			String name = method.operation().transactionManager();
			PlatformTransactionManager manager = (name != null) ? this.managers.get(name)
					: database.transactionManager();
			return SessionDataSource.isRouting(database.dataSource())
					|| (manager != null && this.managers.haveTenants(manager));
		}

	}

}
