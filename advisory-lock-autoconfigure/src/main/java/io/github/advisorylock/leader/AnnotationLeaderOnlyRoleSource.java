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

package io.github.advisorylock.leader;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import io.github.advisorylock.annotation.LeaderOnly;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.StringValueResolver;

/**
 * Reads roles from {@link LeaderOnly} annotations, once for each method.
 */
final class AnnotationLeaderOnlyRoleSource implements LeaderOnlyRoleSource {

	private final Map<MethodClassKey, Optional<String>> roles = new ConcurrentHashMap<>();

	private final StringValueResolver placeholders;

	AnnotationLeaderOnlyRoleSource(StringValueResolver placeholders) {
		this.placeholders = placeholders;
	}

	@Override
	public @Nullable String getRole(Method method, Class<?> targetClass) {
		return this.roles
			.computeIfAbsent(new MethodClassKey(method, targetClass),
					(key) -> Optional.ofNullable(findRole(AopUtils.getMostSpecificMethod(method, targetClass))))
			.orElse(null);
	}

	private @Nullable String findRole(Method method) {
		LeaderOnly annotation = AnnotatedElementUtils.findMergedAnnotation(method, LeaderOnly.class);
		return (annotation != null) ? this.placeholders.resolveStringValue(annotation.value()) : null;
	}

}
