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

package io.github.advisorylock.doctor;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import io.github.advisorylock.annotation.EveryInstance;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.ScheduledAnnotationBeanPostProcessor;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.util.ClassUtils;

/**
 * Looks at the scheduled methods of all beans: whether each says how it runs in a fleet,
 * and whether anything can call them. Finds them as Spring's scheduler does, which knows
 * composed and repeated annotations. Of a bean that is not there yet, because it is lazy
 * or has a scope of its own, nobody can tell whether the application asks for it later.
 */
record FleetExamination(ConfigurableListableBeanFactory beans, List<String> everyInstance) {

	private static final List<Class<? extends Annotation>> SCHEDULES = List.of(Scheduled.class, Schedules.class);

	private static final List<Class<? extends Annotation>> DECLARATIONS = List.of(SingleRunner.class, LeaderOnly.class,
			EveryInstance.class);

	/**
	 * A random number may come twice.
	 */
	private static final int RANDOM_TRIALS = 10;

	/**
	 * Look, unless nobody wants to know.
	 */
	void examine(Findings findings) {
		boolean unscheduled = !findings.isOff(DoctorCheck.SCHEDULING)
				&& this.beans.getBeanNamesForType(ScheduledAnnotationBeanPostProcessor.class, true, false).length == 0;
		boolean unguarded = !findings.isOff(DoctorCheck.UNGUARDED_SCHEDULED);
		List<ScheduledMethod> all = (unguarded || unscheduled) ? find() : List.of();
		if (unguarded) {
			all.stream().filter(this::isUnguarded).forEach((method) -> foundUnguarded(method, findings));
		}
		if (unscheduled) {
			all.stream()
				.filter(ScheduledMethod::isDeclared)
				.findFirst()
				.ifPresent((method) -> findings.found(DoctorCheck.SCHEDULING, method
						+ " is @Scheduled, and nothing calls it, because scheduling is not enabled in this application",
						"put @EnableScheduling on a configuration class"));
		}
	}

	/**
	 * Look whether the instances of a fleet agree on the ticks of guarded methods. What
	 * is another text whenever it is asked for is another one on each instance, too.
	 */
	void examineCrons(List<SingleRunnerMethod> methods, Findings findings) {
		for (SingleRunnerMethod method : methods) {
			for (Scheduled schedule : AnnotatedElementUtils.getMergedRepeatableAnnotations(method.method(),
					Scheduled.class, Schedules.class)) {
				if (isRandom(schedule.cron())) {
					findings.found(DoctorCheck.RANDOM_CRON,
							"The cron expression '" + schedule.cron() + "' of " + method
									+ " has a random part, so that each instance plans other ticks and runs them all",
							"write one expression for all instances: each tick runs on one of them anyway, and which one "
									+ "that is does not depend on when they ask");
				}
			}
		}
	}

	private boolean isRandom(String cron) {
		try {
			EmbeddedValueResolver resolver = new EmbeddedValueResolver(this.beans);
			return (cron.contains("${") || cron.contains("#{")) && IntStream.range(0, RANDOM_TRIALS)
				.mapToObj((trial) -> String.valueOf(resolver.resolveStringValue(cron)))
				.distinct()
				.count() > 1;
		}
		catch (RuntimeException ex) {
			// Spring's scheduler says what is wrong with it
			return false;
		}
	}

	private static void foundUnguarded(ScheduledMethod method, Findings findings) {
		findings.found(DoctorCheck.UNGUARDED_SCHEDULED,
				method + " is @Scheduled and does not say how it runs in a fleet, so that every instance runs it",
				"put @SingleRunner, @LeaderOnly or @EveryInstance on it, or name it in "
						+ "'advisory-lock.doctor.every-instance' where it is not yours");
	}

	private boolean isUnguarded(ScheduledMethod method) {
		String name = method.method().getDeclaringClass().getName() + "." + method.method().getName();
		return !method.isDeclared() && this.everyInstance.stream()
			.noneMatch((known) -> name.equals(known) || (name.startsWith(known)
					&& (name.charAt(known.length()) == '.' || name.charAt(known.length()) == '$')));
	}

	private List<ScheduledMethod> find() {
		List<ScheduledMethod> found = new ArrayList<>();
		for (String beanName : this.beans.getBeanNamesForType(Object.class, true, false)) {
			// what stands behind the proxy of a scope is found by that
			Class<?> type = ScopedProxyUtils.isScopedTarget(beanName) ? null : typeOf(beanName);
			if (type != null && AnnotationUtils.isCandidateClass(type, SCHEDULES)) {
				scheduled(type).forEach((method) -> found.add(new ScheduledMethod(beanName, method)));
			}
		}
		return found;
	}

	private @Nullable Class<?> typeOf(String beanName) {
		Object bean = this.beans.getSingleton(beanName);
		Class<?> type = (bean != null) ? AopProxyUtils.ultimateTargetClass(bean)
				: AutoProxyUtils.determineTargetClass(this.beans, beanName);
		return (type != null) ? ClassUtils.getUserClass(type) : null;
	}

	private static Set<Method> scheduled(Class<?> type) {
		return MethodIntrospector.selectMethods(type,
				(Method method) -> method.getDeclaredAnnotations().length > 0 && !AnnotatedElementUtils
					.getMergedRepeatableAnnotations(method, Scheduled.class, Schedules.class)
					.isEmpty());
	}

	/**
	 * A scheduled method of a bean.
	 */
	private record ScheduledMethod(String beanName, Method method) {

		private boolean isDeclared() {
			return DECLARATIONS.stream()
				.anyMatch((declaration) -> AnnotatedElementUtils.hasAnnotation(this.method, declaration));
		}

		@Override
		public String toString() {
			return "Method '" + this.method.getName() + "' of class '" + this.method.getDeclaringClass().getName()
					+ "' on bean '" + this.beanName + "'";
		}

	}

}
