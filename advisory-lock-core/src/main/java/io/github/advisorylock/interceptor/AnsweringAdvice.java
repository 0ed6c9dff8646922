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

import java.util.List;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.DefaultAdvisorChainFactory;

/**
 * Advice that may answer a call so that the method does not run: from a cache, for
 * somebody who lacks a right, or as an {@code @Around} advice that does not proceed. It
 * reaches the method through the rest of the chain or not at all. Other interceptors may
 * reach it past that, as those of proxies do that end in an implementation of their own.
 */
final class AnsweringAdvice {

	private static final List<String> PACKAGES = List.of("org.springframework.cache.", "org.springframework.security.",
			"org.springframework.aop.aspectj.");

	private AnsweringAdvice() {
	}

	/**
	 * Return whether it can be shown that a method did not run in a call that came back
	 * without having reached the end of its chain.
	 * @param end the interceptor at the end of the chain
	 */
	static boolean explains(MethodInvocation invocation, MethodInterceptor end) {
		Object target = invocation.getThis();
		if (target == null || !(((ProxyMethodInvocation) invocation).getProxy() instanceof Advised advised)) {
			return false;
		}
		List<Object> chain = DefaultAdvisorChainFactory.INSTANCE.getInterceptorsAndDynamicInterceptionAdvice(advised,
				invocation.getMethod(), target.getClass());
		return chain.contains(end) && chain.stream().anyMatch((advice) -> isAnswering(advice.getClass()));
	}

	private static boolean isAnswering(Class<?> advice) {
		for (Class<?> type = advice; type != null; type = type.getSuperclass()) {
			if (PACKAGES.stream().anyMatch(type.getName()::startsWith)) {
				return true;
			}
		}
		return false;
	}

}
