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

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.interceptor.SingleRunnerInterceptor;
import io.github.advisorylock.interceptor.SingleRunnerObserver;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.util.Assert;
import org.springframework.util.StringValueResolver;
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
public class SingleRunnerAnnotationBeanPostProcessor extends AnnotatedMethodBeanPostProcessor {

	private final transient Supplier<SingleRunnerSettings> settings;

	private final transient Supplier<? extends AdvisoryLockOperations> operations;

	private final transient Supplier<? extends @Nullable SingleRunnerObserver> observer;

	private final transient ApplicationEventPublisher eventPublisher;

	private transient @Nullable SingleRunnerInterceptor interceptor;

	private transient @Nullable SingleRunnerMethodRegistry methods;

	private transient @Nullable AnnotationSingleRunnerOperationSource operationSource;

	private final transient AtomicInteger changedSchedules = new AtomicInteger();

	private transient @Nullable Advisor insideTransaction;

	/**
	 * Goes where calls are handed over to other threads, outside everything.
	 */
	private final transient Advisor plannedTime = createAdvisor(PlannedTime.carrier());

	/**
	 * Create a post-processor.
	 * @param settings what holds for all methods; asked for at the first annotated method
	 * @param operations see {@link SingleRunnerInterceptor}
	 * @param observer see {@link SingleRunnerInterceptor}
	 * @param eventPublisher see {@link SingleRunnerInterceptor}
	 */
	public SingleRunnerAnnotationBeanPostProcessor(Supplier<SingleRunnerSettings> settings,
			Supplier<? extends AdvisoryLockOperations> operations,
			Supplier<? extends @Nullable SingleRunnerObserver> observer, ApplicationEventPublisher eventPublisher) {
		super(SingleRunner.class, "would run without a lock");
		this.settings = settings;
		this.operations = operations;
		this.observer = SingletonSupplier.ofNullable(observer);
		this.eventPublisher = eventPublisher;
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		super.setBeanFactory(beanFactory);
		StringValueResolver placeholders = ((ConfigurableBeanFactory) beanFactory)::resolveEmbeddedValue;
		AnnotationSingleRunnerOperationSource source = new AnnotationSingleRunnerOperationSource(this.settings,
				placeholders);
		SingleRunnerInterceptor interceptor = new SingleRunnerInterceptor(source, this.operations, this.observer,
				this.eventPublisher);
		this.operationSource = source;
		this.interceptor = interceptor;
		this.methods = new SingleRunnerMethodRegistry(annotated(), source, placeholders);
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

	@Override
	protected boolean register(String beanName, Class<?> targetClass) {
		return methods().register(beanName, targetClass);
	}

	@Override
	void madeAgain(Class<?> targetClass) {
		findMethods(targetClass).forEach((method) -> planned(targetClass.getSimpleName() + "." + method.getName()));
	}

	/**
	 * Parse the schedule of a method again, as a scheduler was given the method anew.
	 * @param task what the task of the scheduler prints, which ends with the name of the
	 * class and the method
	 */
	public void planned(String task) {
		Assert.state(this.operationSource != null, "'beanFactory' must be set");
		if (this.operationSource.parseSchedulesAgain(task)) {
			this.changedSchedules.incrementAndGet();
		}
	}

	/**
	 * Return how often the schedule of a method has become another one.
	 * @return the number of changes so far
	 */
	public int changedSchedules() {
		return this.changedSchedules.get();
	}

	@Override
	boolean belongsOutside(Advisor advisor) {
		return super.belongsOutside(advisor) || guards(advisor, LeaderOnly.class);
	}

	@Override
	void complete(Advised advised) {
		advised.removeAdvisor(insideTransaction());
		advised.addAdvisor(insideTransaction());
		advised.removeAdvisor(this.plannedTime);
		if (Arrays.stream(advised.getAdvisors()).anyMatch(AnnotatedMethodBeanPostProcessor::isAsynchronous)) {
			advised.addAdvisor(0, this.plannedTime);
		}
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
		Assert.state(this.interceptor != null && this.beanFactory != null, "'beanFactory' must be set");
		AtomicReference<@Nullable LockOutcome> outcome = new AtomicReference<>();
		Advisor now = createAdvisor(this.interceptor.now(outcome::set));
		call(createProxy(this.beanFactory.getBean(method.beanName()), now), method.method());
		LockOutcome told = outcome.get();
		Assert.state(told != null, "Failed to tell how the run ended: it did not take place on this thread");
		return told;
	}

	/**
	 * As {@link #callNow(SingleRunnerMethod)}, for a tick that is to be tried again.
	 * @param method the method
	 * @param tick the tick, which the ledger lets nobody complete twice
	 * @return how the call ended
	 * @throws IllegalStateException if the method was not called on this thread
	 */
	public LockOutcome callNow(SingleRunnerMethod method, Instant tick) {
		AtomicReference<@Nullable LockOutcome> outcome = new AtomicReference<>();
		PlannedTime.run(tick, () -> outcome.set(callNow(method)));
		LockOutcome told = outcome.get();
		Assert.state(told != null, "'outcome' must not be null");
		return told;
	}

	private SingleRunnerMethodRegistry methods() {
		Assert.state(this.methods != null, "'beanFactory' must be set");
		return this.methods;
	}

	private Advisor insideTransaction() {
		Assert.state(this.insideTransaction != null, "'beanFactory' must be set");
		return this.insideTransaction;
	}

}
