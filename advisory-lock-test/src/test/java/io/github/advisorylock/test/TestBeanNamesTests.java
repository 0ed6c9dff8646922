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

package io.github.advisorylock.test;

import java.util.stream.Stream;

import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.MethodMetadata;
import org.springframework.transaction.TransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the names of the beans that tests of an application have beside its own.
 */
class TestBeanNamesTests {

	private static final String LIBRARY = "io.github.advisorylock.";

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withPropertyValues(
			"spring.application.name=names", "spring.datasource.url=" + TestPostgres.url(),
			"spring.datasource.hikari.maximum-pool-size=2", "advisory-lock.ledger.table-prefix=test_names_",
			"advisory-lock.ledger.initialize-schema=always");

	@ParameterizedTest
	@ValueSource(classes = { ContractApplication.class, InMemoryApplication.class, ContainerApplication.class })
	void eachBeanOfTheLibraryHasItsPrefix(Class<?> application) {
		this.runner.withUserConfiguration(application)
			.withBean(LazyInitializationBeanFactoryPostProcessor.class)
			.run((context) -> assertPrefix(context.getSourceApplicationContext().getBeanFactory()));
	}

	@ParameterizedTest
	@ValueSource(classes = { ContractApplication.class, InMemoryApplication.class })
	void applicationMayHaveBeansOfAnyNameWithoutThePrefix(Class<?> application) {
		this.runner.withUserConfiguration(application)
			.withBean("leaderElection", Own.class, Own::new)
			.withBean("testLocks", Own.class, Own::new)
			.withBean("testLockCallRecorder", Own.class, Own::new)
			.run((context) -> assertThat(context).hasNotFailed()
				.getBeanNames(Own.class)
				.containsExactlyInAnyOrder("leaderElection", "testLocks", "testLockCallRecorder"));
	}

	@Test
	void standInForTransactionsHasTheNameOfTheOneOfSpringBoot() {
		this.runner.withUserConfiguration(InMemoryApplication.class)
			.run((context) -> assertThat(context.getBean("transactionManager"))
				.isSameAs(context.getBean(TransactionManager.class)));
	}

	private static void assertPrefix(ConfigurableListableBeanFactory beans) {
		assertThat(
				Stream.of(beans.getBeanDefinitionNames()).filter((name) -> isOurs(name, beans.getBeanDefinition(name))))
			.isNotEmpty()
			.allMatch((name) -> name.startsWith("advisoryLock"));
	}

	private static boolean isOurs(String name, BeanDefinition definition) {
		MethodMetadata method = (definition instanceof AnnotatedBeanDefinition annotated)
				? annotated.getFactoryMethodMetadata() : null;
		String declaring = (method != null) ? method.getDeclaringClassName() : definition.getBeanClassName();
		return declaring != null && declaring.startsWith(LIBRARY) && !declaring.contains("Application")
				&& !name.endsWith(declaring);
	}

	/**
	 * What an application calls as it likes.
	 */
	static class Own {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ InMemoryLocksAutoConfiguration.class, SliceTransactionAutoConfiguration.class,
			TransactionAutoConfiguration.class, AdvisoryLockAutoConfiguration.class })
	static class InMemoryApplication {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(PostgresContainerConfiguration.class)
	static class ContainerApplication {

	}

}
