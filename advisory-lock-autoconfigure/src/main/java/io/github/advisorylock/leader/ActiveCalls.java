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

package io.github.advisorylock.leader;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.jdbc.LockScheduler;
import org.jspecify.annotations.Nullable;

/**
 * The calls that are under way, and what is to be done when the last one has ended. Calls
 * that can't end before somebody stops waiting for them are not waited for: that of the
 * thread which waits, as by {@code SpringApplication.exit}, and those of threads that
 * wait for the JVM to exit.
 */
final class ActiveCalls {

	private final Map<Thread, Integer> calls = new ConcurrentHashMap<>();

	private final AtomicReference<@Nullable Runnable> whenNone = new AtomicReference<>();

	private volatile @Nullable Thread waiting;

	/**
	 * Note that the current thread begins a call.
	 */
	void begin() {
		this.calls.merge(Thread.currentThread(), 1, Integer::sum);
	}

	/**
	 * Note that the current thread ends the call that it began last.
	 */
	void end() {
		this.calls.computeIfPresent(Thread.currentThread(), (thread, depth) -> (depth > 1) ? depth - 1 : null);
		if (this.whenNone.get() != null && isNone()) {
			runOnce();
		}
	}

	/**
	 * Return whether the current thread is in a call.
	 * @return whether it has begun one that has not ended
	 */
	boolean includeThisThread() {
		return this.calls.containsKey(Thread.currentThread());
	}

	/**
	 * Return whether there is no call to wait for.
	 * @return whether each call that can end has ended
	 */
	boolean isNone() {
		return this.calls.keySet()
			.stream()
			.noneMatch((thread) -> thread != this.waiting && !LockScheduler.waitsForExit(thread));
	}

	/**
	 * Run an action once there is no call, at once if there is none.
	 * @param action what to do, once
	 */
	void whenNone(Runnable action) {
		this.whenNone.set(action);
		if (isNone()) {
			runOnce();
		}
	}

	/**
	 * As {@link #whenNone}, where the current thread waits for the action, and what it
	 * has called before does not end until then.
	 * @param action what to do, once
	 */
	void whenNoOther(Runnable action) {
		this.waiting = Thread.currentThread();
		whenNone(action);
	}

	private void runOnce() {
		Runnable action = this.whenNone.getAndSet(null);
		if (action != null) {
			action.run();
		}
	}

}
