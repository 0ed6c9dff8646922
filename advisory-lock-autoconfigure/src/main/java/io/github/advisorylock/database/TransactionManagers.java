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

package io.github.advisorylock.database;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * The transaction managers of the application, found by name or qualifier as
 * {@code @Transactional} finds them, and the DataSources of their transactions.
 *
 * @since 0.1.0
 */
public final class TransactionManagers {

	private static final boolean JPA_PRESENT = ClassUtils.isPresent("org.springframework.orm.jpa.JpaTransactionManager",
			TransactionManagers.class.getClassLoader());

	private static final List<String> TENANTS = List.of("sessionFactoryOptions.multiTenancyEnabled",
			"sessionFactoryOptions.currentTenantIdentifierResolver");

	private static final List<String> CONNECTIONS = List.of("sessionFactoryOptions.physicalConnectionHandlingMode");

	private final ConfigurableListableBeanFactory beanFactory;

	private final AnnotationTransactionAttributeSource transactional = new AnnotationTransactionAttributeSource(false);

	/**
	 * Create managers.
	 * @param beanFactory has the beans
	 */
	public TransactionManagers(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.transactional.setEmbeddedValueResolver(new EmbeddedValueResolver(beanFactory));
	}

	/**
	 * Return the only or primary manager that a lock can live in a transaction of. A
	 * reactive one beside it is none.
	 * @return the manager, {@code null} if there is none, or nothing tells which
	 */
	public @Nullable PlatformTransactionManager unique() {
		return this.beanFactory.getBeanProvider(PlatformTransactionManager.class).getIfUnique();
	}

	/**
	 * Find something by the manager that a method names.
	 * @param method the method
	 * @param search is given the name, and whether {@code @SingleRunner} says it
	 * @param <T> what to find
	 * @return what was found, {@code null} if the method names no manager
	 * @throws InvalidSingleRunnerException if it can't be found
	 */
	public static <T> @Nullable T named(SingleRunnerMethod method, BiFunction<String, Boolean, T> search) {
		String manager = method.operation().transactionManager();
		if (manager == null) {
			return null;
		}
		SingleRunner annotation = AnnotatedElementUtils.findMergedAnnotation(method.method(), SingleRunner.class);
		boolean said = annotation != null && StringUtils.hasText(annotation.transactionManager());
		try {
			return search.apply(manager, said);
		}
		catch (AdvisoryLockConfigurationException ex) {
			throw new InvalidSingleRunnerException(method.beanName(), method.method(),
					"is unusable: " + (said ? "attribute 'transactionManager'" : "the manager of its @Transactional")
							+ " is '" + manager + "': " + ex.getMessage(),
					ex.getAction(), ex);
		}
	}

	/**
	 * Return what the {@code @Transactional} of a method says.
	 * @param method the method
	 * @return its attributes, {@code null} if there is none
	 */
	public @Nullable TransactionAttribute transactionalOf(SingleRunnerMethod method) {
		return this.transactional.getTransactionAttribute(method.method(), method.method().getDeclaringClass());
	}

	/**
	 * Return the manager of the transactions that a method runs in where its caller has
	 * begun none: that of its {@code @Transactional}, else that of its lock.
	 * @param method the method
	 * @param database has its lock
	 * @return the manager, {@code null} if there is none, or that is for the application
	 * to say
	 * @throws AdvisoryLockConfigurationException if Spring can't find one either, or one
	 * that begins no transaction on the thread of a call
	 */
	public @Nullable PlatformTransactionManager of(SingleRunnerMethod method, LockDatabase database) {
		TransactionAttribute transactional = transactionalOf(method);
		String named = method.operation().transactionManager();
		return (transactional != null) ? ofTransactional(transactional, method)
				: (named != null) ? get(named) : database.transactionManager();
	}

	/**
	 * A qualifier of the class that is that of a manager counts where the annotation has
	 * none.
	 */
	private @Nullable PlatformTransactionManager ofTransactional(TransactionAttribute transactional,
			SingleRunnerMethod method) {
		String qualifier = transactional.getQualifier();
		if (StringUtils.hasText(qualifier)) {
			return get(qualifier);
		}
		Class<?> type = this.beanFactory.containsBean(method.beanName())
				? AutoProxyUtils.determineTargetClass(this.beanFactory, method.beanName()) : null;
		String ofClass = (type != null) ? BeanFactoryAnnotationUtils.getQualifierValue(ClassUtils.getUserClass(type))
				: null;
		if (StringUtils.hasText(ofClass) && find(ofClass) != null) {
			return get(ofClass);
		}
		return isChosenByApplication() ? null : ofTransactional();
	}

