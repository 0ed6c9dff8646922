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
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import io.github.advisorylock.interceptor.SingleRunnerOperation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringValueResolver;
import org.springframework.util.function.SingletonSupplier;

/**
 * Reads operations from {@link SingleRunner} annotations, once for each method.
 *
 * @since 0.1.0
 */
class AnnotationSingleRunnerOperationSource implements BiFunction<Method, Class<?>, @Nullable SingleRunnerOperation> {

	private final Map<MethodClassKey, Optional<SingleRunnerOperation>> operations = new ConcurrentHashMap<>();

	private final Supplier<SingleRunnerOperationParser> parser;

	/**
	 * Create a source.
	 * @param settings what holds for all methods; asked for at the first annotated method
	 * @param placeholders resolves the placeholders of attributes
	 */
	AnnotationSingleRunnerOperationSource(Supplier<SingleRunnerSettings> settings, StringValueResolver placeholders) {
		this.parser = SingletonSupplier.of(() -> new SingleRunnerOperationParser(settings.get(), placeholders));
	}

	/**
	 * Return how a method runs.
	 * @return the operation, {@code null} if it runs under no lock
	 */
	@Override
	public @Nullable SingleRunnerOperation apply(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<SingleRunnerOperation> operation = this.operations.get(key);
		if (operation == null) {
			Class<?> userClass = ClassUtils.getUserClass(targetClass);
			Method specificMethod = AopUtils.getMostSpecificMethod(method, userClass);
			operation = Optional.ofNullable(key.equals(new MethodClassKey(specificMethod, userClass))
					? parse(specificMethod, userClass) : apply(specificMethod, userClass));
			this.operations.put(key, operation);
		}
		return operation.orElse(null);
	}

	/**
	 * Return how a method runs that was read before.
	 * @return the operation, {@code null} if the method is not annotated, or that of a
	 * mock
	 */
	@Nullable SingleRunnerOperation find(Method method, Class<?> targetClass) {
		Class<?> userClass = ClassUtils.getUserClass(targetClass);
		return this.operations
			.getOrDefault(new MethodClassKey(AopUtils.getMostSpecificMethod(method, userClass), userClass),
					Optional.empty())
			.orElse(null);
	}

	SingleRunnerOperationParser parser() {
		return this.parser.get();
	}

	static @Nullable SingleRunner findAnnotation(Method method) {
		return AnnotatedElementUtils.findMergedAnnotation(method, SingleRunner.class);
	}

	private @Nullable SingleRunnerOperation parse(Method method, Class<?> targetClass) {
		SingleRunner annotation = findAnnotation(method);
		return (annotation != null) ? this.parser.get().parse(annotation, method, targetClass) : null;
	}

}
