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
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the methods with our annotations, all in one look at each class.
 */
final class AnnotatedMethodFinder {

	private static final Collection<Class<? extends Annotation>> NONE = List.of();

	private final Map<Class<?>, Map<Class<? extends Annotation>, Set<Method>>> methods = new ConcurrentHashMap<>();

	private final Collection<Class<? extends Annotation>> annotations;

	AnnotatedMethodFinder(Collection<Class<? extends Annotation>> annotations) {
		this.annotations = annotations;
	}

	/**
	 * Return whether a class has annotated methods, with whichever annotation.
	 */
	boolean hasAny(Class<?> targetClass) {
		return !all(targetClass).isEmpty();
	}

	/**
	 * Return the methods of a class, its superclasses and interfaces that have an
	 * annotation.
	 */
	Collection<Method> of(Class<?> targetClass, Class<? extends Annotation> annotation) {
		return all(targetClass).getOrDefault(annotation, Set.of());
	}

	/**
	 * Return the methods with an annotation that the interfaces of a class declare.
	 */
	Collection<Method> declaredByInterfaces(Class<?> type, Class<? extends Annotation> annotation) {
		return find(interfacesOf(type), null).getOrDefault(annotation, Set.of());
	}

	private Map<Class<? extends Annotation>, Set<Method>> all(Class<?> targetClass) {
		return this.methods.computeIfAbsent(ClassUtils.getUserClass(targetClass), this::findSpecific);
	}

	private Map<Class<? extends Annotation>, Set<Method>> findSpecific(Class<?> type) {
		Set<Class<?>> declaringTypes = interfacesOf(type);
		for (Class<?> each = type; each != null; each = each.getSuperclass()) {
			declaringTypes.add(each);
		}
		return find(declaringTypes, type);
	}

	/**
	 * Every bean of an application comes through here, so ask the cheap questions first:
	 * most methods have no annotation at all. Compilers copy annotations to methods of
	 * their own: Java to bridges, Kotlin to the body of a {@code suspend} function.
	 * @param type the class whose methods are meant, {@code null} for those as declared
	 */
	private Map<Class<? extends Annotation>, Set<Method>> find(Set<Class<?>> declaringTypes, @Nullable Class<?> type) {
		Map<Class<? extends Annotation>, Set<Method>> found = new LinkedHashMap<>();
		for (Class<?> each : declaringTypes) {
			if (AnnotationUtils.isCandidateClass(each, this.annotations)) {
				for (Method method : ReflectionUtils.getDeclaredMethods(each)) {
					boolean annotated = !method.isSynthetic() && method.getDeclaredAnnotations().length > 0;
					for (Class<? extends Annotation> annotation : annotated ? this.annotations : NONE) {
						if (AnnotatedElementUtils.isAnnotated(method, annotation)) {
							found.computeIfAbsent(annotation, (none) -> new LinkedHashSet<>())
								.add((type != null) ? AopUtils.getMostSpecificMethod(method, type) : method);
						}
					}
				}
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

}
