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

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.interceptor.LeaderOnlyGate;
import io.github.advisorylock.interceptor.LeaderOnlyInterceptor;
import io.github.advisorylock.interceptor.LeaderOnlyRoleSource;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * Puts an interceptor around beans with {@link LeaderOnly} methods, outside the locks of
 * {@link SingleRunner}, and checks each of these methods when its bean is created.
 *
 * @since 0.1.0
 */
public class LeaderOnlyAnnotationBeanPostProcessor extends AnnotatedMethodBeanPostProcessor {

	private final transient List<LeaderOnlyMethod> methods = new CopyOnWriteArrayList<>();

	private final transient Supplier<LeaderOnlyGate> gate;

	private transient @Nullable LeaderOnlyRoleSource roleSource;

	/**
	 * Create a post-processor.
	 * @param gate lets calls of the leader begin; asked for at the first call
	 */
	public LeaderOnlyAnnotationBeanPostProcessor(Supplier<LeaderOnlyGate> gate) {
		super(LeaderOnly.class, "would run on every instance");
		this.gate = SingletonSupplier.of(gate);
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		super.setBeanFactory(beanFactory);
		LeaderOnlyRoleSource source = new AnnotationLeaderOnlyRoleSource(
				((ConfigurableBeanFactory) beanFactory)::resolveEmbeddedValue);
		this.roleSource = source;
		this.advisor = createAdvisor(new LeaderOnlyInterceptor(source, this.gate));
	}

	/**
	 * Return the annotated methods of the beans that were created so far.
	 * @return the methods, in the order in which they were found
	 */
	public List<LeaderOnlyMethod> getMethods() {
		return List.copyOf(this.methods);
	}

	/**
	 * Return what puts the advice of a proxy in order once every other post-processor has
	 * added to it.
	 * @return a post-processor to be registered without an order, after those that have
	 * one
	 */
	public BeanPostProcessor arrangement() {
		return createArrangement();
	}

	@Override
	boolean register(String beanName, Class<?> targetClass) {
		Collection<Method> found = annotated().of(targetClass);
		for (Method method : found) {
			annotated().checkModifiers(beanName, method);
			checkReturnType(beanName, method);
			LeaderOnlyMethod registered = new LeaderOnlyMethod(beanName, method, role(beanName, method, targetClass),
					isCalledOnElection(beanName, method));
			if (!this.methods.contains(registered)) {
				this.methods.add(registered);
			}
		}
		return !found.isEmpty();
	}

	private void checkReturnType(String beanName, Method method) {
		Class<?> type = method.getReturnType();
		annotated().checkSynchronous(beanName, method, "leadership may be over before the work is done");
		if ((type.isPrimitive() && type != void.class) || type == LockResult.class) {
			throw annotated().invalid(beanName, method,
					"must not return the type '" + type.getName() + "': there is no value for a skipped call",
					"Return another object or an Optional, or ask LeaderElection in the method instead.");
		}
	}

	private boolean isCalledOnElection(String beanName, Method method) {
		LeaderOnly annotation = AnnotatedElementUtils.findMergedAnnotation(method, LeaderOnly.class);
		boolean called = annotation != null && annotation.onElection();
		if (called && method.getParameterCount() > 0) {
			throw annotated().invalid(beanName, method,
					"must have no parameters: attribute 'onElection' has it called with none",
					"Remove the parameters, or the attribute.");
		}
		return called;
	}

	private String role(String beanName, Method method, Class<?> targetClass) {
		Assert.state(this.roleSource != null, "'beanFactory' must be set");
		String role;
		try {
			role = this.roleSource.getRole(method, targetClass);
		}
		catch (IllegalArgumentException ex) {
			throw annotated().invalid(beanName, method,
					"is unusable: attribute 'value' can't be resolved: " + ex.getMessage(),
					"Set the property, or give the placeholder a default.", ex);
		}
		if (role == null || !LeaderElection.isRole(role)) {
			throw annotated().invalid(beanName, method,
					"is unusable: attribute 'value' is no name of a role: '" + role + "'",
					"Use 1 to 64 letters, digits, dots, underscores or hyphens.");
		}
		return role;
	}

}
