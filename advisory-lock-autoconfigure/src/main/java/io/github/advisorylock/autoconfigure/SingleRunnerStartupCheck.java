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

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Makes sure, once all beans are there, that annotated methods have got what they need
 * from the application.
 */
final class SingleRunnerStartupCheck implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(SingleRunnerStartupCheck.class);

	private final SingleRunnerAnnotationBeanPostProcessor postProcessor;

	private final ObjectProvider<AdvisoryLockOperations> operations;

	private final AdvisoryLockProperties properties;

	SingleRunnerStartupCheck(SingleRunnerAnnotationBeanPostProcessor postProcessor,
			ObjectProvider<AdvisoryLockOperations> operations, AdvisoryLockProperties properties) {
		this.postProcessor = postProcessor;
		this.operations = operations;
		this.properties = properties;
	}

	@Override
	public void afterSingletonsInstantiated() {
		List<SingleRunnerMethod> methods = this.postProcessor.getMethods();
		warnOfUnknownJobs(methods);
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
			methods.forEach((method) -> checkScope(method, template));
		}
	}

	private static void checkScope(SingleRunnerMethod method, PostgresAdvisoryLockTemplate template) {
		LockScope scope = method.operation().scope();
		if (template.supports(scope)) {
			return;
		}
		throw (scope == LockScope.TRANSACTION) ? missing(method,
				"needs a transaction manager for attribute 'scope' TRANSACTION, and there is no single " + "one",
				"Set 'advisory-lock.transaction-manager' to the name of the one that manages the DataSource of the "
						+ "locks, or 'scope' to SESSION.")
				: missing(method,
						"needs a connection of its own for attribute 'scope' SESSION, and the DataSource does "
								+ "not tell its URL",
						"Set 'advisory-lock.session.url', 'username' and 'password'.");
	}

	private void warnOfUnknownJobs(List<SingleRunnerMethod> methods) {
		Set<String> keys = methods.stream()
			.map((method) -> method.operation().keyTemplate())
			.collect(Collectors.toCollection(TreeSet::new));
		this.properties.jobs()
			.keySet()
			.stream()
			.filter((key) -> !keys.contains(key))
			.forEach((key) -> logger
				.warn("'advisory-lock.jobs." + key + "' has no effect: no method has that key, the keys are " + keys));
	}

	private static InvalidSingleRunnerException missing(SingleRunnerMethod method, String problem, String action) {
		return new InvalidSingleRunnerException(method.beanName(), method.method(), problem, action, null);
	}

}
