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

package io.github.advisorylock.testsupport;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A pause that takes its time: a thread that was unparked by a lock or a pool before is
 * parked for no time at all.
 */
public final class Pause {

	private Pause() {
	}

	/**
	 * Wait, unless the thread is or becomes interrupted.
	 * @param duration for how long
	 */
	public static void of(Duration duration) {
		long end = System.nanoTime() + duration.toNanos();
		long left = duration.toNanos();
		while (left > 0 && !Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(left);
			left = end - System.nanoTime();
		}
	}

}
