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

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.interceptor.PlannedTime;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;
import org.springframework.util.StringValueResolver;

/**
 * Runs methods where this instance leads their role, and skips them where it does not.
 */
class LeaderOnlyInterceptor implements MethodInterceptor {

	private static final Log logger = LogFactory.getLog(LeaderOnlyInterceptor.class);

	private final Map<MethodClassKey, Optional<Role>> roles = new ConcurrentHashMap<>();

	private final StringValueResolver placeholders;

	private final Supplier<LeaderElection> election;

	/**
	 * Create an interceptor.
	 * @param placeholders resolves the placeholders of roles
	 * @param election knows who leads; asked for at the first call
	 */
	LeaderOnlyInterceptor(StringValueResolver placeholders, Supplier<LeaderElection> election) {
		this.placeholders = placeholders;
		this.election = election;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Assert.state(target != null, "'target' must not be null");
		Method method = invocation.getMethod();
		Role role = getRole(method, target.getClass());
		if (role == null) {
			return invocation.proceed();
		}
		if (role.shards > 0) {
			runShards(role, invocation);
			return null;
		}
		LeaderOnlyGate.Work work = LeaderOnlyGate.of(this.election.get()).beginWork(role.name);
		if (work != null) {
			return run(work, invocation);
		}
		if (logger.isDebugEnabled()) {
			logger.debug("Skipped '" + method.getName() + "': this instance does not lead role '" + role.name + "'");
		}
		return (method.getReturnType() == Optional.class) ? Optional.empty() : null;
	}

	/**
	 * What is called within a call for a shard of the same role is a part of that. A bean
	 * that was made late runs for its role with its first call.
	 */
	private void runShards(Role role, MethodInvocation invocation) throws Throwable {
		if (TransactionSynchronizationManager.getResource(LeaderElection.class) instanceof String around
				&& LeaderOnlyGate.undivided(around).equals(role.name)) {
			runShard(around, invocation);
			return;
		}
		this.election.get().shards(role.name, role.shards);
		Throwable failure = null;
		for (int i = 0; i < role.shards; i++) {
			String shard = LeaderOnlyGate.shard(role.name, i);
			try {
				inShard(shard, () -> runShard(shard, invocation));
			}
			catch (Throwable ex) {
				if (failure == null) {
					failure = ex;
				}
				else if (failure != ex) {
					failure.addSuppressed(ex);
				}
			}
		}
		if (failure != null) {
			throw failure;
		}
	}

	private @Nullable Object runShard(String shard, MethodInvocation invocation) throws Throwable {
		LeaderOnlyGate.Work work = LeaderOnlyGate.of(this.election.get()).beginWork(shard);
		return (work != null) ? run(work, ((ProxyMethodInvocation) invocation).invocableClone()) : null;
	}

	/**
	 * Do something on the current thread for one shard, as a part of the scheduled call.
	 * @param shard its name, {@code null} for none
	 */
	static <E extends Throwable> void inShard(@Nullable String shard, Part<E> part) throws E {
		Object around = TransactionSynchronizationManager.unbindResourceIfPossible(LeaderElection.class);
		Runnable whole = PlannedTime.part();
		if (shard != null) {
			TransactionSynchronizationManager.bindResource(LeaderElection.class, shard);
		}
		try {
			part.run();
		}
		finally {
			whole.run();
			TransactionSynchronizationManager.unbindResourceIfPossible(LeaderElection.class);
			if (around != null) {
				TransactionSynchronizationManager.bindResource(LeaderElection.class, around);
			}
		}
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
	@Nullable Role getRole(Method method, Class<?> targetClass) {
		return this.roles
			.computeIfAbsent(new MethodClassKey(method, targetClass),
					(key) -> Optional.ofNullable(findRole(AopUtils.getMostSpecificMethod(method, targetClass))))
			.orElse(null);
	}

	private @Nullable Role findRole(Method method) {
		LeaderOnly annotation = AnnotatedElementUtils.findMergedAnnotation(method, LeaderOnly.class);
		String name = (annotation != null) ? this.placeholders.resolveStringValue(annotation.value()) : null;
		return (annotation != null && name != null) ? new Role(name, annotation.shards()) : null;
	}

	/**
	 * What is done for one shard.
	 *
	 * @param <E> what it may throw
	 */
	interface Part<E extends Throwable> {

		/**
		 * Do it.
		 */
		@Nullable Object run() throws E;

	}

	/**
	 * What the leader of a method is asked for.
	 *
	 * @param name the name of the role
	 * @param shards in how many shards it is led, 0 if it is not divided
	 */
	record Role(String name, int shards) {

	}

}
