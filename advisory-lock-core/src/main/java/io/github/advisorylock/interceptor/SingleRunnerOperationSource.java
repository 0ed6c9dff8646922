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

package io.github.advisorylock.interceptor;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * Knows which methods run under a lock, and how.
 *
 * @since 0.1.0
 */
public interface SingleRunnerOperationSource {

	/**
	 * Return how a method runs under a lock. Asked for every call, so an answer should
	 * come from a cache.
	 * @param method the method that is called
	 * @param targetClass the class of the object it is called on
	 * @return the operation, or {@code null} when the method does not run under a lock
	 */
	@Nullable SingleRunnerOperation getOperation(Method method, Class<?> targetClass);

}
