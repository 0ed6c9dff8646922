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
import java.util.function.Supplier;

import io.github.advisorylock.annotation.LeaderOnly;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.Assert;
import org.springframework.util.StringValueResolver;

/**
 * Runs methods where this instance leads their role, and skips them where it does not.
 */
class LeaderOnlyInterceptor implements MethodInterceptor {

	private static final Log logger = LogFactory.getLog(LeaderOnlyInterceptor.class);

	private final Map<MethodClassKey, Optional<String>> roles = new ConcurrentHashMap<>();

	private final StringValueResolver placeholders;

	private final Supplier<LeaderOnlyGate> gate;

	/**
	 * Create an interceptor.
	 * @param placeholders resolves the placeholders of roles
	 * @param gate lets calls of the leader begin; asked for at the first call
	 */
	LeaderOnlyInterceptor(StringValueResolver placeholders, Supplier<LeaderOnlyGate> gate) {
		this.placeholders = placeholders;
		this.gate = gate;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Assert.state(target != null, "'target' must not be null");
		Method method = invocation.getMethod();
		String role = getRole(method, target.getClass());
		if (role == null) {
			return invocation.proceed();
		}
		LeaderOnlyGate.Work work = this.gate.get().beginWork(role);
		if (work != null) {
			return run(work, invocation);
		}
		if (logger.isDebugEnabled()) {
			logger.debug("Skipped '" + method.getName() + "': this instance does not lead role '" + role + "'");
		}
		return (method.getReturnType() == Optional.class) ? Optional.empty() : null;
	}

	private static @Nullable Object run(LeaderOnlyGate.Work work, MethodInvocation invocation) throws Throwable {
		Object result;
		try {
			result = invocation.proceed();
		}
		catch (Throwable ex) {
			work.fail(ex);
			throw ex;
		}
		work.complete();
		return result;
	}

	/**
	 * Return the role whose leader runs a method, found once for each method.
	 * @return the role, or {@code null} when every instance runs the method
	 */
	@Nullable String getRole(Method method, Class<?> targetClass) {
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
