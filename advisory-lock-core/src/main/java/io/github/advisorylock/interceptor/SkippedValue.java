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
import java.util.Optional;

import io.github.advisorylock.LockResult;
import org.jspecify.annotations.Nullable;

import org.springframework.core.GenericTypeResolver;
import org.springframework.core.KotlinDetector;
import org.springframework.core.Nullness;
import org.springframework.core.ResolvableType;

/**
 * What the caller of a method gets for a call that was skipped, as the return type of the
 * method has it.
 *
 * @since 0.1.0
 */
public enum SkippedValue {

	/**
	 * Nothing, or {@code null}.
	 */
	NULL,

	/**
	 * An empty {@link Optional}.
	 */
	EMPTY,

	/**
	 * A {@link LockResult} with the outcome.
	 */
	RESULT,

	/**
	 * There is no such value: the type is primitive, or one of Kotlin's that is not
	 * nullable.
	 */
	NONE;

	private static final String KOTLIN_UNIT = "kotlin.Unit";

	/**
	 * Find out what skipped calls of a method return.
	 * @param method the method
	 * @return what they return
	 */
	public static SkippedValue of(Method method) {
		Class<?> type = method.getReturnType();
		if (type == LockResult.class) {
			return RESULT;
		}
		if (type == Optional.class) {
			return EMPTY;
		}
		return ((type.isPrimitive() && type != void.class) || isNonNullInKotlin(method)) ? NONE : NULL;
	}

	/**
	 * Say what is wrong with the return type of a method that has no such value.
	 * @param method the method
	 * @return a few words about its type
	 */
	public static String describe(Method method) {
		Class<?> type = method.getReturnType();
		return (type.isPrimitive() ? "the primitive type '" : "the type '") + type.getTypeName()
				+ (type.isPrimitive() ? "'" : "', which is not nullable in Kotlin,");
	}

	/**
	 * Kotlin keeps in its metadata what is nullable, which takes its reflection library
	 * to read. Spring needs that for applications in Kotlin, too.
	 */
	private static boolean isNonNullInKotlin(Method method) {
		Class<?> type = method.getReturnType();
		return type != void.class && !type.getName().equals(KOTLIN_UNIT) && KotlinDetector.isKotlinReflectPresent()
				&& KotlinDetector.isKotlinType(method.getDeclaringClass())
				&& !KotlinDetector.isSuspendingFunction(method)
				&& Nullness.forMethodReturnType(method) == Nullness.NON_NULL;
	}

	/**
	 * Return the type of what a method returns, without what may be around it.
	 * @param method the method
	 * @param targetClass the class that it is called on
	 * @return the type
	 */
	public static ResolvableType contentType(Method method, Class<?> targetClass) {
		ResolvableType type = ResolvableType
			.forType(GenericTypeResolver.resolveType(method.getGenericReturnType(), targetClass));
		SkippedValue value = of(method);
		return (value == RESULT || value == EMPTY) ? type.getGeneric(0) : type;
	}

	/**
	 * Return what a method returned, without what is around it.
	 */
	@Nullable Object content(@Nullable Object returned) {
		return (returned instanceof LockResult<?> result) ? result.value()
				: (returned instanceof Optional<?> optional) ? optional.orElse(null) : returned;
	}

	/**
	 * Return the value for a call that was skipped.
	 * @throws IllegalStateException if there is none
	 */
	@Nullable Object of(LockResult<?> result) {
		return switch (this) {
			case NULL -> result.value();
			case EMPTY -> Optional.ofNullable(result.value());
			case RESULT -> result;
			case NONE -> result.orElseThrow();
		};
	}

}
