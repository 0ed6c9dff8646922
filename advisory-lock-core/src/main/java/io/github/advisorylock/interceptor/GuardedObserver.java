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

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * An observer that may fail without anything coming of it: it watches, so it changes
 * neither the result nor the failure of a run.
 */
final class GuardedObserver implements SingleRunnerObserver {

	private static final Log logger = LogFactory.getLog(SingleRunnerObserver.class);

	private final AtomicBoolean warned = new AtomicBoolean();

	private final Supplier<? extends @Nullable SingleRunnerObserver> observer;

	private final Runnable whenAbsent;

	/**
	 * Create what asks an observer.
	 * @param observer the observer
	 * @param whenAbsent is run when it turns out that there is none
	 */
	GuardedObserver(Supplier<? extends @Nullable SingleRunnerObserver> observer, Runnable whenAbsent) {
		this.observer = observer;
		this.whenAbsent = whenAbsent;
	}

	@Override
	public Call observe(SingleRunnerOperation operation, AdvisoryLockKey key) {
		Call call = guarded(() -> {
			SingleRunnerObserver available = this.observer.get();
			if (available == null) {
				this.whenAbsent.run();
				return Call.UNOBSERVED;
			}
			return available.observe(operation, key);
		}, Call.UNOBSERVED);
		return (call != Call.UNOBSERVED) ? new GuardedCall(call) : call;
	}

	private void guarded(Runnable observation) {
		guarded(() -> {
			observation.run();
			return true;
		}, false);
	}

	private <T> T guarded(Supplier<T> observation, T otherwise) {
		try {
			return observation.get();
		}
		catch (Throwable ex) {
			tell(ex);
			return otherwise;
		}
	}

	/**
	 * Warn once: what fails at one call is likely to fail at every call.
	 */
	private void tell(Throwable failure) {
		String message = "An observer of runs failed; the runs are not affected, but some of them are not measured";
		if (this.warned.compareAndSet(false, true)) {
			logger.warn(message + "; from now on this is logged at DEBUG", failure);
		}
		else {
			logger.debug(message, failure);
		}
	}

	/**
	 * A call whose observer may fail.
	 */
	private final class GuardedCall implements Call {

		private final Call call;

		private GuardedCall(Call call) {
			this.call = call;
		}

		@Override
		public Work begin(LockContext lock) {
			Work work = guarded(() -> this.call.begin(lock), Work.UNOBSERVED);
			return (work != Work.UNOBSERVED) ? () -> guarded(work::close) : work;
		}

		@Override
		public void end(@Nullable LockOutcome outcome, @Nullable Throwable failure) {
			guarded(() -> this.call.end(outcome, failure));
		}

	}

}
