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
import org.springframework.transaction.UnexpectedRollbackException;

/**
 * Explains failures of the transaction that a lock lives in: of what refuses to be called
 * in one, to somebody who has written no {@code @Transactional}, and of a commit that is
 * a rollback because a part of the run has failed and the run went on.
 */
final class RefusedTransaction {

	private static final String SPRING = "Existing transaction found";

	private static final String MARKED = "marked as rollback-only";

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

	/**
	 * Name the method in what is said of a run that has ended well and is rolled back.
	 * @param own what was said of the transaction that was begun for the lock, whose
	 * cause is what the transaction manager has said
	 */
	static UnexpectedRollbackException name(UnexpectedRollbackException own, String method) {
		return (own.getCause() instanceof UnexpectedRollbackException cause) ? new UnexpectedRollbackException(
				"Failed to complete @SingleRunner method '" + method + "': " + own.getMessage(), cause) : own;
	}

	/**
	 * Explain the rollback of a transaction that the method has by its own annotation,
	 * after a run that has ended well.
	 */
	static UnexpectedRollbackException explain(UnexpectedRollbackException ex, String method, AdvisoryLockKey key) {
		return !String.valueOf(ex.getMessage()).contains(MARKED) ? ex
				: new UnexpectedRollbackException("Failed to commit the transaction of @SingleRunner method '" + method
						+ "' (advisory lock '" + key
						+ "'): a part of it has marked it as rollback-only, as a @Transactional "
						+ "method does when it fails, even if the exception is caught; the @Transactional of the method makes all "
						+ "of it one transaction, with and without @SingleRunner; set propagation REQUIRES_NEW on the part that "
						+ "may fail, or remove that @Transactional and set 'scope' of @SingleRunner to SESSION", ex);
	}

	private static boolean isRefusal(Throwable cause) {
		String message = String.valueOf(cause.getMessage());
		return (cause instanceof IllegalTransactionStateException && message.startsWith(SPRING))
				|| (cause instanceof IllegalStateException && message.startsWith(SPRING_BATCH));
	}

}
