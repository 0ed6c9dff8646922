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

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;

import org.aopalliance.aop.Advice;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.util.Assert;

/**
 * Puts an interceptor around beans with methods that have an annotation, outside
 * everything but asynchronous execution. Needs no AspectJ. Refuses a bean whose methods
 * would be called without it.
 */
abstract class AnnotatedMethodBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements SmartInstantiationAwareBeanPostProcessor, SmartInitializingSingleton {

	private final transient AnnotatedMethods annotated;

	private final String consequence;

	/**
	 * Create a post-processor.
	 * @param annotation what methods are annotated with
	 * @param consequence what a method without interceptor would do
	 */
	AnnotatedMethodBeanPostProcessor(Class<? extends Annotation> annotation, String consequence) {
		this.annotated = new AnnotatedMethods(annotation);
		this.consequence = consequence;
		setBeforeExistingAdvisors(true);
	}

	/**
	 * Check and remember the annotated methods of a bean.
	 * @return whether it has any
	 */
	abstract boolean register(String beanName, Class<?> targetClass);

	/**
	 * Return whether an advice must stay outside ours.
	 */
	boolean belongsOutside(Advice advice) {
		return advice instanceof AsyncExecutionInterceptor;
	}

	/**
	 * Add what else a proxy needs.
	 */
	void complete(Advised advised) {
	}

	final AnnotatedMethods annotated() {
		return this.annotated;
	}

	final Advisor createAdvisor(Advice advice) {
		return new DefaultPointcutAdvisor(new AnnotatedMethodPointcut(), advice);
	}

	/**
	 * Refuse a bean that others get hold of before it has its proxy.
	 */
	@Override
	public Object getEarlyBeanReference(Object bean, String beanName) {
		this.annotated.of(AopUtils.getTargetClass(bean)).stream().findFirst().ifPresent((method) -> {
			throw this.annotated.invalid(beanName, method,
					this.consequence + ": its bean is part of a circle of references, and others get hold of it "
							+ "before it has its proxy",
					"Break the circle, or make the reference to this bean lazy (ObjectProvider, @Lazy).");
		});
		return bean;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof AopInfrastructureBean || bean instanceof ScopedObject
				|| !register(beanName, AopUtils.getTargetClass(bean))) {
			return bean;
		}
		Object proxy = createProxy(bean, beanName);
		if (proxy instanceof Advised advised) {
			moveInside(advised);
			complete(advised);
		}
		checkInvocable(proxy, beanName);
		return proxy;
	}

	private Object createProxy(Object bean, String beanName) {
		try {
			return super.postProcessAfterInitialization(bean, beanName);
		}
		catch (AopConfigException ex) {
			Method method = this.annotated.of(AopUtils.getTargetClass(bean)).iterator().next();
			throw this.annotated.invalid(beanName, method,
					this.consequence + ": no proxy can be made of its class, for example because that is final",
					"Make the class neither final nor private.", ex);
		}
	}

	/**
	 * Look for beans that were created before this post-processor was there to see them.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		Assert.state(this.beanFactory != null, "'beanFactory' must be set");
		for (String beanName : this.beanFactory.getSingletonNames()) {
			Object bean = this.beanFactory.getSingleton(beanName);
			if (bean != null && !(bean instanceof ScopedObject) && !isGuarded(bean)) {
				this.annotated.of(AopUtils.getTargetClass(bean)).stream().findFirst().ifPresent((method) -> {
					throw this.annotated.invalid(beanName, method,
							this.consequence + ": its bean was created too early to get a proxy",
							"Let no BeanPostProcessor, and nothing that one depends on, depend on this bean, or make "
									+ "that dependency lazy (ObjectProvider, @Lazy).");
				});
			}
		}
	}

	/**
	 * A lock must not be released while work that was started under it goes on elsewhere.
	 */
	private void moveInside(Advised advised) {
		Advisor outermost = this.advisor;
		int position = 0;
		for (int i = 0; i < advised.getAdvisorCount(); i++) {
			if (belongsOutside(advised.getAdvisors()[i].getAdvice())) {
				position = i;
			}
		}
		if (outermost != null && position > 0) {
			advised.removeAdvisor(outermost);
			advised.addAdvisor(position, outermost);
		}
	}

	private void checkInvocable(Object proxy, String beanName) {
		Class<?> targetClass = AopUtils.getTargetClass(proxy);
		for (Method method : this.annotated.of(targetClass)) {
			if (AopUtils.isJdkDynamicProxy(proxy) && !isInInterface(method, proxy, targetClass)) {
				throw this.annotated.invalid(beanName, method,
						this.consequence + ": it is not part of an interface of the bean's JDK proxy",
						"Add the method to the interface, or set 'spring.aop.proxy-target-class' to true.");
			}
		}
	}

	private static boolean isInInterface(Method method, Object proxy, Class<?> targetClass) {
		return Arrays.stream(proxy.getClass().getInterfaces())
			.flatMap((type) -> Arrays.stream(type.getMethods()))
			.anyMatch((candidate) -> AopUtils.getMostSpecificMethod(candidate, targetClass).equals(method));
	}

	private boolean isGuarded(Object bean) {
		return bean instanceof Advised advised && Arrays.asList(advised.getAdvisors()).contains(this.advisor);
	}

	/**
	 * Matches annotated methods.
	 */
	private final class AnnotatedMethodPointcut extends StaticMethodMatcherPointcut {

		private AnnotatedMethodPointcut() {
			setClassFilter((type) -> !AnnotatedMethodBeanPostProcessor.this.annotated.of(type).isEmpty());
		}

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return AnnotatedMethodBeanPostProcessor.this.annotated.of(targetClass)
				.contains(AopUtils.getMostSpecificMethod(method, targetClass));
		}

	}

}
