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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.interceptor.SingleRunnerInterceptor;
import io.github.advisorylock.interceptor.SingleRunnerObserver;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.Ordered;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringValueResolver;
import org.springframework.util.function.SingletonSupplier;

/**
 * Puts the interceptors around beans with {@link SingleRunner} methods: one outside
 * everything but asynchronous execution, where a session lock belongs, and one inside
 * everything, where a transaction's lock belongs; and those of other
 * {@link AnnotatedMethods} outside both. Needs no AspectJ.
 * <p>
 * Checks each annotated method when its bean is created, and refuses a bean whose methods
 * would be called without their interceptors, as soon as that is known.
 * <p>
 * Comes before all post-processors that register methods of beans with somebody who calls
 * them: schedulers and containers of message listeners must get hold of the proxy. Those
 * have the lowest precedence, and others with that add advice of their own; what all of
 * them have added is put in order by {@link #arrange(Advised)}.
 *
 * @since 0.1.0
 */
public class SingleRunnerAnnotationBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements SmartInstantiationAwareBeanPostProcessor, SmartInitializingSingleton,
		ApplicationListener<ContextRefreshedEvent> {

	/**
	 * Class and name of the beans that were checked: those of other scopes are created
	 * again and again.
	 */
	private final transient Set<List<Object>> checked = ConcurrentHashMap.newKeySet();

	private final transient List<Runnable> reschedulings = new CopyOnWriteArrayList<>();

	private final transient AnnotationSingleRunnerOperationSource operationSource;

	private final transient SingleRunnerInterceptor interceptor;

	private final transient SingleRunnerMethodRegistry methods;

	private final transient AnnotatedMethodFinder finder;

	private final transient ProxyValidator validator;

	/**
	 * The outermost first.
	 */
	private final transient List<Guard> guards;

	private final transient Pointcut singleRunner;

	private final transient Advisor insideTransaction;

	/**
	 * Goes around what hands calls over to other threads.
	 */
	private final transient Advisor plannedTime = new DefaultPointcutAdvisor(PlannedTime.carrier());

	/**
	 * Create a post-processor.
	 * @param settings what holds for all methods; asked for at the first annotated method
	 * @param placeholders resolves the placeholders of attributes
	 * @param operations see {@link SingleRunnerInterceptor}
	 * @param observer see {@link SingleRunnerInterceptor}
	 * @param eventPublisher see {@link SingleRunnerInterceptor}
	 * @param others methods with other annotations, whose interceptors go outside the
	 * locks
	 */
	public SingleRunnerAnnotationBeanPostProcessor(Supplier<SingleRunnerSettings> settings,
			StringValueResolver placeholders, Supplier<? extends AdvisoryLockOperations> operations,
			Supplier<? extends @Nullable SingleRunnerObserver> observer, ApplicationEventPublisher eventPublisher,
			Collection<? extends AnnotatedMethods> others) {
		this.operationSource = new AnnotationSingleRunnerOperationSource(settings, placeholders);
		this.interceptor = new SingleRunnerInterceptor(this.operationSource, operations,
				SingletonSupplier.ofNullable(observer), eventPublisher);
		this.methods = new SingleRunnerMethodRegistry(this.operationSource, this.interceptor);
		List<AnnotatedMethods> all = new ArrayList<>(others);
		all.add(this.methods);
		List<Class<? extends Annotation>> annotations = new ArrayList<>();
		this.guards = new ArrayList<>();
		for (AnnotatedMethods annotated : all) {
			annotations.add(annotated.annotation());
			this.guards.add(new Guard(annotated,
					new DefaultPointcutAdvisor(pointcut(annotated.annotation()), annotated.advice())));
		}
		this.finder = new AnnotatedMethodFinder(annotations);
		this.validator = new ProxyValidator(this.finder);
		this.advisor = this.guards.get(this.guards.size() - 1).advisor();
		this.singleRunner = pointcut(SingleRunner.class);
		this.insideTransaction = new DefaultPointcutAdvisor(this.singleRunner, this.interceptor.insideTransaction());
		setBeforeExistingAdvisors(true);
		setOrder(Ordered.LOWEST_PRECEDENCE - 1);
	}

	private Pointcut pointcut(Class<? extends Annotation> annotation) {
		return new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				return SingleRunnerAnnotationBeanPostProcessor.this.finder.of(targetClass, annotation)
					.contains(AopUtils.getMostSpecificMethod(method, targetClass));
			}

		};
	}

	/**
	 * Return the annotated methods of the beans that were created so far.
	 * @return the methods, in the order in which they were found
	 */
	public List<SingleRunnerMethod> getMethods() {
		return this.methods.all();
	}

	/**
	 * Parse the schedule of a method again, as a scheduler was given the method anew.
	 * @param method the method, as its bean or a proxy declares it
	 * @param targetClass the class of the bean
	 * @return how the method runs, {@code null} if it is not annotated
	 */
	public @Nullable SingleRunnerOperation planned(Method method, Class<?> targetClass) {
		SingleRunnerOperation operation = this.operationSource.find(method, targetClass);
		if (operation != null && operation.parseScheduleAgain()) {
			this.reschedulings.forEach(Runnable::run);
		}
		return operation;
	}

	/**
	 * Have a method called by the schedules that operators have chosen.
	 * @param method the method
	 * @param changes the schedules
	 */
	public void reschedule(SingleRunnerMethod method, CronTicks.Changes changes) {
		method.operation().reschedule(changes);
		this.reschedulings.forEach(Runnable::run);
	}

	/**
	 * Have something done whenever the schedule of a method has become another one.
	 * @param listener what to do; must be quick
	 */
	public void whenRescheduled(Runnable listener) {
		this.reschedulings.add(listener);
	}

	/**
	 * Call a method without parameters for an operator: whatever its schedule and its
	 * intervals say. The call goes through the advice of its bean as any other does, in a
	 * proxy that is made for it.
	 * @param method the method
	 * @return how the call ended
	 * @throws IllegalStateException if the method was not called on this thread
	 */
	public LockOutcome callNow(SingleRunnerMethod method) {
		return callNow(method, Runnable::run);
	}

	/**
	 * As {@link #callNow(SingleRunnerMethod)}, for a tick.
	 * @param method the method
	 * @param planned makes the call as one that was planned for the tick
	 * @return how the call ended
	 * @throws IllegalStateException if the method was not called on this thread
	 */
	public LockOutcome callNow(SingleRunnerMethod method, Consumer<Runnable> planned) {
		Assert.state(this.beanFactory != null, "'beanFactory' must be set");
		AtomicReference<@Nullable LockOutcome> outcome = new AtomicReference<>();
		// With the same pointcut each time: for another one Spring generates a class
		Advisor now = new DefaultPointcutAdvisor(this.singleRunner, this.interceptor.now(outcome::set));
		Object bean = createProxy(this.beanFactory.getBean(method.beanName()), now);
		planned.accept(() -> call(bean, method.method()));
		LockOutcome told = outcome.get();
		Assert.state(told != null, "Failed to tell how the run ended: it did not take place on this thread, "
				+ "or its transaction was rolled back although the method returned");
		return told;
	}

	/**
	 * Call an annotated method that has no parameters, as its scheduler does.
	 * @param bean the bean, or its proxy
	 * @param method the method
	 * @throws java.lang.reflect.UndeclaredThrowableException if it throws what is no
	 * RuntimeException
	 */
	public static void call(Object bean, Method method) {
		try {
			AopUtils.invokeJoinpointUsingReflection(bean, AopUtils.selectInvocableMethod(method, bean.getClass()),
					new Object[0]);
		}
		catch (Throwable ex) {
			ReflectionUtils.rethrowRuntimeException(ex);
		}
	}

	/**
	 * Create a proxy that is like the one of a bean but for the outer advice of its
	 * {@link SingleRunner} methods.
	 */
	private Object createProxy(Object bean, Advisor instead) {
		Object guarded = bean;
		while (!isGuarded(guarded, this.advisor)) {
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

	/**
	 * Refuse a bean that others get hold of before it has its proxy.
	 */
	@Override
	public Object getEarlyBeanReference(Object bean, String beanName) {
		for (Guard guard : guardsOf(AopUtils.getTargetClass(bean))) {
			throw guard.annotated()
				.unguarded(beanName, firstMethod(guard, bean),
						"its bean is part of a circle of references, and others get hold of it before it has its proxy",
						"Break the circle, or make the reference to this bean lazy (ObjectProvider, @Lazy).", null);
		}
		return bean;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof AopInfrastructureBean || bean instanceof ScopedObject
				|| beanName.equals(bean.getClass().getName() + AutowireCapableBeanFactory.ORIGINAL_INSTANCE_SUFFIX)) {
			return bean;
		}
		Class<?> targetClass = AopUtils.getTargetClass(bean);
		boolean first = !isChecked(beanName, targetClass);
		if (first) {
			if (isMock(bean, targetClass)) {
				return bean;
			}
			register(bean, beanName, targetClass);
		}
		if (!this.finder.hasAny(targetClass)) {
			return bean;
		}
		Object proxy = createProxy(bean, beanName);
		arrange((Advised) proxy);
		if (first) {
			for (Guard guard : guardsOf(targetClass)) {
				this.validator.checkProxy(guard.annotated(), proxy, beanName);
			}
			this.checked.add(List.of(beanName, ClassUtils.getUserClass(targetClass)));
		}
		else {
			madeAgain(ClassUtils.getUserClass(targetClass));
		}
		return proxy;
	}

	private void register(Object bean, String beanName, Class<?> targetClass) {
		BeanDefinition definition = this.finder.hasAny(targetClass) ? definition(beanName) : null;
		for (Guard guard : this.guards) {
			this.validator.checkTarget(guard.annotated(), bean, beanName, definition);
		}
		for (Guard guard : guardsOf(targetClass)) {
			guard.annotated()
				.register(beanName, targetClass, this.finder.of(targetClass, guard.annotated().annotation()));
		}
	}

	/**
	 * The values of placeholders may be others than for a bean that was made before.
	 */
	private void madeAgain(Class<?> targetClass) {
		this.finder.of(targetClass, SingleRunner.class).forEach((method) -> planned(method, targetClass));
	}

	/**
	 * A mock does nothing that would have to be guarded, and has the key of the bean that
	 * it may stand beside.
	 */
	private boolean isMock(Object bean, Class<?> targetClass) {
		return this.finder.hasAny(targetClass) && this.validator.isMock(bean);
	}

	private boolean isChecked(String beanName, Class<?> targetClass) {
		return this.checked.contains(List.of(beanName, ClassUtils.getUserClass(targetClass)));
	}

	private @Nullable BeanDefinition definition(String beanName) {
		ConfigurableListableBeanFactory beans = this.beanFactory;
		return (beans != null && beans.containsBeanDefinition(beanName)) ? beans.getMergedBeanDefinition(beanName)
				: null;
	}

	private List<Guard> guardsOf(Class<?> targetClass) {
		List<Guard> found = new ArrayList<>();
		for (Guard guard : this.finder.hasAny(targetClass) ? this.guards : List.<Guard>of()) {
			if (!this.finder.of(targetClass, guard.annotated().annotation()).isEmpty()) {
				found.add(guard);
			}
		}
		return found;
	}

	private Method firstMethod(Guard guard, Object bean) {
		return this.finder.of(AopUtils.getTargetClass(bean), guard.annotated().annotation()).iterator().next();
	}

	private static boolean isGuarded(Object bean, @Nullable Advisor advisor) {
		return bean instanceof Advised advised && Arrays.asList(advised.getAdvisors()).contains(advisor);
	}

	private Object createProxy(Object bean, String beanName) {
		try {
			return super.postProcessAfterInitialization(bean, beanName);
		}
		catch (AopConfigException ex) {
			Guard guard = guardsOf(AopUtils.getTargetClass(bean)).get(0);
			throw ProxyValidator.noProxy(guard.annotated(), firstMethod(guard, bean), beanName, ex);
		}
	}

	@Override
	protected boolean isEligible(Class<?> targetClass) {
		return this.finder.hasAny(targetClass);
	}

	/**
	 * An opaque proxy could not be told from the bean.
	 */
	@Override
	protected void customizeProxyFactory(ProxyFactory proxyFactory) {
		proxyFactory.setOpaque(false);
	}

	/**
	 * Put our advice in its place. A lock must not be released while work that was
	 * started under it goes on elsewhere. What an asynchronous method calls may be
	 * guarded, if it is not itself.
	 * @param advised a proxy to which every other post-processor has added its advice
	 */
	public final void arrange(Advised advised) {
		boolean guarded = false;
		for (Guard guard : this.guards) {
			guarded |= isGuarded(advised, guard.advisor());
		}
		if (advised.isFrozen() || (!guarded && !isAsynchronous(advised.getAdvisors()))) {
			return;
		}
		for (Guard guard : this.guards) {
			advised.removeAdvisor(guard.advisor());
		}
		advised.removeAdvisor(this.insideTransaction);
		while (advised.removeAdvisor(this.plannedTime)) {
			// it may be there twice
		}
		Class<?> targetClass = AopUtils.getTargetClass(advised);
		int position = 0;
		for (int i = 0; i < advised.getAdvisorCount(); i++) {
			position = isAsynchronous(advised.getAdvisors()[i]) ? i + 1 : position;
		}
		if (position > 0) {
			advised.addAdvisor(position, this.plannedTime);
			advised.addAdvisor(0, this.plannedTime);
			position += 2;
		}
		for (Guard guard : guarded ? guardsOf(targetClass) : List.<Guard>of()) {
			advised.addAdvisor(position++, guard.advisor());
		}
		if (guarded && !this.finder.of(targetClass, SingleRunner.class).isEmpty()) {
			advised.addAdvisor(this.insideTransaction);
		}
	}

	private static boolean isAsynchronous(Advisor... advisors) {
		return Arrays.stream(advisors).anyMatch((advisor) -> advisor.getAdvice() instanceof AsyncExecutionInterceptor);
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
		checkDefinitions(this.beanFactory);
	}

	/**
	 * Look for mistakes in beans that are made later: those that are lazy, and those of
	 * other scopes.
	 */
	private void checkDefinitions(ConfigurableListableBeanFactory beans) {
		List<SingleRunnerMethod> known = this.methods.all();
		for (String beanName : beans.getBeanDefinitionNames()) {
			BeanDefinition definition = beans.containsSingleton(beanName) ? null : definition(beanName);
			Class<?> type = (definition != null && !definition.isAbstract()) ? typeOf(beanName, definition, beans)
					: null;
			if (type != null && !isChecked(beanName, type)) {
				for (Guard guard : guardsOf(type)) {
					this.validator.checkDefinition(guard.annotated(), type, beanName, definition);
					guard.annotated().examine(beanName, type, this.finder.of(type, guard.annotated().annotation()));
				}
			}
		}
		this.methods.retain(known);
	}

	private static @Nullable Class<?> typeOf(String beanName, BeanDefinition definition,
			ConfigurableListableBeanFactory beans) {
		Object original = definition.getAttribute(AutoProxyUtils.ORIGINAL_TARGET_CLASS_ATTRIBUTE);
		return (original instanceof Class<?> type) ? type : beans.getType(beanName, false);
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
		if (type != null && beans.isSingleton(beanName) && this.finder.hasAny(type)) {
			checkGuarded(beans.getBean(beanName), beanName, problem, action);
		}
	}

	private void checkGuarded(Object bean, String beanName, String problem, String action) {
		Class<?> targetClass = AopUtils.getTargetClass(bean);
		if (bean instanceof ScopedObject || isChecked(beanName, targetClass) || isMock(bean, targetClass)) {
			return;
		}
		for (Guard guard : guardsOf(targetClass)) {
			if (!isGuarded(bean, guard.advisor())) {
				throw guard.annotated().unguarded(beanName, firstMethod(guard, bean), problem, action, null);
			}
		}
	}

	/**
	 * What is put around the methods with an annotation.
	 *
	 * @param annotated the methods
	 * @param advisor brings the advice to them
	 */
	private record Guard(AnnotatedMethods annotated, Advisor advisor) {

	}

}
