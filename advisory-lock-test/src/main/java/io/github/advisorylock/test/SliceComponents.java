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
import java.lang.annotation.Annotation;
import java.util.List;
import java.util.Set;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.test.autoconfigure.TestSliceTestContextBootstrapper;
import org.springframework.boot.test.context.filter.annotation.StandardAnnotationCustomizableTypeExcludeFilter;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.ScannedGenericBeanDefinition;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.classreading.SimpleMetadataReaderFactory;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/**
 * The components that an {@link AdvisoryLockTest} starts: refuses a test that names one
 * which is not there, and has the failure of one say why it is started.
 *
 * @param annotation the annotation that the test has
 * @param named the components that it names
 */
record SliceComponents(String annotation, Set<Class<?>> named) implements ContextCustomizer, BeanFactoryPostProcessor {

	@Override
	public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
		context.getBeanFactory().registerSingleton("advisoryLockSliceComponents", this);
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		this.named.forEach((type) -> checkFound(type, beanFactory));
		MetadataReaderFactory types = new SimpleMetadataReaderFactory(beanFactory.getBeanClassLoader());
		for (String name : beanFactory.getBeanDefinitionNames()) {
			if (beanFactory.getBeanDefinition(name) instanceof ScannedGenericBeanDefinition component
					&& isGuarded(component.getMetadata(), types)) {
				component.setResourceDescription(("%s (%s starts it because it has methods with @SingleRunner or "
						+ "@LeaderOnly: name the classes that the test needs, as in %s(OrderCleanup.class), or add what "
						+ "this one needs by @MockitoBean or @Import)")
					.formatted(component.getResourceDescription(), this.annotation, this.annotation));
			}
		}
	}

	/**
	 * A class is named for itself, its subclasses, or, of an annotation, for what has it.
	 */
	@SuppressWarnings("unchecked")
	private void checkFound(Class<?> type, ConfigurableListableBeanFactory beanFactory) {
		String[] names = type.isAnnotation() ? beanFactory.getBeanNamesForAnnotation((Class<? extends Annotation>) type)
				: beanFactory.getBeanNamesForType(type, true, false);
		if (names.length == 0) {
			throw new AdvisoryLockConfigurationException(
					"Failed to start '" + type.getName() + "', which " + this.annotation
							+ " names: the application context has no bean of it",
					"Annotate the class with @Component in a package that the application scans, see whether a profile or "
							+ "a condition excludes it, or add @Import(" + type.getSimpleName()
							+ ".class) to the test if the application starts it otherwise.");
		}
	}

	/**
	 * Return whether a class has guarded methods of its own, or inherited ones.
	 */
	private static boolean isGuarded(AnnotationMetadata type, MetadataReaderFactory types) {
		if (type.hasAnnotatedMethods(SingleRunner.class.getName())
				|| type.hasAnnotatedMethods(LeaderOnly.class.getName())) {
			return true;
		}
		String superclass = type.getSuperClassName();
		try {
			return superclass != null && !superclass.startsWith("java.")
					&& isGuarded(types.getMetadataReader(superclass).getAnnotationMetadata(), types);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Finds the tests.
	 */
	static final class Factory implements ContextCustomizerFactory {

		@Override
		public @Nullable ContextCustomizer createContextCustomizer(Class<?> testClass,
				List<ContextConfigurationAttributes> configAttributes) {
			AdvisoryLockTest test = TestContextAnnotationUtils.findMergedAnnotation(testClass, AdvisoryLockTest.class);
			Class<?> annotation = TestContextAnnotationUtils.hasAnnotation(testClass, FleetTest.class) ? FleetTest.class
					: AdvisoryLockTest.class;
			return (test != null) ? new SliceComponents("@" + annotation.getSimpleName(), Set.of(test.value())) : null;
		}

	}

	/**
	 * Prepares the application context of an {@link AdvisoryLockTest}.
	 */
	static final class ContextBootstrapper extends TestSliceTestContextBootstrapper<AdvisoryLockTest> {

	}

	/**
	 * Leaves them in the scan of the application, and nothing else.
	 */
	static final class Filter extends StandardAnnotationCustomizableTypeExcludeFilter<AdvisoryLockTest> {

		private final Set<Class<?>> components;

		Filter(Class<?> testClass) {
			super(testClass);
			this.components = Set.of(getAnnotation().getClassArray(MergedAnnotation.VALUE));
		}

		@Override
		protected Set<Class<?>> getComponentIncludes() {
			return this.components;
		}

		@Override
		protected boolean defaultInclude(MetadataReader metadataReader, MetadataReaderFactory metadataReaderFactory)
				throws IOException {
			return (this.components.isEmpty()
					&& isGuarded(metadataReader.getAnnotationMetadata(), metadataReaderFactory))
					|| super.defaultInclude(metadataReader, metadataReaderFactory);
		}

	}

}
