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
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.Aware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * Knows the methods that a container calls on a bean itself, not on its proxy: to fill
 * it, to initialize it and to destroy it.
 */
final class ContainerCalls {

	private static final Map<String, String> ANNOTATIONS = Map.of("jakarta.annotation.PostConstruct", "@PostConstruct",
			"jakarta.annotation.PreDestroy", "@PreDestroy", "jakarta.annotation.Resource", "@Resource",
			"jakarta.inject.Inject", "@Inject", "org.springframework.beans.factory.annotation.Autowired", "@Autowired",
			"org.springframework.beans.factory.annotation.Value", "@Value",
			"org.springframework.context.annotation.Bean", "@Bean");

	private ContainerCalls() {
	}

	/**
	 * Find out as what the container calls a method.
	 * @param method a method of a bean
	 * @param type the class of the bean
	 * @param definition the definition of the bean, {@code null} if there is none
	 * @return the role of the method, or {@code null} if only others call it
	 */
	static @Nullable String find(Method method, Class<?> type, @Nullable BeanDefinition definition) {
		String annotation = findAnnotation(method);
		String found = (annotation != null) ? annotation : findInterface(method, type);
		return (found == null && definition instanceof AbstractBeanDefinition known) ? findName(method, type, known)
				: found;
	}

	private static @Nullable String findAnnotation(Method method) {
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		for (Map.Entry<String, String> annotation : ANNOTATIONS.entrySet()) {
			if (annotations.isPresent(annotation.getKey())) {
				return annotation.getValue();
			}
		}
		return null;
	}

	private static @Nullable String findInterface(Method method, Class<?> type) {
		for (Class<?> each : AnnotatedMethodFinder.interfacesOf(type)) {
			if ((each == InitializingBean.class || each == DisposableBean.class || Aware.class.isAssignableFrom(each))
					&& ClassUtils.hasMethod(each, method.getName(), method.getParameterTypes())) {
				return each.getSimpleName();
			}
		}
		return null;
	}

	private static @Nullable String findName(Method method, Class<?> type, AbstractBeanDefinition definition) {
		if (isNamed(method, definition.getInitMethodNames())) {
			return "init method";
		}
		return (isNamed(method, definition.getDestroyMethodNames()) || isInferred(method, type, definition))
				? "destroy method" : null;
	}

	private static boolean isNamed(Method method, String @Nullable [] names) {
		return names != null && Arrays.stream(names)
			.anyMatch((name) -> name.substring(name.lastIndexOf('.') + 1).equals(method.getName()));
	}

	/**
	 * A bean that says nothing else, and was made by a method, is closed or shut down.
	 */
	private static boolean isInferred(Method method, Class<?> type, AbstractBeanDefinition definition) {
		String name = definition.getDestroyMethodName();
		boolean inferred = AbstractBeanDefinition.INFER_METHOD.equals(name)
				|| (name == null && AutoCloseable.class.isAssignableFrom(type));
		return inferred && method.getParameterCount() == 0
				&& (method.getName().equals("close") || method.getName().equals("shutdown"));
	}

}
