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

import java.time.temporal.TemporalAccessor;
import java.util.Date;

import org.jspecify.annotations.Nullable;

import org.springframework.core.convert.ConversionService;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.support.DefaultConversionService;
import org.springframework.expression.EvaluationContext;
import org.springframework.util.ClassUtils;

/**
 * The text in a key of what an expression yields. It must be the same on every instance
 * for what is the same, or instances would lock different keys and not exclude each
 * other.
 */
final class KeyText {

	private static final ConversionService CONVERSION = DefaultConversionService.getSharedInstance();

	private KeyText() {
	}

	/**
	 * Return the text of a value: dates and times in their ISO form, everything else as
	 * SpEL converts it.
	 * @throws RuntimeException if it has no such text
	 */
	@SuppressWarnings("JavaUtilDate") // arguments may be of that type
	static @Nullable String of(@Nullable Object value, EvaluationContext context) {
		if (value instanceof TemporalAccessor) {
			return value.toString();
		}
		if (value instanceof Date date) {
			return isDateOnly(date.getClass()) ? date.toString() : date.toInstant().toString();
		}
		Object text = context.getTypeConverter()
			.convertValue(value, TypeDescriptor.forObject(value), TypeDescriptor.valueOf(String.class));
		if (value != null && text != null && text.toString().indexOf('@') >= 0 && !hasText(value.getClass())) {
			throw new IllegalArgumentException("it " + problem(value.getClass()));
		}
		return (text != null) ? text.toString() : null;
	}

	/**
	 * Return whether what is the same has the same text everywhere, if it is of a class.
	 */
	static boolean hasText(Class<?> type) {
		if (TemporalAccessor.class.isAssignableFrom(type) || Date.class.isAssignableFrom(type)) {
			return true;
		}
		return CONVERSION.canConvert(type, String.class) && (type.isArray() || type.isPrimitive() || !isIdentity(type));
	}

	/**
	 * Return whether a value stands in a sum as it does alone.
	 */
	static boolean hasTextInSum(Object value) {
		return value instanceof TemporalAccessor
				|| (hasText(value.getClass()) && (!(value instanceof Date) || isDateOnly(value.getClass())));
	}

	/**
	 * Say what is wrong with a value whose class has no such text.
	 */
	static String problem(Class<?> type) {
		return "is of class '" + type.getName() + "', which has no text that is the same on every instance; name what "
				+ (Date.class.isAssignableFrom(type) ? "you need of it, or write it as an expression of its own"
						: "identifies it, as in '#{#name.id}'");
	}

	private static boolean isDateOnly(Class<?> type) {
		return type.getName().equals("java.sql.Date") || type.getName().equals("java.sql.Time");
	}

	/**
	 * Return whether the text of an object would be its class and a number that differs
	 * from one JVM to the next.
	 */
	private static boolean isIdentity(Class<?> type) {
		return ClassUtils.getMethod(type, "toString").getDeclaringClass() == Object.class;
	}

}
