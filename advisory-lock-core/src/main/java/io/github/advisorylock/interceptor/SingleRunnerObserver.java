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
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import org.jspecify.annotations.Nullable;

/**
 * Watches the calls of guarded methods. What an observer throws is logged, and changes
 * neither the result nor the failure of a call.
 *
 * @since 0.1.0
 */
public interface SingleRunnerObserver {

	/**
	 * Begin to watch a call.
	 * @param operation how the method runs
	 * @param key the key of the call
	 * @return is told how the call goes on
	 */
	Call observe(SingleRunnerOperation operation, AdvisoryLockKey key);

	/**
	 * One call that is watched.
	 */
	interface Call {

		/**
		 * Nobody watches this call.
		 */
		Call UNOBSERVED = new Call() {

			@Override
			public Work begin(LockContext lock) {
				return Work.UNOBSERVED;
			}

			@Override
			public void end(@Nullable LockOutcome outcome, @Nullable Throwable failure) {
			}

		};

		/**
		 * The lock is taken, and the work begins on this thread.
		 * @param lock the lock
		 * @return to be closed when the work has ended, before its commit
		 */
		Work begin(LockContext lock);

		/**
		 * The call is over, and its transaction and its lock too. Not told of a call that
		 * other advice of the method has answered, for example from a cache.
		 * @param outcome how it ended, {@code null} if it failed before that was known
		 * @param failure what it threw
		 */
		void end(@Nullable LockOutcome outcome, @Nullable Throwable failure);

	}

	/**
	 * Work that is under way.
	 */
	@FunctionalInterface
	interface Work {

		/**
		 * Nobody watches this work.
		 */
		Work UNOBSERVED = () -> {
		};

		/**
		 * The work has ended.
		 */
		void close();

	}

}
