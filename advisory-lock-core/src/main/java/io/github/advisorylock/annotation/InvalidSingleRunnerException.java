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

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.AdvisoryLockKey;
import org.jspecify.annotations.Nullable;

/**
 * Thrown at start-up when a {@link SingleRunner} or {@link LeaderOnly} method can't do
 * what it says.
 *
 * @since 0.1.0
 */
public class InvalidSingleRunnerException extends AdvisoryLockConfigurationException {

	private final String beanName;

	private final Method method;

	/**
	 * Create an exception.
	 * @param beanName the name of the bean
	 * @param method the annotated method
	 * @param problem what is wrong, starting with the attribute it is about or with a
	 * verb
	 * @param action what to change
	 * @param cause what was wrong underneath, if anything
	 */
	public InvalidSingleRunnerException(String beanName, Method method, String problem, String action,
			@Nullable Throwable cause) {
		this(SingleRunner.class, beanName, method, problem, action, cause);
	}

	/**
	 * Create an exception.
	 * @param annotation the annotation of the method
	 * @param beanName the name of the bean
	 * @param method the annotated method
	 * @param problem what is wrong, starting with the attribute it is about or with a
	 * verb
	 * @param action what to change
	 * @param cause what was wrong underneath, if anything
	 */
	public InvalidSingleRunnerException(Class<? extends Annotation> annotation, String beanName, Method method,
			String problem, String action, @Nullable Throwable cause) {
		super("@" + annotation.getSimpleName() + " method '" + method.getName() + "' of class '"
				+ method.getDeclaringClass().getName() + "' on bean '" + beanName + "' "
				+ AdvisoryLockKey.printable(problem), AdvisoryLockKey.printable(action), cause);
		this.beanName = beanName;
		this.method = method;
	}

	/**
	 * Return the name of the bean.
	 * @return the bean name
	 */
	public String getBeanName() {
		return this.beanName;
	}

	/**
	 * Return the annotated method.
	 * @return the method
	 */
	public Method getMethod() {
		return this.method;
	}

	/**
	 * An attribute of an annotation that is unusable, before it is known on which bean.
	 */
	static final class InvalidAttributeException extends RuntimeException {

		private final String action;

		InvalidAttributeException(String attribute, String problem, String action, @Nullable Throwable cause) {
			super("is unusable: attribute '" + attribute + "' " + problem, cause);
			this.action = action;
		}

		InvalidSingleRunnerException on(String beanName, Method method) {
			return new InvalidSingleRunnerException(beanName, method, String.valueOf(getMessage()), this.action, this);
		}

	}

}
