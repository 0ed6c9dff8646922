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

package io.github.advisorylock.support;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockContext;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Binds the context of a run to the current thread, where {@link LockContext#current()}
 * finds it. For implementations of {@link AdvisoryLockOperations}.
 *
 * @since 0.1.0
 */
public final class LockContextBinding {

	private LockContextBinding() {
	}

	/**
	 * Bind a context to the current thread.
	 * @param context the context of the run that begins, or the one to go back to
	 * @return the context that was bound before, to go back to when the run ends
	 */
	public static @Nullable LockContext bind(@Nullable LockContext context) {
		Object previous = TransactionSynchronizationManager.unbindResourceIfPossible(LockContext.class);
		if (context != null) {
			TransactionSynchronizationManager.bindResource(LockContext.class, context);
		}
		return (LockContext) previous;
	}

}
