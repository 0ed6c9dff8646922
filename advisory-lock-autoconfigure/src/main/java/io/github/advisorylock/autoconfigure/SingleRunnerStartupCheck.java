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

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.database.TransactionManagers;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Makes sure, once all beans are there, that annotated methods have got what they need
 * from the application, and has the rest of the library made if the application uses
 * locks: an application without locks is to pay nothing for them.
 */
final class SingleRunnerStartupCheck implements SmartInitializingSingleton, BiConsumer<String, SmartLifecycle> {

	private static final String SESSION_PROPERTIES = "advisory-lock.session";

	private static final String CONNECTION_FACTORY = "io.r2dbc.spi.ConnectionFactory";

	private final SingleRunnerAnnotationBeanPostProcessor postProcessor;

	private final ConfigurableListableBeanFactory beans;

	private final Environment environment;

	private volatile boolean started;

	SingleRunnerStartupCheck(SingleRunnerAnnotationBeanPostProcessor postProcessor,
			ConfigurableListableBeanFactory beans, Environment environment) {
		this.postProcessor = postProcessor;
		this.beans = beans;
		this.environment = environment;
	}

	@Override
	public void afterSingletonsInstantiated() {
		List<SingleRunnerMethod> methods = this.postProcessor.getMethods();
		boolean configured = AdvisoryLockProperties.isAnySet(this.environment);
		if (configured) {
			// binds and checks them, which an application without locks does without
			this.beans.getBean(SingleRunnerSettings.class);
			new JobOverrides(this.environment)
				.warnOfUnknown(methods.stream().map((method) -> method.operation().keyTemplate()).distinct().toList());
		}
		if (!methods.isEmpty()) {
			checkOperations(methods);
		}
		boolean used = usesLocks(methods)
				|| (configured && namesDatabase(this.beans.getBean(AdvisoryLockProperties.class)));
		LockDatabases databases = used ? provided(LockDatabases.class) : null;
		if (databases != null) {
			begin(databases);
		}
		if (used || configured || this.beans.getBeanNamesForType(LockUse.class, true, false).length > 0) {
			look(databases, this.beans.getBean(AdvisoryLockProperties.class));
		}
		this.started = true;
	}

	/**
	 * Look at the application once everything has begun.
	 */
	private void look(@Nullable LockDatabases databases, AdvisoryLockProperties properties) {
		DoctorStartupCheck doctors = new DoctorStartupCheck(this.beans, this.postProcessor, properties);
		TransactionManagers managers = (databases != null) ? managers() : null;
		if (databases != null && managers != null) {
			doctors.examine(databases, managers);
			for (LockStartup startup : own()) {
				startup.check(databases);
			}
		}
		if (properties.enabled()) {
			doctors.examine(this.environment);
		}
	}

	/**
	 * Who was given what takes locks has had it made.
	 */
	private boolean usesLocks(List<SingleRunnerMethod> methods) {
		return !methods.isEmpty() || this.beans.containsSingleton("advisoryLockDatabases") || LockUse.isAny(this.beans);
	}

	/**
	 * Who says in properties where locks are wants to hear at the start if that is wrong.
	 */
	private static boolean namesDatabase(AdvisoryLockProperties properties) {
		return Boolean.TRUE.equals(properties.ledger().enabled()) || properties.transactionManager() != null
				|| properties.session().url() != null || !properties.databases().isEmpty();
	}

	/**
	 * Have all features begin at once if databases are made later than at the start.
	 */
	void made(LockDatabases databases) {
		if (this.started) {
			begin(databases);
		}
	}

	private void begin(LockDatabases databases) {
		for (LockStartup startup : own()) {
			startup.begin(databases, this);
		}
	}

	/**
	 * Have the context start and stop what is made only when something asks for locks.
	 * Spring makes each bean that is declared as a SmartLifecycle, even a lazy one. The
	 * context itself starts what is there before it has started.
	 */
	@Override
	public void accept(String name, SmartLifecycle lifecycle) {
		this.beans.registerSingleton(name, lifecycle);
		if (this.started) {
			lifecycle.start();
		}
	}

	private <T> @Nullable T provided(Class<T> type) {
		return this.beans.getBeanProvider(type).getIfAvailable();
	}

	private @Nullable TransactionManagers managers() {
		LockDatabaseParts parts = provided(LockDatabaseParts.class);
		return (parts != null) ? parts.managers() : null;
	}

	/**
	 * Those of a parent context have begun there. They come in the order of their
	 * definitions: what chooses the databases, then the features.
	 */
	private List<LockStartup> own() {
		List<LockStartup> own = new ArrayList<>();
		for (String name : this.beans.getBeanNamesForType(LockStartup.class, true, false)) {
			own.add(this.beans.getBean(name, LockStartup.class));
		}
		return own;
	}

