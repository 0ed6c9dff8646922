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

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.PlaceholdersResolver;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.ScheduledAnnotationBeanPostProcessor;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;

/**
 * Has a doctor look at the application, and at each database that is named at start-up.
 */
record DoctorStartupCheck(ConfigurableListableBeanFactory beans, SingleRunnerAnnotationBeanPostProcessor postProcessor,
		AdvisoryLockProperties properties) {

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

	/**
	 * Look at what can be seen without a database.
	 */
	void examine(Environment environment) {
		List<String> unguarded = new ArrayList<>();
		for (LockUse use : this.beans.getBeanProvider(LockUse.class)) {
			unguarded.addAll(use.unguarded());
		}
		boolean chosen = this.properties.namespace() != null;
		new ApplicationDoctor(this.beans, this.postProcessor, unguarded, () -> LockUse.isAny(this.beans), chosen,
				textOf(chosen ? "advisory-lock.namespace" : "spring.application.name", environment),
				this.properties.doctor().everyInstance(), this.properties.doctor())
			.examine();
	}

	/**
	 * Return the text of a property with its placeholders.
	 */
	private static String textOf(String property, Environment environment) {
		return new Binder(ConfigurationPropertySources.get(environment), PlaceholdersResolver.NONE)
			.bind(property, String.class)
			.orElse("");
	}

	/**
	 * Look at databases.
	 */
	void examine(LockDatabases databases, TransactionManagers managers) {
		for (LockDatabase database : databases.all()) {
			PostgresAdvisoryLockTemplate template = databases.isNamed(database) ? database.template().get() : null;
			if (template != null) {
				doctorOf(database, template, databases, managers).examine();
			}
		}
	}

	private LockDoctor doctorOf(LockDatabase database, PostgresAdvisoryLockTemplate template, LockDatabases databases,
			TransactionManagers managers) {
		DataSource dataSource = database.dataSource();
		DataSourcePoolMetadata pool = new CompositeDataSourcePoolMetadataProvider(
				all(DataSourcePoolMetadataProvider.class))
			.getDataSourcePoolMetadata(dataSource);
		boolean isDefault = databases.isDefault(database);
		List<SingleRunnerMethod> methods = new ArrayList<>();
		for (SingleRunnerMethod method : this.postProcessor.getMethods()) {
			if (databases.has(database, method)) {
				methods.add(method);
			}
		}
		CheckContext context = new CheckContext(methods, isDefault ? otherUses() : OtherUses.NONE, template, dataSource,
				(method) -> transactionOf(method, database, managers), database.transactionManager(),
				routeOf(dataSource), (pool != null) ? pool.getMax() : null, database.session().get(),
				this.properties.sessionPropertiesOf(isDefault ? null : database.name()),
				this.properties.session().toSettings(), this.properties.maxHeldLocks(),
				(method) -> hasTenants(method, database, managers));
		String place = databases.others().isEmpty() ? ""
				: "Database of transaction manager '" + database.name() + "': ";
		return new LockDoctor(context, all(ThreadPoolTaskScheduler.class), all(SimpleAsyncTaskScheduler.class),
				!all(ScheduledAnnotationBeanPostProcessor.class).isEmpty(), this.properties.doctor(), place);
	}

	private <T> List<T> all(Class<T> type) {
		return this.beans.getBeanProvider(type).orderedStream().toList();
	}

	private OtherUses otherUses() {
		Set<LockScope> scopes = EnumSet.noneOf(LockScope.class);
		if (!this.beans.getBean(LeaderOnlyMethods.class).getRoles().isEmpty()
				|| LockUse.isInjected(this.beans, "advisoryLockLeaderElection")) {
			scopes.add(LockScope.SESSION);
		}
		for (LockUse use : this.beans.getBeanProvider(LockUse.class)) {
			scopes.addAll(use.scopes());
		}
		return new OtherUses(scopes, LockUse.isInjected(this.beans, "advisoryLockOperations", "advisoryLockTemplate"));
	}

	/**
	 * Where the application chooses the manager, that of the locks is looked at.
	 */
	private CheckContext.@Nullable MethodTransaction transactionOf(SingleRunnerMethod method, LockDatabase database,
			TransactionManagers managers) {
		TransactionAttribute transactional = managers.transactionalOf(method);
		PlatformTransactionManager chosen = managers.of(method, database);
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

	private boolean hasTenants(SingleRunnerMethod method, LockDatabase database, TransactionManagers managers) {
		String name = method.operation().transactionManager();
		PlatformTransactionManager manager = (name != null) ? managers.get(name) : database.transactionManager();
		return SessionDataSource.isRouting(database.dataSource()) || (manager != null && managers.haveTenants(manager));
	}

}
