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

import io.github.advisorylock.LockOutcome;
import org.jspecify.annotations.Nullable;

/**
 * A call of a guarded method that an operator asked for: it ignores the tick and the
 * interval, and the operator wants to know how it ended.
 *
 * @since 0.1.0
 */
public final class RunNow {

	private static final ThreadLocal<@Nullable RunNow> PENDING = new ThreadLocal<>();

	private @Nullable LockOutcome outcome;

	private RunNow() {
	}

	/**
	 * Call a guarded method.
	 * @param call calls the method, through its proxy
	 * @return how the call ended
	 * @throws IllegalStateException if no guarded method was called on this thread
	 */
	public static LockOutcome of(Runnable call) {
		RunNow now = new RunNow();
		PENDING.set(now);
		try {
			call.run();
		}
		finally {
			PENDING.remove();
		}
		if (now.outcome == null) {
			throw new IllegalStateException("Failed to tell how the run ended: it did not take place on this thread");
		}
		return now.outcome;
	}

	/**
	 * Take what is meant for the next call of a guarded method on this thread.
	 */
	static @Nullable RunNow take() {
		RunNow pending = PENDING.get();
		PENDING.remove();
		return pending;
	}

	void setOutcome(@Nullable LockOutcome outcome) {
		this.outcome = outcome;
	}

}
