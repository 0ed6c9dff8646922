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
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The methods with one of our annotations, and what all of them must be like.
 */
final class AnnotatedMethodFinder {

	private static final String CONTINUATION = "kotlin.coroutines.Continuation";

	private final Map<Class<?>, Collection<Method>> methods = new ConcurrentHashMap<>();

	private final Class<? extends Annotation> annotation;

	AnnotatedMethodFinder(Class<? extends Annotation> annotation) {
		this.annotation = annotation;
	}

	Class<? extends Annotation> annotation() {
		return this.annotation;
	}

	/**
	 * Return the annotated methods of a class, its superclasses and interfaces.
	 */
	Collection<Method> of(Class<?> targetClass) {
		return this.methods.computeIfAbsent(ClassUtils.getUserClass(targetClass), this::findSpecific);
	}

	/**
	 * Return the annotated methods that the interfaces of a class declare.
	 */
	Collection<Method> declaredByInterfaces(Class<?> type) {
		return find(interfacesOf(type));
	}

	/**
	 * Every bean of an application comes through here, so ask the cheap questions first:
	 * most methods have no annotation at all.
	 */
	private Collection<Method> findSpecific(Class<?> type) {
		Set<Class<?>> declaringTypes = interfacesOf(type);
		for (Class<?> each = type; each != null; each = each.getSuperclass()) {
			declaringTypes.add(each);
		}
		Set<Method> specific = new LinkedHashSet<>();
		find(declaringTypes).forEach((method) -> specific.add(AopUtils.getMostSpecificMethod(method, type)));
		return specific;
	}

	private Collection<Method> find(Set<Class<?>> declaringTypes) {
		Set<Method> found = new LinkedHashSet<>();
		for (Class<?> each : declaringTypes) {
			if (AnnotationUtils.isCandidateClass(each, this.annotation)) {
				ReflectionUtils.doWithLocalMethods(each, (method) -> {
					if (isAnnotated(method)) {
						found.add(method);
					}
				});
			}
		}
		return found;
	}

	/**
	 * Return the interfaces of a class and of its superclasses, and those that they
	 * extend.
	 */
	static Set<Class<?>> interfacesOf(Class<?> type) {
		Set<Class<?>> interfaces = new LinkedHashSet<>();
		addInterfaces(type, interfaces);
		return interfaces;
	}

	private static void addInterfaces(Class<?> type, Set<Class<?>> interfaces) {
		for (Class<?> each = type; each != null; each = each.getSuperclass()) {
			for (Class<?> implemented : each.getInterfaces()) {
				if (interfaces.add(implemented)) {
					addInterfaces(implemented, interfaces);
				}
			}
		}
	}

	/**
	 * Compilers copy annotations to methods of their own: Java to bridges, Kotlin to the
	 * body of a {@code suspend} function.
	 */
	private boolean isAnnotated(Method method) {
		return !method.isSynthetic() && method.getDeclaredAnnotations().length > 0
				&& AnnotatedElementUtils.isAnnotated(method, this.annotation);
	}

	/**
	 * Refuse a method that can't have a proxy, or contradicts itself.
	 */
	void checkDeclaration(String beanName, Method method) {
		checkDeclaredOnce(beanName, method);
		int modifiers = method.getModifiers();
		String modifier = Modifier.isPrivate(modifiers) ? "private"
				: Modifier.isStatic(modifiers) ? "static" : Modifier.isFinal(modifiers) ? "final" : null;
		if (modifier != null) {
			throw invalid(beanName, method, "must not be " + modifier + ": a proxy can't override it",
					"Remove the modifier" + (modifier.equals("final")
							? ", or open the class (the Kotlin Spring plugin " + "does that for annotated beans)."
							: "."));
		}
	}

	/**
	 * Refuse a method that says that every instance runs it, too.
	 */
	private void checkDeclaredOnce(String beanName, Method method) {
		if (AnnotatedElementUtils.hasAnnotation(method, EveryInstance.class)) {
			throw invalid(beanName, method, "must not be @EveryInstance, too: it runs on one instance at a time",
					"Remove one of the two.");
		}
	}

	/**
	 * Refuse a method whose work may go on after it has returned.
	 */
	void checkSynchronous(String beanName, Method method, String reason) {
		if (isAsynchronous(method)) {
			throw invalid(beanName, method, "must not be asynchronous: " + reason,
					"Do the work in the method itself and return its result. Where it has to start elsewhere, annotate "
							+ "the method that does the work.");
		}
	}

	InvalidSingleRunnerException invalid(String beanName, Method method, String problem, String action) {
		return invalid(beanName, method, problem, action, null);
	}

	InvalidSingleRunnerException invalid(String beanName, Method method, String problem, String action,
			@Nullable Throwable cause) {
		return new InvalidSingleRunnerException(this.annotation, beanName, method, problem, action, cause);
	}

	private static boolean isAsynchronous(Method method) {
		Class<?> type = method.getReturnType();
		Class<?>[] parameters = method.getParameterTypes();
		boolean suspends = parameters.length > 0 && parameters[parameters.length - 1].getName().equals(CONTINUATION);
		return suspends || Future.class.isAssignableFrom(type) || Flow.Publisher.class.isAssignableFrom(type)
				|| CompletionStage.class.isAssignableFrom(type)
				|| (type != void.class && ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null);
	}

}