	private void checkOperations(List<SingleRunnerMethod> methods) {
		AdvisoryLockOperations available = provided(AdvisoryLockOperations.class);
		if (available == null) {
			throw missingDataSource(methods.get(0));
		}
		LockDatabases databases = (available instanceof LockDatabases.Router) ? provided(LockDatabases.class) : null;
		TransactionManagers managers = (databases != null) ? managers() : null;
		if (databases != null && managers != null) {
			TransactionStartupCheck transactions = new TransactionStartupCheck(managers);
			Map<List<String>, Place> places = new HashMap<>();
			for (SingleRunnerMethod method : methods) {
				Place place = new Place(method, check(method, databases, transactions));
				Place first = places.putIfAbsent(List.of(method.namespace(), method.operation().keyTemplate()), place);
				checkSharedKey(place, (first != null) ? first : place);
			}
		}
	}

	/**
	 * Spring Boot makes no DataSource, whatever its properties say, in an application
	 * that has a ConnectionFactory of R2DBC.
	 */
	private InvalidSingleRunnerException missingDataSource(SingleRunnerMethod method) {
		String instead = "in a test, annotate its class with @AutoConfigureInMemoryLocks of advisory-lock-test, or set "
				+ "'advisory-lock.enabled' to false to run methods without locks.";
		List<String> reactive = connectionFactories();
		return reactive.isEmpty()
				? missing(method, "needs a DataSource, and there is none",
						"Configure 'spring.datasource.url'; " + instead)
				: missing(method,
						"needs a DataSource, and there is none: Spring Boot makes none beside the R2DBC "
								+ "ConnectionFactory of bean '" + reactive.get(0) + "'",
						"Put @Import(DataSourceAutoConfiguration.class) on a configuration class of the application, so "
								+ "that Spring Boot makes one of 'spring.datasource.url' all the same, or define a DataSource "
								+ "bean; " + instead);
	}

	private List<String> connectionFactories() {
		ClassLoader classLoader = this.postProcessor.getClass().getClassLoader();
		return ClassUtils.isPresent(CONNECTION_FACTORY, classLoader) ? List.of(this.beans
			.getBeanNamesForType(ClassUtils.resolveClassName(CONNECTION_FACTORY, classLoader), true, false))
				: List.of();
	}

	private static LockDatabase check(SingleRunnerMethod method, LockDatabases databases,
			TransactionStartupCheck transactions) {
		LockDatabase database = find(method, databases);
		PostgresAdvisoryLockTemplate template = database.template().get();
		if (template != null) {
			checkScope(method, template, databases.isDefault(database) ? SESSION_PROPERTIES
					: "advisory-lock.databases." + database.name() + ".session", transactions);
			transactions.check(method, database);
		}
		return database;
	}

	/**
	 * Who lets two methods have one key wants them to exclude each other, which locks in
	 * two databases don't.
	 */
	private static void checkSharedKey(Place place, Place first) {
		SingleRunnerMethod method = place.method();
		if (!place.database().isOn(first.database().dataSource())) {
			throw missing(method, "has the same 'key' as " + first.method() + ", '" + method.operation().keyTemplate()
					+ "', and 'allowSharedKey' does not make them exclude each other: its lock is in the database "
					+ "of transaction manager '" + place.database().name()
					+ "', that of the other one in the database of '" + first.database().name() + "'",
					"Name the same 'transactionManager' on both, in scope SESSION if their work is in two databases, or "
							+ "give each method its own 'key'.");
		}
	}

	/**
	 * Find the database of the locks of a method, which is named by that if it is not the
	 * default one.
	 */
	private static LockDatabase find(SingleRunnerMethod method, LockDatabases databases) {
		LockDatabase named = TransactionManagers.named(method,
				(manager, said) -> said ? databases.of(manager) : databases.ofTransactions(manager));
		return (named != null) ? named : databases.of(null);
	}

	private static void checkScope(SingleRunnerMethod method, PostgresAdvisoryLockTemplate template,
			String sessionProperties, TransactionStartupCheck transactions) {
		LockScope scope = method.operation().scope();
		if (template.supports(scope)) {
			checkMaxRun(method, template, sessionProperties);
			return;
		}
		throw (scope == LockScope.TRANSACTION) ? transactions.missingManager(method)
				: missing(method,
						"needs a connection of its own for attribute 'scope' SESSION, and the DataSource does "
								+ "not tell its URL",
						"Set '" + sessionProperties + ".url', 'username' and 'password'.");
	}

	/**
	 * What ends a run is the session, in either scope.
	 */
	private static void checkMaxRun(SingleRunnerMethod method, PostgresAdvisoryLockTemplate template,
			String sessionProperties) {
		Duration maxRun = method.operation().maxRun();
		if (maxRun != null && !template.supports(LockScope.SESSION)) {
			throw missing(method,
					"needs a connection of the library's own for attribute 'maxRun' (" + maxRun
							+ "), and the DataSource does not tell its URL",
					"Set '" + sessionProperties
							+ ".url', 'username' and 'password', or remove 'maxRun' and 'max-run' of the job.");
		}
	}

	private static InvalidSingleRunnerException missing(SingleRunnerMethod method, String problem, String action) {
		return new InvalidSingleRunnerException(method.beanName(), method.method(), problem, action, null);
	}

	/**
	 * A method, and the database that has its lock.
	 */
	private record Place(SingleRunnerMethod method, LockDatabase database) {

	}

}
