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
import java.time.Duration;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import io.github.advisorylock.interceptor.SkippedValue;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;

/**
 * Finds annotated methods that could not do what their annotation says.
 */
final class SingleRunnerMethodValidator {

	private final AnnotatedMethods annotated;

	/**
	 * Create a check.
	 * @param annotated knows which methods are annotated
	 */
	SingleRunnerMethodValidator(AnnotatedMethods annotated) {
		this.annotated = annotated;
	}

	/**
	 * Check a method.
	 * @param transaction what its {@code @Transactional} says, {@code null} without one
	 */
	void validate(String beanName, Method method, @Nullable TransactionAttribute transaction,
			SingleRunnerOperation operation) {
		validateReturnType(beanName, method, operation);
		if (operation.scope() == LockScope.TRANSACTION && transaction != null) {
			validatePropagation(beanName, method, transaction);
			validateIsolation(beanName, method, operation, transaction);
			validateTimeout(beanName, method, operation, transaction);
			validateReadOnly(beanName, method, operation, transaction);
		}
	}

	private void validateReturnType(String beanName, Method method, SingleRunnerOperation operation) {
		this.annotated.checkSynchronous(beanName, method, "the lock would be released before the work is done");
		if (SkippedValue.of(method) != SkippedValue.NONE) {
			return;
		}
		if (!operation.failWhenBusy()) {
			throw invalid(beanName, method,
					"must not return " + SkippedValue.describe(method)
							+ " with attribute 'whenBusy' set to SKIP: there is no value for a skipped call",
					"Return an object that may be null, an Optional or a LockResult, or set 'whenBusy' to FAIL.");
		}
		if (operation.ledger().decides()) {
			throw invalid(beanName, method,
					"must not return " + SkippedValue.describe(method)
							+ " with attribute 'once' or 'minInterval': there is no value for a skipped call",
					"Return an object that may be null, an Optional or a LockResult.");
		}
	}

	private void validateReadOnly(String beanName, Method method, SingleRunnerOperation operation,
			TransactionAttribute transaction) {
		if (operation.ledger().recorded() && transaction.isReadOnly()) {
			throw invalid(beanName, method,
					"conflicts with attribute 'readOnly' of its @Transactional: its runs are recorded in the ledger, in the "
							+ "same transaction, which must be able to write",
					"Remove 'readOnly', or set 'scope' to SESSION.");
		}
	}

	private void validatePropagation(String beanName, Method method, TransactionAttribute transaction) {
		String propagation = switch (transaction.getPropagationBehavior()) {
			case TransactionDefinition.PROPAGATION_NEVER -> "NEVER";
			case TransactionDefinition.PROPAGATION_NOT_SUPPORTED -> "NOT_SUPPORTED";
			case TransactionDefinition.PROPAGATION_SUPPORTS -> "SUPPORTS";
			default -> null;
		};
		if (propagation != null) {
			throw invalid(beanName, method,
					"conflicts with its @Transactional: attribute 'scope' TRANSACTION needs a transaction, which "
							+ "propagation " + propagation + " does not promise",
					"Set the propagation to REQUIRED, REQUIRES_NEW, MANDATORY or NESTED, or 'scope' to SESSION.");
		}
	}

	private void validateIsolation(String beanName, Method method, SingleRunnerOperation operation,
			TransactionAttribute transaction) {
		if (!operation.waitFor().isZero()
				&& transaction.getIsolationLevel() >= TransactionDefinition.ISOLATION_REPEATABLE_READ) {
			throw invalid(beanName, method,
					"must not set attribute 'waitFor' under its isolation level: the snapshot of a REPEATABLE READ or "
							+ "SERIALIZABLE transaction would be older than the lock" + source(method),
					"Remove 'waitFor', or set 'scope' to SESSION, which locks before the transaction begins.");
		}
	}

	private void validateTimeout(String beanName, Method method, SingleRunnerOperation operation,
			TransactionAttribute transaction) {
		Duration timeout = Duration.ofSeconds(transaction.getTimeout());
		if (transaction.getTimeout() > 0 && operation.waitFor().compareTo(timeout) >= 0) {
			throw invalid(beanName, method,
					"conflicts with attribute 'timeout' of its @Transactional: the method waits for its lock for "
							+ operation.waitFor() + " inside its transaction, which times out after " + timeout
							+ source(method),
					"Set 'waitFor' to less than 'timeout', or 'scope' to SESSION, which locks before the transaction "
							+ "begins.");
		}
	}

	/**
	 * Say who has set the time to wait, where that is not the annotation.
	 */
	private static String source(Method method) {
		SingleRunner annotation = AnnotationSingleRunnerOperationSource.findAnnotation(method);
		return (annotation != null && annotation.waitFor().isEmpty())
				? " (the time to wait is set by 'advisory-lock.wait-for' or 'advisory-lock.jobs.<key>.wait-for')" : "";
	}

	private InvalidSingleRunnerException invalid(String beanName, Method method, String problem, String action) {
		return this.annotated.invalid(beanName, method, problem, action, null);
	}

}
