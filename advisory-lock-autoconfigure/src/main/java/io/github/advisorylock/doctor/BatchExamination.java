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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Looks for methods of scope TRANSACTION whose beans start jobs of Spring Batch, which
 * refuses to be called in a transaction. Spring Batch need not be there.
 */
final class BatchExamination {

	private static final List<String> BATCH_TYPES = List.of("org.springframework.batch.core.launch.JobOperator",
			"org.springframework.batch.core.launch.JobLauncher",
			"org.springframework.batch.core.repository.JobRepository");

	private static final String RESOURCELESS = "org.springframework.batch.core.repository.support.ResourcelessJobRepository";

	private BatchExamination() {
	}

	/**
	 * Look at what the container has put into the beans of the methods.
	 */
	static void examine(ConfigurableListableBeanFactory beans, List<SingleRunnerMethod> methods, Findings findings) {
		List<Class<?>> types = new ArrayList<>();
		for (String name : BATCH_TYPES) {
			if (ClassUtils.isPresent(name, beans.getBeanClassLoader())) {
				types.add(ClassUtils.resolveClassName(name, beans.getBeanClassLoader()));
			}
		}
		if (types.isEmpty() || isWithoutTransactions(beans)) {
			return;
		}
		methods.stream()
			.filter((method) -> method.operation().scope() == LockScope.TRANSACTION)
			.filter((method) -> dependencies(beans, method.beanName())
				.anyMatch((dependency) -> types.stream().anyMatch((type) -> type.isAssignableFrom(dependency))))
			.forEach((method) -> findings.found(DoctorCheck.SPRING_BATCH, "The bean of " + method
					+ ", which has scope TRANSACTION, has a part of Spring Batch injected, and "
					+ "Spring Batch refuses to start a job inside a transaction: such a run fails with 'Existing "
					+ "transaction detected in JobRepository'", "set 'scope' to SESSION"));
	}

	/**
	 * A repository that keeps nothing needs no transaction, and refuses none.
	 */
	private static boolean isWithoutTransactions(ConfigurableListableBeanFactory beans) {
		return Arrays.stream(beans.getBeanDefinitionNames())
			.map((name) -> beans.getType(name, false))
			.filter(Objects::nonNull)
			.anyMatch((type) -> type.getName().equals(RESOURCELESS));
	}

	private static Stream<? extends Class<?>> dependencies(ConfigurableListableBeanFactory beans, String beanName) {
		return Arrays.stream(beans.getDependenciesForBean(beanName))
			.filter(beans::containsBean)
			.map((name) -> beans.getType(name, false))
			.filter(Objects::nonNull);
	}

}
