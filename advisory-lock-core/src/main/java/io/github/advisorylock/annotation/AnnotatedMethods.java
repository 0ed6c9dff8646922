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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;

import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * The methods with one of our annotations: what they must be like, and what is put around
 * them. {@link SingleRunnerAnnotationBeanPostProcessor} finds them.
 *
 * @since 0.1.0
 */
public abstract class AnnotatedMethods {

	private static final String CONTINUATION = "kotlin.coroutines.Continuation";

	private final Class<? extends Annotation> annotation;

	private final String consequence;

	/**
	 * Create it without methods.
	 * @param annotation what methods are annotated with
	 * @param consequence what a method without interceptor would do
	 */
	protected AnnotatedMethods(Class<? extends Annotation> annotation, String consequence) {
		this.annotation = annotation;
		this.consequence = consequence;
	}

	final Class<? extends Annotation> annotation() {
		return this.annotation;
	}

	/**
	 * Return what is put around the methods.
	 * @return the interceptor
	 */
	protected abstract Advice advice();

	/**
	 * Check and remember the methods of a bean.
	 * @param beanName the name of the bean
	 * @param targetClass the class of the bean
	 * @param methods its annotated methods, one at least
	 */
	protected abstract void register(String beanName, Class<?> targetClass, Collection<Method> methods);

	/**
	 * Check the methods of a bean that may be made later.
	 * @param beanName the name of the bean
	 * @param targetClass the class of the bean, as its definition tells it
	 * @param methods its annotated methods, one at least
	 */
	protected abstract void examine(String beanName, Class<?> targetClass, Collection<Method> methods);

	/**
	 * Refuse a method that can't have a proxy, or contradicts itself, and one whose work
	 * may go on after it has returned.
	 * @param beanName the name of the bean
	 * @param method the annotated method
	 * @param reason why the work must not go on
	 */
	protected final void checkMethod(String beanName, Method method, String reason) {
		checkDeclaration(beanName, method);
		checkSynchronous(beanName, method, reason);
	}

	/**
	 * Refuse a method that can't have a proxy, or contradicts itself.
	 */
	final void checkDeclaration(String beanName, Method method) {
		if (AnnotatedElementUtils.hasAnnotation(method, EveryInstance.class)) {
			throw invalid(beanName, method, "must not be @EveryInstance, too: it runs on one instance at a time",
					"Remove one of the two.", null);
		}
		int modifiers = method.getModifiers();
		String modifier = Modifier.isPrivate(modifiers) ? "private"
				: Modifier.isStatic(modifiers) ? "static" : Modifier.isFinal(modifiers) ? "final" : null;
		if (modifier != null) {
			throw invalid(beanName, method, "must not be " + modifier + ": a proxy can't override it",
					"Remove the modifier" + (modifier.equals("final")
							? ", or open the class (the Kotlin Spring plugin does that for annotated beans)." : "."),
					null);
		}
	}

	/**
	 * Refuse a method whose work may go on after it has returned.
	 */
	final void checkSynchronous(String beanName, Method method, String reason) {
		if (isAsynchronous(method)) {
			throw invalid(beanName, method, "must not be asynchronous: " + reason,
					"Do the work in the method itself and return its result. Where it has to start elsewhere, annotate "
							+ "the method that does the work.",
					null);
		}
	}

	private static boolean isAsynchronous(Method method) {
		Class<?> type = method.getReturnType();
		Class<?>[] parameters = method.getParameterTypes();
		boolean suspends = parameters.length > 0 && parameters[parameters.length - 1].getName().equals(CONTINUATION);
		return suspends || Future.class.isAssignableFrom(type) || Flow.Publisher.class.isAssignableFrom(type)
				|| CompletionStage.class.isAssignableFrom(type)
				|| (type != void.class && ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null);
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
		return new InvalidSingleRunnerException(this.annotation, beanName, method, problem, action, cause);
	}

	/**
	 * Create what is thrown for a method that would be called without its interceptor.
	 */
	final InvalidSingleRunnerException unguarded(String beanName, Method method, String problem, String action,
			@Nullable Throwable cause) {
		return invalid(beanName, method, this.consequence + ": " + problem, action, cause);
	}

}