	private boolean isChosenByApplication() {
		return this.beanFactory.getBeanNamesForType(TransactionManagementConfigurer.class).length > 0
				|| this.beanFactory.getBeanProvider(TransactionAspectSupport.class)
					.stream()
					.anyMatch((interceptor) -> interceptor.getTransactionManager() != null);
	}

	/**
	 * Spring looks among managers of both kinds, where anything makes transactions of the
	 * annotation at all.
	 */
	private @Nullable PlatformTransactionManager ofTransactional() {
		if (this.beanFactory.getBeanNamesForType(TransactionAspectSupport.class).length == 0) {
			return unique();
		}
		TransactionManager manager = this.beanFactory.getBeanProvider(TransactionManager.class).getIfUnique();
		List<String> names = List.of(this.beanFactory.getBeanNamesForType(TransactionManager.class));
		if (manager == null && !names.isEmpty()) {
			throw new AdvisoryLockConfigurationException(
					"its @Transactional names no transaction manager, and Spring can't choose between " + names,
					"Name the one that manages the DataSource of its work, " + example()
							+ ", or mark that one as @Primary.");
		}
		if (manager instanceof ReactiveTransactionManager) {
			throw reactive("its @Transactional names no transaction manager, and the only or primary one, '"
					+ names.stream().filter((name) -> this.beanFactory.getBean(name) == manager).findFirst().orElse("")
					+ "',");
		}
		return (manager instanceof PlatformTransactionManager platform) ? platform : null;
	}

	private AdvisoryLockConfigurationException reactive(String problem) {
		return new AdvisoryLockConfigurationException(
				problem + " is a reactive one, which begins no transaction for a method that returns no reactive type",
				"Name the one that manages the DataSource of its work, " + example() + ".");
	}

	private String example() {
		return "as in @Transactional(\"" + all().findFirst().orElse("transactionManager") + "\")";
	}

	/**
	 * Return the names of the reactive managers, which no lock can live in a transaction
	 * of.
	 * @return the names of the beans
	 */
	public List<String> reactiveNames() {
		return List.of(this.beanFactory.getBeanNamesForType(ReactiveTransactionManager.class));
	}

	/**
	 * Return a manager.
	 * @param name the name of the bean, or a qualifier
	 * @return the manager
	 * @throws AdvisoryLockConfigurationException if there is none
	 */
	public PlatformTransactionManager get(String name) {
		String beanName = find(name);
		if (beanName == null && this.beanFactory.containsBean(name)
				&& this.beanFactory.isTypeMatch(name, ReactiveTransactionManager.class)) {
			throw reactive("Transaction manager '" + name + "'");
		}
		if (beanName == null) {
			throw new AdvisoryLockConfigurationException(
					"There is no transaction manager '" + name + "', there is " + names(),
					"Name one of those, or define a bean of that name.");
		}
		return this.beanFactory.getBean(beanName, PlatformTransactionManager.class);
	}

	private @Nullable String find(String name) {
		if (this.beanFactory.containsBean(name)) {
			return this.beanFactory.isTypeMatch(name, PlatformTransactionManager.class) ? name : null;
		}
		return all().filter((bean) -> BeanFactoryAnnotationUtils.isQualifierMatch(name::equals, bean, this.beanFactory))
			.findFirst()
			.orElse(null);
	}

	private Stream<String> all() {
		return Arrays.stream(this.beanFactory.getBeanNamesForType(PlatformTransactionManager.class));
	}

	/**
	 * Return the name of the bean that a property is about. What stands in a variable of
	 * the environment has lost its capital letters.
	 * @param name what the property is about
	 * @return the name of a bean where there is one, else the same name
	 */
	public String resembling(String name) {
		return all().filter((bean) -> bean.equals(name))
			.findFirst()
			.or(() -> all().filter((bean) -> uniform(bean).equals(uniform(name))).findFirst())
			.orElse(name);
	}

	/**
	 * Return a name as it is compared with those of properties.
	 * @param name the name
	 * @return the name without what an environment variable has no room for
	 */
	public static String uniform(String name) {
		return name.replaceAll("[^A-Za-z0-9]", "").toLowerCase(Locale.ROOT);
	}

