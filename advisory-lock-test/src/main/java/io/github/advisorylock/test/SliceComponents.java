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

import java.io.IOException;
import java.io.UncheckedIOException;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.ScannedGenericBeanDefinition;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.classreading.SimpleMetadataReaderFactory;

/**
 * Has the failure of a component say why an {@link AdvisoryLockTest} starts it.
 */
final class SliceComponents implements BeanFactoryPostProcessor {

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		MetadataReaderFactory types = new SimpleMetadataReaderFactory(beanFactory.getBeanClassLoader());
		for (String name : beanFactory.getBeanDefinitionNames()) {
			if (beanFactory.getBeanDefinition(name) instanceof ScannedGenericBeanDefinition component
					&& isGuarded(component, types)) {
				component.setResourceDescription(component.getResourceDescription()
						+ " (@AdvisoryLockTest starts it because it has methods with @SingleRunner or @LeaderOnly: name the "
						+ "classes that the test needs, as in @AdvisoryLockTest(OrderCleanup.class), or add what this one "
						+ "needs by @MockitoBean or @Import)");
			}
		}
	}

	private static boolean isGuarded(ScannedGenericBeanDefinition component, MetadataReaderFactory types) {
		try {
			return AdvisoryLockTypeExcludeFilter.isGuarded(component.getMetadata(), types);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
