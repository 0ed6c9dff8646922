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

package io.github.advisorylock.interceptor;

import io.github.advisorylock.AdvisoryLockKey;

import org.springframework.transaction.IllegalTransactionStateException;

/**
 * Explains a failure of what refuses to be called in a transaction, to somebody who has
 * written no {@code @Transactional}: the transaction is the one that the lock lives in.
 */
final class RefusedTransaction {

	private static final String SPRING = "Existing transaction found";

	private static final String SPRING_BATCH = "Existing transaction detected";

	private RefusedTransaction() {
	}

	/**
	 * Add the explanation to a failure, if it is such a one.
	 */
	static void explain(Throwable failure, String method, AdvisoryLockKey key) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (isRefusal(cause)) {
				failure.addSuppressed(new IllegalStateException(
						"The transaction that is in the way is the one that " + "advisory lock '" + key + "' of '"
								+ method + "' lives in, by scope TRANSACTION, whether or not "
								+ "there is a @Transactional; set 'scope' of its @SingleRunner to SESSION"));
				return;
			}
		}
	}

	private static boolean isRefusal(Throwable cause) {
		String message = String.valueOf(cause.getMessage());
		return (cause instanceof IllegalTransactionStateException && message.startsWith(SPRING))
				|| (cause instanceof IllegalStateException && message.startsWith(SPRING_BATCH));
	}

}
