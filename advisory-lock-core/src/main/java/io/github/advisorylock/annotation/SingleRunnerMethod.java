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

import java.lang.reflect.Method;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import org.jspecify.annotations.Nullable;

/**
 * A {@link SingleRunner} method of a bean, as found at start-up.
 *
 * @param beanName the name of the bean
 * @param method the annotated method
 * @param operation how it runs
 * @param namespace the namespace of its key
 * @param fixedKey the key that every call has, {@code null} when it depends on the
 * arguments
 * @param allowSharedKey whether other methods may have the same key
 * @since 0.1.0
 */
public record SingleRunnerMethod(String beanName, Method method, SingleRunnerOperation operation, String namespace,
		@Nullable AdvisoryLockKey fixedKey, boolean allowSharedKey) {

	/**
	 * Return whether arguments decide the whole of every key of this method.
	 * @return {@code true} if its key has no text of its own
	 */
	public boolean hasBareKey() {
		return this.fixedKey == null && KeyTemplate.isBare(this.operation.keyTemplate());
	}

	/**
	 * Return what no other method has.
	 */
	List<Object> identity() {
		return List.of(this.beanName, this.method);
	}

	/**
	 * Return what another method must not have, unless both allow it: the text of the
	 * key, and its number if it is fixed.
	 */
	List<Object> keys() {
		List<String> text = List.of(this.namespace, this.operation.keyTemplate());
		return (this.fixedKey != null) ? List.of(text, this.fixedKey) : List.of(text);
	}

	boolean hasSameKeyText(SingleRunnerMethod other) {
		return this.namespace.equals(other.namespace)
				&& this.operation.keyTemplate().equals(other.operation.keyTemplate());
	}

	boolean hasSameNumber(SingleRunnerMethod other) {
		return this.fixedKey != null && other.fixedKey != null && this.fixedKey.equals(other.fixedKey);
	}

	@Override
	public String toString() {
		return "method '" + this.method.getName() + "' of class '" + this.method.getDeclaringClass().getName()
				+ "' on bean '" + this.beanName + "'";
	}

}
