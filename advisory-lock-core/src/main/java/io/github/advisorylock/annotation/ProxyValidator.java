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
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Refuses beans whose annotated methods are, or can be, called past the interceptors of
 * their proxy.
 */
final class ProxyValidator {

	private static final String MOCKITO = "org.mockito.Mockito";

	/**
	 * Whether there is Mockito, which takes a look into each jar to find out that there
	 * is none.
	 */
	private final Map<ClassLoader, Boolean> mockito = new ConcurrentHashMap<>();

	private final AnnotatedMethodFinder finder;

	ProxyValidator(AnnotatedMethodFinder finder) {
		this.finder = finder;
	}

	/**
	 * Check a bean before it has interceptors.
	 * @param definition the definition of the bean, {@code null} if there is none
	 */
	void checkTarget(AnnotatedMethods annotated, Object bean, String beanName, @Nullable BeanDefinition definition) {
		Class<?> targetClass = AopUtils.getTargetClass(bean);
		if (Proxy.isProxyClass(bean.getClass()) || AopUtils.isAopProxy(bean)) {
			checkInterfaces(annotated, bean, beanName, targetClass);
		}
		for (Method method : this.finder.of(targetClass, annotated.annotation())) {
			if (bean instanceof Advised advised && advised.isFrozen()) {
				throw annotated.unguarded(beanName, method, "its bean is a frozen proxy, which takes no interceptors",
						"Let what makes the proxy not freeze it.", null);
			}
			checkCalls(annotated, method, targetClass, beanName, definition);
		}
	}

	private static void checkCalls(AnnotatedMethods annotated, Method method, Class<?> targetClass, String beanName,
			@Nullable BeanDefinition definition) {
		String role = ContainerCalls.find(method, targetClass, definition);
		if (role != null) {
			throw annotated.unguarded(beanName, method,
					"the container calls it on the bean itself, not on its proxy (" + role + ")",
					"Move the work to a method that others call, for example on ApplicationReadyEvent.", null);
		}
	}

	/**
	 * Check what the definition of a bean tells of it, before there is one.
	 */
	void checkDefinition(AnnotatedMethods annotated, Class<?> type, String beanName,
			@Nullable BeanDefinition definition) {
		for (Method method : this.finder.of(type, annotated.annotation())) {
			if (Modifier.isFinal(type.getModifiers()) && AnnotatedMethodFinder.interfacesOf(type).isEmpty()) {
				throw noProxy(annotated, method, beanName, null);
			}
			checkCalls(annotated, method, type, beanName, definition);
		}
	}

	static InvalidSingleRunnerException noProxy(AnnotatedMethods annotated, Method method, String beanName,
			@Nullable Throwable cause) {
		return annotated.unguarded(beanName, method,
				"no proxy can be made of its class, for example because that is final",
				"Make the class neither final nor private.", cause);
	}

	/**
	 * A proxy that answers calls by itself does so before interceptors that are added at
	 * its end, and has no class with the annotated method.
	 */
	private void checkInterfaces(AnnotatedMethods annotated, Object bean, String beanName, Class<?> targetClass) {
		boolean withoutTarget = Proxy.isProxyClass(targetClass)
				|| (bean instanceof Advised advised && advised.getTargetSource() instanceof EmptyTargetSource);
		for (Method declared : this.finder.declaredByInterfaces(bean.getClass(), annotated.annotation())) {
			if (withoutTarget || !this.finder.of(targetClass, annotated.annotation())
				.contains(AopUtils.getMostSpecificMethod(declared, targetClass))) {
				throw annotated.unguarded(beanName, declared,
						"its bean is a proxy that was made for an interface and answers calls by itself, as Spring Data "
								+ "repositories and declarative clients do",
						"Annotate a method of the service that calls it.", null);
			}
		}
	}

	/**
	 * Check that the methods of a bean can be called on its proxy only.
	 */
	void checkProxy(AnnotatedMethods annotated, Object proxy, String beanName) {
		Class<?> targetClass = AopUtils.getTargetClass(proxy);
		Collection<Method> methods = this.finder.of(targetClass, annotated.annotation());
		if (AopUtils.isJdkDynamicProxy(proxy)) {
			checkInterfaceMethods(annotated, methods, proxy, beanName);
			return;
		}
		Set<List<Object>> overridden = new HashSet<>();
		for (Method method : proxy.getClass().getDeclaredMethods()) {
			overridden.add(signature(method));
		}
		for (Method method : methods) {
			if (!overridden.contains(signature(method)) || !isVisible(method, proxy.getClass())) {
				throw annotated.unguarded(beanName, method,
						"its proxy can't override it" + (isPackagePrivate(method)
								? ": it can be seen in the package of its class only, and the bean is " + "of class '"
										+ targetClass.getName() + "'"
								: ""),
						"Make the method protected or public.", null);
			}
		}
	}

	private static void checkInterfaceMethods(AnnotatedMethods annotated, Collection<Method> methods, Object proxy,
			String beanName) {
		Class<?> targetClass = AopUtils.getTargetClass(proxy);
		Set<Method> known = Arrays.stream(proxy.getClass().getInterfaces())
			.flatMap((type) -> Arrays.stream(type.getMethods()))
			.map((candidate) -> AopUtils.getMostSpecificMethod(candidate, targetClass))
			.collect(Collectors.toSet());
		for (Method method : methods) {
			if (!known.contains(method)) {
				throw annotated.unguarded(beanName, method, "it is not part of an interface of the bean's JDK proxy",
						"Add the method to the interface, or set 'spring.aop.proxy-target-class' to true.", null);
			}
		}
	}

	/**
	 * Return what a method has in common with those that override it.
	 */
	private static List<Object> signature(Method method) {
		return List.of(method.getName(), List.of(method.getParameterTypes()));
	}

	/**
	 * Return whether a bean is a mock, which tests register ready-made in the place of
	 * beans. They have the class of what they stand for, annotations and all, and do
	 * nothing that a lock would have to guard.
	 */
	boolean isMock(Object bean) {
		ClassLoader classLoader = bean.getClass().getClassLoader();
		if (classLoader == null
				|| !this.mockito.computeIfAbsent(classLoader, (loader) -> ClassUtils.isPresent(MOCKITO, loader))) {
			return false;
		}
		Class<?> mockito = ClassUtils.resolveClassName(MOCKITO, classLoader);
		Class<?> details = ClassUtils.resolveClassName("org.mockito.MockingDetails", classLoader);
		Object told = ReflectionUtils.invokeMethod(ClassUtils.getMethod(mockito, "mockingDetails", Object.class), null,
				bean);
		return Boolean.TRUE.equals(ReflectionUtils.invokeMethod(ClassUtils.getMethod(details, "isMock"), told))
				&& Boolean.FALSE.equals(ReflectionUtils.invokeMethod(ClassUtils.getMethod(details, "isSpy"), told));
	}

	private static boolean isVisible(Method method, Class<?> proxyClass) {
		return !isPackagePrivate(method) || isSamePackage(method.getDeclaringClass(), proxyClass);
	}

	private static boolean isPackagePrivate(Method method) {
		return (method.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED | Modifier.PRIVATE)) == 0;
	}

	private static boolean isSamePackage(Class<?> one, Class<?> other) {
		return one.getClassLoader() == other.getClassLoader()
				&& ClassUtils.getPackageName(one).equals(ClassUtils.getPackageName(other));
	}

}
