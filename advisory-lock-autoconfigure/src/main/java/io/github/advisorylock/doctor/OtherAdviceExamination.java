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

import java.util.List;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;

import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Looks for methods with other annotations that make no sense beside a lock. Their jars
 * need not be there.
 */
final class OtherAdviceExamination {

	private static final String LIMIT = "org.springframework.resilience.annotation.ConcurrencyLimit";

	private static final List<String> RETRIES = List.of("org.springframework.resilience.annotation.Retryable",
			"org.springframework.retry.annotation.Retryable");

	private OtherAdviceExamination() {
	}

	static void examine(List<SingleRunnerMethod> methods, Findings findings) {
		methods.forEach((method) -> examine(method, findings));
	}

	private static void examine(SingleRunnerMethod method, Findings findings) {
		MergedAnnotations annotations = MergedAnnotations.from(method.method(), SearchStrategy.TYPE_HIERARCHY);
		if (annotations.isPresent(LIMIT)) {
			findings.found(DoctorCheck.OTHER_ADVICE, "The " + method
					+ " has @ConcurrencyLimit, which is inside its lock: a call that waits for the limit keeps others "
					+ "from the lock",
					"remove @ConcurrencyLimit, and set 'permits' if more than one may run at a time");
		}
		if (method.operation().ledger().catchUp() != null && method.operation().scope() == LockScope.TRANSACTION
				&& RETRIES.stream().anyMatch(annotations::isPresent)) {
			findings.found(DoctorCheck.OTHER_ADVICE, "The " + method
					+ " has @Retryable and 'catchUp', which lets a tick that failed rest for 30 seconds at least: what "
					+ "@Retryable tries before that is refused",
					"remove @Retryable, and set 'maxRetries' of @SingleRunner");
		}
	}

}
