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
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.interceptor.SingleRunnerInterceptor;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;

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
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * Puts the interceptors around beans with {@link SingleRunner} methods: one outside
 * everything but asynchronous execution, where a session lock belongs, and one inside
 * everything, where a transaction's lock belongs. Needs no AspectJ.
 * <p>
 * Checks each annotated method when its bean is created, and once all are there, that
 * none was created without a proxy.
 *
 * @since 0.1.0
 */
public class SingleRunnerAnnotationBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements SmartInstantiationAwareBeanPostProcessor, SmartInitializingSingleton {

	private final transient Supplier<SingleRunnerSettings> settings;

	private final transient Supplier<AdvisoryLockOperations> operations;

	private final transient Predicate<LockRequest> busyLocally;

	private final transient Consumer<Object> eventPublisher;

	private transient @Nullable SingleRunnerMethods methods;

	private transient @Nullable Advisor insideTransaction;

	/**
	 * Create a post-processor.
	 * @param settings what holds for all methods; asked for at the first annotated method
	 * @param operations takes the locks; asked for at the first call
	 * @param busyLocally see {@link SingleRunnerInterceptor}
	 * @param eventPublisher see {@link SingleRunnerInterceptor}
	 */
	public SingleRunnerAnnotationBeanPostProcessor(Supplier<SingleRunnerSettings> settings,
			Supplier<AdvisoryLockOperations> operations, Predicate<LockRequest> busyLocally,
			Consumer<Object> eventPublisher) {
		this.settings = settings;
		this.operations = SingletonSupplier.of(operations);
		this.busyLocally = busyLocally;
		this.eventPublisher = eventPublisher;
		setBeforeExistingAdvisors(true);
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		super.setBeanFactory(beanFactory);
		AnnotationSingleRunnerOperationSource source = new AnnotationSingleRunnerOperationSource(this.settings,
				((ConfigurableBeanFactory) beanFactory)::resolveEmbeddedValue);
		SingleRunnerInterceptor interceptor = new SingleRunnerInterceptor(source, this.operations, this.busyLocally,
				this.eventPublisher);
		this.methods = new SingleRunnerMethods(source);
		this.advisor = createAdvisor(interceptor);
		this.insideTransaction = createAdvisor(interceptor.insideTransaction());
	}

	/**
	 * Return the annotated methods of the beans that were created so far.
	 * @return the methods, in the order in which they were found
	 */
	public List<SingleRunnerMethod> getMethods() {
		return methods().all();
	}

	/**
	 * Refuse a bean that others get hold of before it has its proxy.
	 */
	@Override
	public Object getEarlyBeanReference(Object bean, String beanName) {
		methods().annotatedMethods(AopUtils.getTargetClass(bean)).stream().findFirst().ifPresent((method) -> {
			throw SingleRunnerMethodValidator.invalid(beanName, method,
					"would run without a lock: its bean is part of a circle of references, and others get hold of it "
							+ "before it has its proxy",
					"Break the circle, or make the reference to this bean lazy (ObjectProvider, @Lazy).");
		});
		return bean;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof AopInfrastructureBean || bean instanceof ScopedObject
				|| !methods().register(beanName, AopUtils.getTargetClass(bean))) {
			return bean;
		}
		Object proxy = createProxy(bean, beanName);
		if (proxy instanceof Advised advised) {
			moveInsideAsynchronousExecution(advised);
			advised.addAdvisor(insideTransaction());
		}
		checkInvocable(proxy, beanName);
		return proxy;
	}

	private Object createProxy(Object bean, String beanName) {
		try {
			return super.postProcessAfterInitialization(bean, beanName);
		}
		catch (AopConfigException ex) {
			Method method = methods().annotatedMethods(AopUtils.getTargetClass(bean)).iterator().next();
			throw SingleRunnerMethodValidator.invalid(beanName, method,
					"would run without a lock: no proxy can be made of its class, for example because that is final",
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
				methods().annotatedMethods(AopUtils.getTargetClass(bean)).stream().findFirst().ifPresent((method) -> {
					throw SingleRunnerMethodValidator.invalid(beanName, method,
							"would run without a lock: its bean was created too early to get a proxy",
							"Let no BeanPostProcessor, and nothing that one depends on, depend on this bean, or make "
									+ "that dependency lazy (ObjectProvider, @Lazy).");
				});
			}
		}
	}

	/**
	 * A lock must not be released while work that was started under it goes on elsewhere.
	 */
	private void moveInsideAsynchronousExecution(Advised advised) {
		Advisor outermost = this.advisor;
		int position = 0;
		for (int i = 0; i < advised.getAdvisorCount(); i++) {
			if (advised.getAdvisors()[i].getAdvice() instanceof AsyncExecutionInterceptor) {
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
		for (Method method : methods().annotatedMethods(targetClass)) {
			if (AopUtils.isJdkDynamicProxy(proxy) && !isInInterface(method, proxy, targetClass)) {
				throw SingleRunnerMethodValidator.invalid(beanName, method,
						"would run without a lock: it is not part of an interface of the bean's JDK proxy",
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

	private Advisor createAdvisor(Advice advice) {
		return new DefaultPointcutAdvisor(new AnnotatedMethods(), advice);
	}

	private SingleRunnerMethods methods() {
		Assert.state(this.methods != null, "'beanFactory' must be set");
		return this.methods;
	}

	private Advisor insideTransaction() {
		Assert.state(this.insideTransaction != null, "'beanFactory' must be set");
		return this.insideTransaction;
	}

	/**
	 * Matches what {@link SingleRunnerMethods} finds.
	 */
	private final class AnnotatedMethods extends StaticMethodMatcherPointcut {

		private AnnotatedMethods() {
			setClassFilter((type) -> !methods().annotatedMethods(type).isEmpty());
		}

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return methods().annotatedMethods(targetClass)
				.contains(AopUtils.getMostSpecificMethod(method, targetClass));
		}

	}

}
