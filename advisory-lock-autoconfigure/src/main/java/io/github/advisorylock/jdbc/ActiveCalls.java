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

package io.github.advisorylock.jdbc;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * Counts the calls that are under way, and tells when the last one has ended.
 */
final class ActiveCalls {

	private final AtomicInteger count = new AtomicInteger();

	private final AtomicReference<@Nullable Runnable> whenNone = new AtomicReference<>();

	void begin() {
		this.count.incrementAndGet();
	}

	void end() {
		if (this.count.decrementAndGet() == 0) {
			runOnce();
		}
	}

	/**
	 * Run an action once there is no call, at once if there is none.
	 */
	void whenNone(Runnable action) {
		this.whenNone.set(action);
		if (this.count.get() == 0) {
			runOnce();
		}
	}

	private void runOnce() {
		Runnable action = this.whenNone.getAndSet(null);
		if (action != null) {
			action.run();
		}
	}

}
