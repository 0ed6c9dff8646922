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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.database.TransactionManagers;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.EmbeddedValueResolverAware;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.Environment;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;
import org.springframework.util.function.SingletonSupplier;

/**
 * Makes sure, once all beans are there, that annotated methods have got what they need
 * from the application.
 */
final class SingleRunnerStartupCheck implements SmartInitializingSingleton, EmbeddedValueResolverAware {

	private static final String SESSION_PROPERTIES = "advisory-lock.session";

	private final SingleRunnerAnnotationBeanPostProcessor postProcessor;

	private final ObjectProvider<AdvisoryLockOperations> operations;

	/**
	 * Asked for each method, where looking for a bean would be most of the work.
	 */
	private final Supplier<@Nullable LockDatabases> databases;

	private final Supplier<@Nullable TransactionManagers> managers;

	private final JobOverrides<?> overrides;

	private final AnnotationTransactionAttributeSource transactions = new AnnotationTransactionAttributeSource(false);

	SingleRunnerStartupCheck(SingleRunnerAnnotationBeanPostProcessor postProcessor,
			ObjectProvider<AdvisoryLockOperations> operations, ObjectProvider<LockDatabases> databases,
			ObjectProvider<TransactionManagers> managers, Environment environment) {
		this.postProcessor = postProcessor;
		this.operations = operations;
		this.databases = SingletonSupplier.ofNullable(databases::getIfAvailable);
		this.managers = SingletonSupplier.ofNullable(managers::getIfAvailable);
		this.overrides = AdvisoryLockProperties.overrides(environment);
	}

	@Override
	public void setEmbeddedValueResolver(StringValueResolver resolver) {
		this.transactions.setEmbeddedValueResolver(resolver);
	}

	@Override
	public void afterSingletonsInstantiated() {
		List<SingleRunnerMethod> methods = this.postProcessor.getMethods();
		this.overrides.check(methods.stream().map((method) -> method.operation().keyTemplate()).distinct().toList());
		if (!methods.isEmpty()) {
			checkOperations(methods);
		}
	}

	private void checkOperations(List<SingleRunnerMethod> methods) {
		AdvisoryLockOperations available = this.operations.getIfAvailable();
		if (available == null) {
			throw missing(methods.get(0), "needs a DataSource, and there is none",
					"Configure 'spring.datasource.url'; in a test, annotate its class with @AutoConfigureInMemoryLocks of "
							+ "advisory-lock-test, or set 'advisory-lock.enabled' to false to run methods without locks.");
		}
		if (available instanceof PostgresAdvisoryLockTemplate template) {
			Map<List<String>, Place> places = new HashMap<>();
			for (SingleRunnerMethod method : methods) {
				LockDatabase database = check(method, template);
				if (database != null) {
					Place place = new Place(method, database);
					List<String> key = List.of(method.namespace(), method.operation().keyTemplate());
					checkSharedKey(place, places.computeIfAbsent(key, (none) -> place));
				}
			}
		}
	}

	private @Nullable LockDatabase check(SingleRunnerMethod method, PostgresAdvisoryLockTemplate template) {
		LockDatabase database = findDatabase(method);
		if (database == null) {
			checkScope(method, template, SESSION_PROPERTIES);
			return null;
		}
		PostgresAdvisoryLockTemplate own = database.template().get();
		checkScope(method, (own != null) ? own : template, sessionProperties(database));
		if (method.operation().scope() == LockScope.TRANSACTION) {
			checkTransaction(method, database);
		}
		return database;
	}

	private String sessionProperties(LockDatabase database) {
		LockDatabases databases = this.databases.get();
		return (databases == null || databases.isDefault(database)) ? SESSION_PROPERTIES
				: "advisory-lock.databases." + database.name() + ".session";
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
	 * Find the database of the locks of a method, which is made ready if it is not the
	 * default one.
	 * @return the database, {@code null} where the application takes care of that itself
	 */
	private @Nullable LockDatabase findDatabase(SingleRunnerMethod method) {
		LockDatabases databases = this.databases.get();
		String manager = method.operation().transactionManager();
		if (databases == null || manager == null) {
			return (databases != null) ? databases.of(null) : null;
		}
		SingleRunner annotation = AnnotatedElementUtils.findMergedAnnotation(method.method(), SingleRunner.class);
		boolean said = annotation != null && StringUtils.hasText(annotation.transactionManager());
		try {
			return said ? databases.of(manager) : databases.ofTransactions(manager);
		}
		catch (AdvisoryLockConfigurationException ex) {
			throw new InvalidSingleRunnerException(method.beanName(), method.method(),
					"is unusable: " + (said ? "attribute 'transactionManager'" : "the manager of its @Transactional")
							+ " is '" + manager + "': " + ex.getProblem(),
					ex.getAction(), ex);
		}
	}

	/**
	 * A lock can't live in a transaction of another database than its own.
	 */
	private void checkTransaction(SingleRunnerMethod method, LockDatabase database) {
		TransactionAttribute transaction = this.transactions.getTransactionAttribute(method.method(),
				method.method().getDeclaringClass());
		TransactionManagers managers = this.managers.get();
		if (transaction == null || managers == null) {
			return;
		}
		String qualifier = transaction.getQualifier();
		PlatformTransactionManager manager = StringUtils.hasText(qualifier) ? managers.get(qualifier)
				: managers.ofTransactional();
		DataSource dataSource = (manager != null) ? managers.dataSourceOf(manager) : null;
		if (dataSource != null && !database.isOn(dataSource)) {
			throw missing(method,
					"has its lock in the database of transaction manager '" + database.name()
							+ "', and its @Transactional begins transactions of '" + managers.nameOf(manager)
							+ "', which is another one: attributes 'transactionManager' contradict each other",
					"Name the same transaction manager in both, as in @Transactional(\"" + database.name()
							+ "\"), or set 'scope' to SESSION.");
		}
	}

	private static void checkScope(SingleRunnerMethod method, PostgresAdvisoryLockTemplate template,
			String sessionProperties) {
		LockScope scope = method.operation().scope();
		if (template.supports(scope)) {
			checkMaxRun(method, template, sessionProperties);
			return;
		}
		throw (scope == LockScope.TRANSACTION) ? missing(method,
				"needs a transaction manager for attribute 'scope' TRANSACTION, and there is no single " + "one",
				"Set 'advisory-lock.transaction-manager' to the name of the one that manages the DataSource of the "
						+ "locks, or 'scope' to SESSION.")
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
