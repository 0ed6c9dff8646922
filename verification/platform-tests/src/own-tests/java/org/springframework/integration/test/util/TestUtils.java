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

package org.springframework.integration.test.util;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.context.support.GenericApplicationContext;

/**
 * Stands in the place of Spring Integration's own type of this name, of which the tests
 * need this much: the module that has it can't be had everywhere.
 */
public final class TestUtils {

	private TestUtils() {
	}

	@SuppressWarnings("unchecked")
	public static <T> T getPropertyValue(Object root, String path) {
		return (T) new DirectFieldAccessor(root).getPropertyValue(path);
	}

	public static TestApplicationContext createTestApplicationContext() {
		return new TestApplicationContext();
	}

	/**
	 * A context to which finished beans are added.
	 */
	public static class TestApplicationContext extends GenericApplicationContext {

		public void registerBean(String name, Object bean) {
			getBeanFactory().registerSingleton(name, bean);
		}

	}

}
