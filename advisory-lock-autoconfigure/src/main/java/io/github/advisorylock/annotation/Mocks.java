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

package io.github.advisorylock.annotation;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Knows mocks, which tests register ready-made in the place of beans. They have the class
 * of what they stand for, annotations and all, and do nothing that a lock would have to
 * guard.
 */
final class Mocks {

	private static final String MOCKITO = "org.mockito.Mockito";

	private Mocks() {
	}

	static boolean isMock(Object bean) {
		ClassLoader classLoader = bean.getClass().getClassLoader();
		if (!ClassUtils.isPresent(MOCKITO, classLoader)) {
			return false;
		}
		Class<?> mockito = ClassUtils.resolveClassName(MOCKITO, classLoader);
		Class<?> details = ClassUtils.resolveClassName("org.mockito.MockingDetails", classLoader);
		Object told = ReflectionUtils.invokeMethod(ClassUtils.getMethod(mockito, "mockingDetails", Object.class), null,
				bean);
		return Boolean.TRUE.equals(ReflectionUtils.invokeMethod(ClassUtils.getMethod(details, "isMock"), told))
				&& Boolean.FALSE.equals(ReflectionUtils.invokeMethod(ClassUtils.getMethod(details, "isSpy"), told));
	}

}
