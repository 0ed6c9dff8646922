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

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.List;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;

import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Looks for methods that the library runs in one transaction although a transaction stays
 * with the tenant that is current when it begins. A method with an annotation of its own
 * for transactions says that it means one.
 */
final class TenantExamination implements Examination {

	private static final List<String> TRANSACTIONAL = List
		.of("org.springframework.transaction.annotation.Transactional", "jakarta.transaction.Transactional");

	@Override
	public void examine(CheckContext context, Findings findings) {
		context.methods()
			.get()
			.stream()
			.filter((method) -> method.operation().scope() == LockScope.TRANSACTION)
			.filter((method) -> !isTransactional(method.method()))
			.filter(context.hasTenants())
			.forEach((method) -> found(method, findings));
	}

	private static boolean isTransactional(Method method) {
		return isAnnotated(method) || isAnnotated(method.getDeclaringClass());
	}

	private static boolean isAnnotated(AnnotatedElement element) {
		return TRANSACTIONAL.stream()
			.anyMatch((annotation) -> AnnotatedElementUtils.findMergedAnnotationAttributes(element, annotation, false,
					false) != null);
	}

	private static void found(SingleRunnerMethod method, Findings findings) {
		findings.found(DoctorCheck.ONE_TENANT,
				"Scope TRANSACTION makes " + method
						+ " one transaction, and because its DataSource routes, or its entity manager has tenants, all "
						+ "of it is done for the tenant that is current when it begins",
				"set 'scope' to SESSION if it works for several tenants, or put @Transactional on it if it works for one");
	}

}
