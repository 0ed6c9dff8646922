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
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.annotation.AnnotatedMethods;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.interceptor.SkippedValue;
import org.aopalliance.aop.Advice;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.util.function.SingletonSupplier;

/**
 * The {@link LeaderOnly} methods of an application: checks each when its bean is created,
 * makes this instance a candidate for their roles once all beans are there, and has those
 * that ask for it called on election.
 *
 * @since 0.1.0
 */
public class LeaderOnlyMethods extends AnnotatedMethods implements SmartInitializingSingleton {

	private final Set<LeaderOnlyMethod> methods = new CopyOnWriteArraySet<>();

	/**
	 * Those too of beans that may be made later.
	 */
	private final Set<LeaderOnlyMethod> examined = new CopyOnWriteArraySet<>();

	private final ObjectProvider<LeaderElection> election;

	private final LeaderOnlyInterceptor interceptor;

	private final ElectionCaller calls;

	/**
	 * Create it without methods.
	 * @param election knows who leads; asked for when all beans are there
	 * @param schedulers calls methods on election, if there is one
	 * @param beanFactory resolves the placeholders of roles, and has the beans that are
	 * called
	 */
	public LeaderOnlyMethods(ObjectProvider<LeaderElection> election, ObjectProvider<TaskScheduler> schedulers,
			ConfigurableBeanFactory beanFactory) {
		super(LeaderOnly.class, "would run on every instance");
		this.election = election;
		this.interceptor = new LeaderOnlyInterceptor(beanFactory::resolveEmbeddedValue,
				SingletonSupplier.of(election::getObject));
		this.calls = new ElectionCaller(this.methods, beanFactory, schedulers);
	}

	@Override
	protected Advice advice() {
		return this.interceptor;
	}

	/**
	 * Become a candidate for the roles of the annotated methods.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		for (LeaderOnlyMethod method : this.methods) {
			LeaderElection available = this.election.getIfAvailable();
			if (available == null) {
				throw invalid(method.beanName(), method.method(),
						"needs a database connection of its own, and there is no DataSource, or it does not tell its URL",
						"Configure 'spring.datasource.url' (in an application that has an R2DBC ConnectionFactory, put "
								+ "@Import(DataSourceAutoConfiguration.class) on a configuration class, too), or set "
								+ "'advisory-lock.session.url', 'username' and 'password' where "
								+ "there is a DataSource without. In a test, set 'advisory-lock.enabled' to false, which makes "
								+ "every instance the leader.",
						null);
			}
			if (method.shards() > 0) {
				available.shards(method.role(), method.shards());
			}
			else {
				available.isLeader(method.role());
			}
		}
	}

	/**
	 * Have the methods called that ask for it when this instance begins to lead, and
	 * return at once.
	 * @param role the role
	 */
	public void callOnElection(String role) {
		this.calls.call(role);
	}

	/**
	 * Return the roles of the beans that were created so far.
	 * @return the names of the roles, each once, and of shards instead of what is divided
	 */
	public List<String> getRoles() {
		Set<String> roles = new LinkedHashSet<>();
		for (LeaderOnlyMethod method : this.methods) {
			if (method.shards() == 0) {
				roles.add(method.role());
			}
			for (int shard = 0; shard < method.shards(); shard++) {
				roles.add(LeaderOnlyGate.shard(method.role(), shard));
			}
		}
		return List.copyOf(roles);
	}

	@Override
	protected void register(String beanName, Class<?> targetClass, Collection<Method> found) {
		found.forEach((method) -> this.methods.add(create(beanName, targetClass, method)));
	}

	@Override
	protected void examine(String beanName, Class<?> targetClass, Collection<Method> found) {
		found.forEach((method) -> create(beanName, targetClass, method));
	}

	private LeaderOnlyMethod create(String beanName, Class<?> targetClass, Method method) {
		checkMethod(beanName, method, "leadership may be over before the work is done");
		checkReturnType(beanName, method);
		LeaderOnlyInterceptor.Role role = role(beanName, method, targetClass);
		checkShards(beanName, method, role.name(), role.shards());
		LeaderOnlyMethod created = new LeaderOnlyMethod(beanName, method, role.name(), role.shards(),
				isCalledOnElection(beanName, method));
		this.examined.add(created);
		return created;
	}

	private void checkReturnType(String beanName, Method method) {
		SkippedValue skipped = SkippedValue.of(method);
		if (skipped == SkippedValue.NONE || skipped == SkippedValue.RESULT) {
			throw invalid(beanName, method,
					"must not return the type '" + method.getReturnType().getName()
							+ "': there is no value for a skipped call",
					"Return another object that may be null, or an Optional, or ask LeaderElection in the method instead.",
					null);
		}
	}

	private void checkShards(String beanName, Method method, String role, int shards) {
		if (shards < 0 || shards > LeaderOnlyGate.MOST_SHARDS) {
			throw invalid(beanName, method, "is unusable: attribute 'shards' is " + shards,
					"Use 1 to " + LeaderOnlyGate.MOST_SHARDS + ", or leave it out.", null);
		}
		if (shards > 0 && method.getReturnType() != void.class) {
			throw invalid(beanName, method, "must return nothing: it is called once for each of the shards of role '"
					+ role + "' that an instance leads", "Return void.", null);
		}
		if (shards > 0 && AnnotatedElementUtils.hasAnnotation(method, SingleRunner.class)) {
			throw invalid(beanName, method,
					"must not have @SingleRunner beside 'shards': one lock would keep the shards of role '" + role
							+ "' from each other, and the first of them would use up the tick",
					"Remove it, or put it on a method that this one calls, with the shard in its key.", null);
		}
		for (LeaderOnlyMethod other : this.examined) {
			if (other.role().equals(role) && other.shards() != shards) {
				throw invalid(beanName, method,
						"is unusable: attribute 'shards' of role '" + role + "' is " + shards + ", and "
								+ other.shards() + " on method '" + other.method().getName() + "' of bean '"
								+ other.beanName() + "'",
						"Use one number for all methods of the role, or another role.", null);
			}
		}
	}

	private boolean isCalledOnElection(String beanName, Method method) {
		LeaderOnly annotation = AnnotatedElementUtils.findMergedAnnotation(method, LeaderOnly.class);
		boolean called = annotation != null && annotation.onElection();
		if (called && method.getParameterCount() > 0) {
			throw invalid(beanName, method, "must have no parameters: attribute 'onElection' has it called with none",
					"Remove the parameters, or the attribute.", null);
		}
		return called;
	}

	private LeaderOnlyInterceptor.Role role(String beanName, Method method, Class<?> targetClass) {
		LeaderOnlyInterceptor.Role role;
		try {
			role = this.interceptor.getRole(method, targetClass);
		}
		catch (IllegalArgumentException ex) {
			throw invalid(beanName, method, "is unusable: attribute 'value' can't be resolved: " + ex.getMessage(),
					"Set the property, or give the placeholder a default.", ex);
		}
		if (role == null || !LeaderElection.isRole(role.name())) {
			throw invalid(
					beanName, method, "is unusable: attribute 'value' is no name of a role: '"
							+ ((role != null) ? role.name() : null) + "'",
					"Use 1 to 64 letters, digits, dots, underscores or hyphens.", null);
		}
		return role;
	}

}
