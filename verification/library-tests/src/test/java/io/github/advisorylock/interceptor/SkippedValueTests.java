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
import kotlin.text.Regex;
import org.junit.jupiter.api.Test;

import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SkippedValue}. What Kotlin says of a type is read of its own library.
 */
class SkippedValueTests {

	@Test
	void returnTypesOfJavaHaveValuesButPrimitiveOnes() {
		assertThat(SkippedValue.of(method(Jobs.class, "nothing"))).isEqualTo(SkippedValue.NULL);
		assertThat(SkippedValue.of(method(Jobs.class, "object"))).isEqualTo(SkippedValue.NULL);
		assertThat(SkippedValue.of(method(Jobs.class, "optional"))).isEqualTo(SkippedValue.EMPTY);
		assertThat(SkippedValue.of(method(Jobs.class, "result"))).isEqualTo(SkippedValue.RESULT);
		assertThat(SkippedValue.of(method(Jobs.class, "number"))).isEqualTo(SkippedValue.NONE);
	}

	@Test
	void typeThatIsNotNullableInKotlinHasNone() {
		Method method = method(Regex.class, "replace", CharSequence.class, String.class);
		assertThat(SkippedValue.of(method)).isEqualTo(SkippedValue.NONE);
		assertThat(SkippedValue.describe(method)).contains("'java.lang.String', which is not nullable in Kotlin");
	}

	@Test
	void typeThatIsNullableInKotlinHasNull() {
		assertThat(SkippedValue.of(method(Regex.class, "find", CharSequence.class, int.class)))
			.isEqualTo(SkippedValue.NULL);
	}

	private static Method method(Class<?> type, String name, Class<?>... parameters) {
		Method method = ReflectionUtils.findMethod(type, name, parameters);
		assertThat(method).as(name).isNotNull();
		return method;
	}

	static class Jobs {

		void nothing() {
		}

		String object() {
			return "";
		}

		Optional<String> optional() {
			return Optional.empty();
		}

		LockResult<String> result() {
			return LockResult.executed("");
		}

		int number() {
			return 0;
		}

	}

}