	/**
	 * Return the name of the bean that a manager is.
	 * @param manager the manager, {@code null} if there is none
	 * @return the name, {@code default} if it is not known
	 */
	public String nameOf(@Nullable PlatformTransactionManager manager) {
		return all().filter((bean) -> manager != null && this.beanFactory.getBean(bean) == manager)
			.findFirst()
			.orElse("default");
	}

	/**
	 * Return the DataSource that the transactions of a manager are on.
	 * @param manager the manager
	 * @return the DataSource, {@code null} if the manager does not tell
	 */
	public @Nullable DataSource dataSourceOf(PlatformTransactionManager manager) {
		if (manager instanceof ResourceTransactionManager resourceManager
				&& resourceManager.getResourceFactory() instanceof DataSource dataSource) {
			return dataSource;
		}
		return JPA_PRESENT ? Jpa.dataSourceOf(manager) : null;
	}

	/**
	 * Return whether the transactions of a manager are each for one tenant, the current
	 * one when they begin, as Hibernate knows it: by its connection or by a column.
	 * Hibernate need not be there.
	 * @param manager the manager
	 * @return {@code true} if its entity manager factory has tenants
	 */
	public boolean haveTenants(PlatformTransactionManager manager) {
		return !List.of(false).containsAll(optionsOf(manager, TENANTS));
	}

	/**
	 * Return whether the transactions of a manager give their connection back before they
	 * end, and with it what PostgreSQL keeps until then.
	 * @param manager the manager
	 * @return {@code true} if Hibernate is told to release connections early
	 */
	public boolean releaseEarly(PlatformTransactionManager manager) {
		String mode = optionsOf(manager, CONNECTIONS).toString();
		return mode.contains("RELEASE_AFTER_STATEMENT") || mode.contains("RELEASE_BEFORE_TRANSACTION");
	}

	private static List<Object> optionsOf(PlatformTransactionManager manager, List<String> names) {
		if (!(manager instanceof ResourceTransactionManager resourceManager)
				|| resourceManager.getResourceFactory() instanceof DataSource) {
			return List.of();
		}
		BeanWrapper factory = PropertyAccessorFactory.forBeanPropertyAccess(resourceManager.getResourceFactory());
		return names.stream()
			.filter(factory::isReadableProperty)
			.flatMap((name) -> Stream.ofNullable(factory.getPropertyValue(name)))
			.toList();
	}

	/**
	 * Return whether there are several DataSources.
	 * @return {@code true} if it matters which one is meant
	 */
	public boolean haveSeveralDataSources() {
		return this.beanFactory.getBeanNamesForType(DataSource.class).length > 1;
	}

	/**
	 * Return whether a manager has its transactions in another database, so that there
	 * may be locks in it as soon as somebody names the manager.
	 * @param database the database of what names none
	 * @return {@code true} if there is such a manager
	 */
	public boolean haveOtherThan(LockDatabase database) {
		return all().map((bean) -> dataSourceOf(this.beanFactory.getBean(bean, PlatformTransactionManager.class)))
			.anyMatch((dataSource) -> dataSource != null && !database.isOn(dataSource));
	}

	/**
	 * Return what to say of a manager that does not tell.
	 * @param manager the manager
	 * @return the exception to throw
	 */
	public AdvisoryLockConfigurationException unknownDataSource(PlatformTransactionManager manager) {
		return new AdvisoryLockConfigurationException(
				"Advisory locks can't tell which of the DataSources " + dataSourceNames() + " the transactions of "
						+ manager.getClass().getName() + " are on",
				"Set 'advisory-lock.transaction-manager' to the name of the transaction manager of the DataSource that "
						+ "holds the locks.");
	}

	/**
	 * Return the names of the managers.
	 * @return the names of the beans
	 */
	public List<String> names() {
		return all().toList();
	}

	/**
	 * Return the names of the DataSources.
	 * @return the names of the beans
	 */
	public List<String> dataSourceNames() {
		return List.of(this.beanFactory.getBeanNamesForType(DataSource.class));
	}

	/**
	 * Whose transactions are on a DataSource of the entity manager factory.
	 */
	private static final class Jpa {

		private static @Nullable DataSource dataSourceOf(PlatformTransactionManager manager) {
			return (manager instanceof JpaTransactionManager jpa) ? jpa.getDataSource() : null;
		}

	}

}
