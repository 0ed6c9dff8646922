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

package io.github.advisorylock;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Binds the {@link LockContext} of a run to its thread. For implementations of
 * {@link AdvisoryLockOperations}; others read {@link LockContext#current()}.
 *
 * @since 0.1.0
 */
public final class LockContextHolder {

	private static final ThreadLocal<@Nullable LockContext> CONTEXT = new ThreadLocal<>();

	private LockContextHolder() {
	}

	/**
	 * Bind a context to the current thread.
	 * @param context the context of the run that begins, or the one to go back to
	 * @return the context that was bound before, to go back to when the run ends
	 */
	public static @Nullable LockContext bind(@Nullable LockContext context) {
		LockContext previous = CONTEXT.get();
		if (context != null) {
			CONTEXT.set(context);
		}
		else {
			CONTEXT.remove();
		}
		return previous;
	}

	static Optional<LockContext> current() {
		return Optional.ofNullable(CONTEXT.get());
	}

}
