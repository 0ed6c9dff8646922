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
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.advisorylock.interceptor.SingleRunnerOperation;
import org.aopalliance.aop.Advice;

import org.springframework.core.annotation.AnnotationConfigurationException;

/**
 * The annotated methods of the application's beans, each checked when its bean is
 * created, alone and against those that were there before.
 */
final class SingleRunnerMethodRegistry extends AnnotatedMethods {

	private final AnnotationSingleRunnerOperationSource operationSource;

	private final SingleRunnerMethodValidator validator;

	private final Advice advice;

	/**
	 * By what tells one from all others, in the order in which they came.
	 */
	private final Map<List<Object>, SingleRunnerMethod> methods = new LinkedHashMap<>();

	/**
	 * By what at most one may have, or all that allow it: the text of a key, and the
	 * number of one that is fixed. A new method is looked up, and not compared with all
	 * that are there.
	 */
	private final Map<Object, List<SingleRunnerMethod>> keys = new HashMap<>();

	SingleRunnerMethodRegistry(AnnotationSingleRunnerOperationSource operationSource, Advice advice) {
		super(SingleRunner.class, "would run without a lock");
		this.validator = new SingleRunnerMethodValidator(this);
		this.operationSource = operationSource;
		this.advice = advice;
	}

	@Override
	protected Advice advice() {
		return this.advice;
	}

	@Override
	protected void register(String beanName, Class<?> targetClass, Collection<Method> methods) {
		for (Method method : methods) {
			checkDeclaration(beanName, method);
			SingleRunnerMethod registered = create(beanName, method, targetClass);
			this.validator.validate(beanName, method, this.operationSource.parser().transaction(method, targetClass),
					registered.operation());
			add(registered);
		}
	}

	/**
	 * The methods stay, to be compared with others, until {@link #retain} is called.
	 */
	@Override
	protected void examine(String beanName, Class<?> targetClass, Collection<Method> methods) {
		register(beanName, targetClass, methods);
	}

	/**
	 * Forget all methods but some.
	 */
	synchronized void retain(Collection<SingleRunnerMethod> known) {
		if (this.methods.size() > known.size()) {
			Set<SingleRunnerMethod> kept = Collections.newSetFromMap(new IdentityHashMap<>());
			kept.addAll(known);
			this.methods.values().retainAll(kept);
			this.keys.values().forEach((methods) -> methods.retainAll(kept));
		}
	}

	synchronized List<SingleRunnerMethod> all() {
		return List.copyOf(this.methods.values());
	}

	private SingleRunnerMethod create(String beanName, Method method, Class<?> targetClass) {
		SingleRunnerOperationParser parser = this.operationSource.parser();
		try {
			SingleRunner annotation = AnnotationSingleRunnerOperationSource.findAnnotation(method);
			SingleRunnerOperation operation = this.operationSource.apply(method, targetClass);
			if (annotation == null || operation == null) {
				throw new IllegalStateException("Method '" + method + "' is not annotated");
			}
			return new SingleRunnerMethod(beanName, method, operation, parser.namespace(annotation),
					operation.fixedKey(), annotation.allowSharedKey());
		}
		catch (InvalidSingleRunnerException.InvalidAttributeException ex) {
			throw ex.on(beanName, method);
		}
		catch (AnnotationConfigurationException ex) {
			throw invalid(beanName, method,
					"is unusable: attribute 'key' and its alias 'value' contradict each other: " + attributes(method),
					"Set one of the two.", ex);
		}
	}

	private static String attributes(Method method) {
		SingleRunner declared = method.getDeclaredAnnotation(SingleRunner.class);
		return (declared != null) ? "'" + declared.key() + "' and '" + declared.value() + "'"
				: "an annotation that is composed of @SingleRunner sets both";
	}

	private synchronized void add(SingleRunnerMethod added) {
		SingleRunnerMethod before = this.methods.remove(added.identity());
		for (Object key : (before != null) ? before.keys() : List.of()) {
			withKey(key).remove(before);
		}
		for (Object key : added.keys()) {
			List<SingleRunnerMethod> others = withKey(key);
			if (!others.isEmpty()) {
				checkKeys(added, others.get(0));
			}
		}
		for (Object key : added.keys()) {
			withKey(key).add(added);
		}
		this.methods.put(added.identity(), added);
		this.operationSource.parser().fixedKeys().add(added);
	}

	/**
	 * Return the methods that have a key. Each was checked against the first of them, as
	 * the next one will be: if there are several, then all of them allow that.
	 */
	private List<SingleRunnerMethod> withKey(Object key) {
		return this.keys.computeIfAbsent(key, (none) -> new ArrayList<>(1));
	}

	private void checkKeys(SingleRunnerMethod added, SingleRunnerMethod other) {
		if (added.hasSameKeyText(other)) {
			if (!added.allowSharedKey() || !other.allowSharedKey()) {
				throw invalid(added.beanName(), added.method(),
						"has the same 'key' as " + other + ": '" + added.operation().keyTemplate() + "'",
						"Give each method its own 'key', or set 'allowSharedKey' on both if they are meant to exclude "
								+ "each other.",
						null);
			}
			checkPermits(added, other);
		}
		else if (added.hasSameNumber(other)) {
			throw invalid(added.beanName(), added.method(),
					"has 'key' '" + added.fixedKey() + "', which is locked by the same number as '" + other.fixedKey()
							+ "' of " + other,
					"Change one of the keys, or the AdvisoryLockKeyFactory that made them.", null);
		}
	}

	private void checkPermits(SingleRunnerMethod added, SingleRunnerMethod other) {
		if (added.operation().permits() != other.operation().permits()) {
			throw invalid(added.beanName(), added.method(),
					"has attribute 'permits' set to " + added.operation().permits() + ", and shares its 'key' with "
							+ other + ", which has " + other.operation().permits(),
					"Set the same 'permits' on both: they have them together.", null);
		}
	}

}
