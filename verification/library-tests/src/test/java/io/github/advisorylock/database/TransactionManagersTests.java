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

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.testsupport.DocumentTransactionManager;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link TransactionManagers}.
 */
class TransactionManagersTests {

	private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

	private final TransactionManagers managers = new TransactionManagers(this.beans);

	@BeforeEach
	void registerBeans() {
		register("ordersTx", "orders", false);
		register("reportsTx", "reports", false);
		this.beans.registerSingleton("text", "is no manager");
	}

	@Test
	void managerIsFoundByNameAndByQualifierAsTransactionalDoes() {
		for (String name : new String[] { "reportsTx", "reports" }) {
			assertThat(this.managers.get(name)).isSameAs(this.beans.getBean("reportsTx"));
		}
	}

	@Test
	void nameThatNoManagerHasIsRefusedWithThoseThereAre() {
		for (String name : new String[] { "report", "text" }) {
			assertThatExceptionOfType(AdvisoryLockConfigurationException.class)
				.isThrownBy(() -> this.managers.get(name))
				.withMessageContaining("There is no transaction manager '" + name + "'")
				.withMessageContaining("ordersTx")
				.withMessageContaining("reportsTx");
		}
	}

	@Test
	void oneOfSeveralIsUniqueOnlyIfItIsPrimary() {
		assertThat(this.managers.unique()).isNull();
		register("mainTx", "main", true);
		assertThat(this.managers.unique()).isSameAs(this.beans.getBean("mainTx"));
	}

	private void register(String name, String qualifier, boolean primary) {
		RootBeanDefinition definition = new RootBeanDefinition(DocumentTransactionManager.class);
		definition.setPrimary(primary);
		definition.addQualifier(new AutowireCandidateQualifier(Qualifier.class, qualifier));
		this.beans.registerBeanDefinition(name, definition);
	}

}
