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
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.Ordered;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * Puts an interceptor around beans with methods that have an annotation, outside
 * everything but asynchronous execution. Needs no AspectJ. Refuses a bean whose methods
 * would be called without it.
 * <p>
 * Comes before all post-processors that register methods of beans with somebody who calls
 * them: schedulers and containers of message listeners must get hold of the proxy. Those
 * have the lowest precedence, and others with that add advice of their own; what all of
 * them have added is put in order by {@link #arrangement()}.
 *
 * @since 0.1.0
 */
public abstract class AnnotatedMethodBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements SmartInstantiationAwareBeanPostProcessor, SmartInitializingSingleton,
		ApplicationListener<ContextRefreshedEvent> {

	/**
	 * Class and name of the beans that were checked: those of other scopes are created
	 * again and again.
	 */
	private final transient Set<List<Object>> checked = ConcurrentHashMap.newKeySet();

	private final transient AnnotatedMethodFinder annotated;

	private final transient ProxyValidator proxied;

	private final String consequence;

	/**
	 * Create a post-processor.
	 * @param annotation what methods are annotated with
	 * @param consequence what a method without interceptor would do
	 */
	protected AnnotatedMethodBeanPostProcessor(Class<? extends Annotation> annotation, String consequence) {
		this.annotated = new AnnotatedMethodFinder(annotation);
		this.proxied = new ProxyValidator(this.annotated, consequence);
		this.consequence = consequence;
		setBeforeExistingAdvisors(true);
		setOrder(Ordered.LOWEST_PRECEDENCE - 1);
	}

	/**
	 * Check and remember the annotated methods of a bean.
	 * @param beanName the name of the bean
	 * @param targetClass the class of the bean
	 * @return whether it has any
	 */
	protected abstract boolean register(String beanName, Class<?> targetClass);

	/**
	 * Look again at what may be different for a bean that was made before: the values of
	 * placeholders.
	 */
	void madeAgain(Class<?> targetClass) {
	}

	/**
	 * Return whether an advisor must stay outside ours.
	 */
	boolean belongsOutside(Advisor advisor) {
		return isAsynchronous(advisor);
	}

	static boolean isAsynchronous(Advisor advisor) {
		return advisor.getAdvice() instanceof AsyncExecutionInterceptor;
	}

	/**
	 * Return whether an advisor guards the methods of an annotation.
	 */
	static boolean guards(Advisor advisor, Class<? extends Annotation> annotation) {
		return advisor instanceof DefaultPointcutAdvisor known
				&& known.getPointcut() instanceof AnnotatedMethodPointcut pointcut
				&& pointcut.annotated().annotation() == annotation;
	}

	/**
	 * Add what else a proxy needs, or put it in its place.
	 */
	void complete(Advised advised) {
	}

	final AnnotatedMethodFinder annotated() {
		return this.annotated;
	}

	/**
	 * Return the annotated methods of a class, its superclasses and interfaces.
	 * @param targetClass the class of a bean
	 * @return the methods, none if there is none
	 */
	protected final Collection<Method> findMethods(Class<?> targetClass) {
		return this.annotated.of(targetClass);
	}

	/**
	 * Refuse a method that no proxy can override, and one whose work may go on after it
	 * has returned.
	 * @param beanName the name of the bean
	 * @param method the annotated method
	 * @param reason why the work must not go on
	 */
	protected final void checkMethod(String beanName, Method method, String reason) {
		this.annotated.checkDeclaration(beanName, method);
		this.annotated.checkSynchronous(beanName, method, reason);
	}

	/**
	 * Create what is thrown for a method that can't do what its annotation says.
	 * @param beanName the name of the bean
	 * @param method the annotated method
	 * @param problem what is wrong
	 * @param action what to change
	 * @param cause what was wrong underneath, if anything
	 * @return the exception
	 */
	protected final InvalidSingleRunnerException invalid(String beanName, Method method, String problem, String action,
			@Nullable Throwable cause) {
		return this.annotated.invalid(beanName, method, problem, action, cause);
	}

	/**
	 * Create what brings an advice to the annotated methods.
	 * @param advice the advice
	 * @return its advisor
	 */
	protected final Advisor createAdvisor(Advice advice) {
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
		Class<?> targetClass = AopUtils.getTargetClass(bean);
		if (bean instanceof AopInfrastructureBean || bean instanceof ScopedObject
				|| beanName.equals(bean.getClass().getName() + AutowireCapableBeanFactory.ORIGINAL_INSTANCE_SUFFIX)) {
			return bean;
		}
		boolean first = !isChecked(beanName, targetClass);
		if (first && isMock(bean, targetClass)) {
			return bean;
		}
		if (first) {
			this.proxied.checkTarget(bean, beanName, definition(beanName));
		}
		if (first ? !register(beanName, targetClass) : this.annotated.of(targetClass).isEmpty()) {
			return bean;
		}
		Object proxy = createProxy(bean, beanName);
		arrange((Advised) proxy);
		if (first) {
			this.proxied.checkProxy(proxy, beanName);
			this.checked.add(List.of(beanName, ClassUtils.getUserClass(targetClass)));
		}
		else {
			madeAgain(ClassUtils.getUserClass(targetClass));
		}
		return proxy;
	}

	/**
	 * A mock does nothing that would have to be guarded, and has the key of the bean that
	 * it may stand beside.
	 */
	private boolean isMock(Object bean, Class<?> targetClass) {
		return !this.annotated.of(targetClass).isEmpty() && this.proxied.isMock(bean);
	}

	private boolean isChecked(String beanName, Class<?> targetClass) {
		return this.checked.contains(List.of(beanName, ClassUtils.getUserClass(targetClass)));
	}

	private @Nullable BeanDefinition definition(String beanName) {
		ConfigurableListableBeanFactory beans = this.beanFactory;
		return (beans != null && beans.containsBeanDefinition(beanName)) ? beans.getMergedBeanDefinition(beanName)
				: null;
	}

	/**
	 * An opaque proxy could not be told from the bean.
	 */
	@Override
	protected void customizeProxyFactory(ProxyFactory proxyFactory) {
		proxyFactory.setOpaque(false);
	}

	/**
	 * Return what puts the advice of a proxy in order once every other post-processor has
	 * added to it.
	 * @return a post-processor to be registered without an order, after those that have
	 * one
	 */
	public final BeanPostProcessor arrangement() {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				if (isGuarded(bean)) {
					arrange((Advised) bean);
				}
				return bean;
			}

		};
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
		checkSingletons(this.beanFactory, "its bean was created too early to get a proxy, or registered ready-made",
				"Let no BeanPostProcessor, and nothing that one depends on, depend on this bean, or make that "
						+ "dependency lazy (ObjectProvider, @Lazy).");
	}

	/**
	 * Refuse beans of a child context that has no post-processor of its own: it inherits
	 * none.
	 */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext()
			.getAutowireCapableBeanFactory() instanceof ConfigurableListableBeanFactory beans
				&& beans != this.beanFactory && beans.getBeanNamesForType(getClass(), false, false).length == 0) {
			checkSingletons(beans,
					"its bean is in the child context '" + event.getApplicationContext().getDisplayName()
							+ "', which has no post-processor that makes its proxy",
					"Import AdvisoryLockAutoConfiguration into that context, or move the bean to its parent.");
		}
	}

	private void checkSingletons(ConfigurableListableBeanFactory beans, String problem, String action) {
		for (String beanName : beans.getSingletonNames()) {
			Object bean = beans.getSingleton(beanName);
			if (bean instanceof FactoryBean) {
				checkProduct(beans, beanName, problem, action);
			}
			if (bean != null) {
				checkGuarded(bean, beanName, problem, action);
			}
		}
	}

	/**
	 * What a factory makes is created when it is first asked for, which may have been too
	 * early, too.
	 */
	private void checkProduct(ConfigurableListableBeanFactory beans, String beanName, String problem, String action) {
		Class<?> type = beans.getType(beanName, false);
		if (type != null && beans.isSingleton(beanName) && !this.annotated.of(type).isEmpty()) {
			checkGuarded(beans.getBean(beanName), beanName, problem, action);
		}
	}

	private void checkGuarded(Object bean, String beanName, String problem, String action) {
		Class<?> targetClass = AopUtils.getTargetClass(bean);
		if (bean instanceof ScopedObject || isGuarded(bean) || isChecked(beanName, targetClass)
				|| isMock(bean, targetClass)) {
			return;
		}
		this.annotated.of(targetClass).stream().findFirst().ifPresent((method) -> {
			throw this.annotated.invalid(beanName, method, this.consequence + ": " + problem, action);
		});
	}

	/**
	 * Put our advice in its place. A lock must not be released while work that was
	 * started under it goes on elsewhere.
	 */
	private void arrange(Advised advised) {
		Advisor outermost = this.advisor;
		if (outermost != null && !advised.isFrozen()) {
			advised.removeAdvisor(outermost);
			int position = 0;
			for (int i = 0; i < advised.getAdvisorCount(); i++) {
				position = belongsOutside(advised.getAdvisors()[i]) ? i + 1 : position;
			}
			advised.addAdvisor(position, outermost);
			complete(advised);
		}
	}

	/**
	 * Call an annotated method that has no parameters, as its scheduler does.
	 * @param bean the bean, or its proxy
	 * @param method the method
	 * @throws UndeclaredThrowableException if it throws what is no RuntimeException
	 */
	public static void call(Object bean, Method method) {
		try {
			AopUtils.invokeJoinpointUsingReflection(bean, AopUtils.selectInvocableMethod(method, bean.getClass()),
					new Object[0]);
		}
		catch (RuntimeException | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new UndeclaredThrowableException(ex);
		}
	}

	/**
	 * Create a proxy that is like the one of a bean but for the advice of this
	 * post-processor.
	 */
	final Object createProxy(Object bean, Advisor instead) {
		Object guarded = bean;
		while (!isGuarded(guarded)) {
			guarded = AopProxyUtils.getSingletonTarget(guarded);
			Assert.state(guarded != null, "'bean' must have a proxy of this post-processor");
		}
		Advised like = (Advised) guarded;
		ProxyFactory proxy = new ProxyFactory();
		proxy.setTargetSource(like.getTargetSource());
		proxy.setProxyTargetClass(like.isProxyTargetClass());
		proxy.setInterfaces(like.getProxiedInterfaces());
		proxy.setExposeProxy(like.isExposeProxy());
		for (Advisor advisor : like.getAdvisors()) {
			proxy.addAdvisor((advisor == this.advisor) ? instead : advisor);
		}
		return proxy.getProxy(AopUtils.getTargetClass(like).getClassLoader());
	}

	private boolean isGuarded(Object bean) {
		return bean instanceof Advised advised && Arrays.asList(advised.getAdvisors()).contains(this.advisor);
	}

	/**
	 * Matches annotated methods.
	 */
	private final class AnnotatedMethodPointcut extends StaticMethodMatcherPointcut {

		private AnnotatedMethodPointcut() {
			setClassFilter((type) -> !annotated().of(type).isEmpty());
		}

		private AnnotatedMethodFinder annotated() {
			return AnnotatedMethodBeanPostProcessor.this.annotated;
		}

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return annotated().of(targetClass).contains(AopUtils.getMostSpecificMethod(method, targetClass));
		}

	}

}
