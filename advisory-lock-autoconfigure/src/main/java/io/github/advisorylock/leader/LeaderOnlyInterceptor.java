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
import java.util.Optional;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Runs methods where this instance leads their role, and skips them where it does not.
 */
class LeaderOnlyInterceptor implements MethodInterceptor {

	private static final Log logger = LogFactory.getLog(LeaderOnlyInterceptor.class);

	private final LeaderOnlyRoleSource roleSource;

	private final Supplier<LeaderOnlyGate> gate;

	/**
	 * Create an interceptor.
	 * @param roleSource knows the roles of methods
	 * @param gate lets calls of the leader begin; asked for at the first call
	 */
	LeaderOnlyInterceptor(LeaderOnlyRoleSource roleSource, Supplier<LeaderOnlyGate> gate) {
		this.roleSource = roleSource;
		this.gate = gate;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Assert.state(target != null, "'target' must not be null");
		Method method = invocation.getMethod();
		String role = this.roleSource.getRole(method, target.getClass());
		if (role == null) {
			return invocation.proceed();
		}
		LeaderOnlyGate gate = this.gate.get();
		if (gate.beginWork(role)) {
			try {
				return invocation.proceed();
			}
			finally {
				gate.endWork(role);
			}
		}
		if (logger.isDebugEnabled()) {
			logger.debug("Skipped '" + method.getName() + "': this instance does not lead role '" + role + "'");
		}
		return (method.getReturnType() == Optional.class) ? Optional.empty() : null;
	}

}
