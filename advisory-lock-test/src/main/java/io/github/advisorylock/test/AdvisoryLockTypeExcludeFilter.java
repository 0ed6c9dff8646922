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
import java.util.Set;

import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;

import org.springframework.boot.test.context.filter.annotation.StandardAnnotationCustomizableTypeExcludeFilter;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/**
 * Leaves components with guarded methods of their own, or inherited ones, in the scan of
 * an {@link AdvisoryLockTest}.
 */
class AdvisoryLockTypeExcludeFilter extends StandardAnnotationCustomizableTypeExcludeFilter<AdvisoryLockTest> {

	private final Set<Class<?>> components;

	AdvisoryLockTypeExcludeFilter(Class<?> testClass) {
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
		return (this.components.isEmpty() && isGuarded(metadataReader.getAnnotationMetadata(), metadataReaderFactory))
				|| super.defaultInclude(metadataReader, metadataReaderFactory);
	}

	static boolean isGuarded(AnnotationMetadata type, MetadataReaderFactory types) throws IOException {
		if (type.hasAnnotatedMethods(SingleRunner.class.getName())
				|| type.hasAnnotatedMethods(LeaderOnly.class.getName())) {
			return true;
		}
		String superclass = type.getSuperClassName();
		return superclass != null && !superclass.startsWith("java.")
				&& isGuarded(types.getMetadataReader(superclass).getAnnotationMetadata(), types);
	}

}
