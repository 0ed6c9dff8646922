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

import java.util.List;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * The transactions that annotated methods run in, as {@code @Transactional} and Spring
 * choose them.
 *
 * @since 0.1.0
 */
public final class MethodTransactions {

	private final ConfigurableListableBeanFactory beanFactory;

	private final TransactionManagers managers;

	private final AnnotationTransactionAttributeSource transactional = new AnnotationTransactionAttributeSource(false);

	/**
	 * Create transactions.
	 * @param beanFactory has the beans
	 * @param managers finds transaction managers
	 */
	public MethodTransactions(ConfigurableListableBeanFactory beanFactory, TransactionManagers managers) {
		this.beanFactory = beanFactory;
		this.managers = managers;
		this.transactional.setEmbeddedValueResolver(new EmbeddedValueResolver(beanFactory));
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
				: (named != null) ? this.managers.get(named) : database.transactionManager();
	}

	/**
	 * A qualifier of the class that is that of a manager counts where the annotation has
	 * none.
	 */
	private @Nullable PlatformTransactionManager ofTransactional(TransactionAttribute transactional,
			SingleRunnerMethod method) {
		String qualifier = transactional.getQualifier();
		if (StringUtils.hasText(qualifier)) {
			return this.managers.get(qualifier);
		}
		Class<?> type = this.beanFactory.containsBean(method.beanName())
				? AutoProxyUtils.determineTargetClass(this.beanFactory, method.beanName()) : null;
		String ofClass = (type != null) ? BeanFactoryAnnotationUtils.getQualifierValue(ClassUtils.getUserClass(type))
				: null;
		if (StringUtils.hasText(ofClass) && this.managers.find(ofClass) != null) {
			return this.managers.get(ofClass);
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
			return this.managers.unique();
		}
		TransactionManager manager = this.beanFactory.getBeanProvider(TransactionManager.class).getIfUnique();
		List<String> names = List.of(this.beanFactory.getBeanNamesForType(TransactionManager.class));
		if (manager == null && !names.isEmpty()) {
			throw new AdvisoryLockConfigurationException(
					"its @Transactional names no transaction manager, and Spring can't choose between " + names,
					"Name the one that manages the DataSource of its work, " + this.managers.example()
							+ ", or mark that one as @Primary.");
		}
		if (manager instanceof ReactiveTransactionManager) {
			throw this.managers.reactive(
					"its @Transactional names no transaction manager, and the only or primary one, '" + names.stream()
						.filter((name) -> this.beanFactory.getBean(name) == manager)
						.findFirst()
						.orElse("") + "',");
		}
		return (manager instanceof PlatformTransactionManager platform) ? platform : null;
	}

}
