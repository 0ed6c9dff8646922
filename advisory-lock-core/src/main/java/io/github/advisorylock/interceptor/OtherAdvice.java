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
 * What other advice of a guarded method may do with a call between the two places of
 * ours.
 */
final class OtherAdvice {

	/**
	 * May answer a call in the place of the method, as a cache does, or a check of the
	 * rights of a caller, or an {@code @Around} advice that does not proceed. It reaches
	 * the method through the rest of the chain or not at all. Other interceptors may
	 * reach it past that, as those of proxies do that end in an implementation of their
	 * own.
	 */
	private static final List<String> ANSWERING = List.of("org.springframework.cache.", "org.springframework.security.",
			"org.springframework.aop.aspectj.");

	/**
	 * Runs the rest of the chain once, or not at all.
	 */
	private static final List<String> NOT_REPEATING = List.of("io.github.advisorylock.",
			"org.springframework.transaction.", "org.springframework.aop.interceptor.", "org.springframework.cache.",
			"org.springframework.security.", "org.springframework.validation.", "org.springframework.dao.");

	private OtherAdvice() {
	}

	/**
	 * Return whether it can be shown that a method did not run in a call that came back
	 * without having reached the end of its chain.
	 * @param end the interceptor at the end of the chain
	 */
	static boolean mayHaveAnswered(MethodInvocation invocation, MethodInterceptor end) {
		List<Object> chain = chain(invocation);
		return chain.contains(end) && chain.stream().anyMatch((advice) -> isIn(ANSWERING, advice));
	}

	/**
	 * Return whether an advice may have the method run again, as one of
	 * {@code @Retryable} does.
	 */
	static boolean mayRepeat(MethodInvocation invocation) {
		return !chain(invocation).stream().allMatch((advice) -> isIn(NOT_REPEATING, advice));
	}

	private static List<Object> chain(MethodInvocation invocation) {
		Object target = invocation.getThis();
		if (target == null || !(((ProxyMethodInvocation) invocation).getProxy() instanceof Advised advised)) {
			return List.of();
		}
		return DefaultAdvisorChainFactory.INSTANCE.getInterceptorsAndDynamicInterceptionAdvice(advised,
				invocation.getMethod(), target.getClass());
	}

	private static boolean isIn(List<String> packages, Object advice) {
		for (Class<?> type = advice.getClass(); type != null; type = type.getSuperclass()) {
			if (packages.stream().anyMatch(type.getName()::startsWith)) {
				return true;
			}
		}
		return false;
	}

}
