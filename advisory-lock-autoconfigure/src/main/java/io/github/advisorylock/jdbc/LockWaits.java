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

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * The waits of one application for busy locks, which all end when it shuts down: nobody
 * else would end them before.
 */
final class LockWaits {

	private final Set<Thread> waiting = ConcurrentHashMap.newKeySet();

	private volatile boolean over;

	/**
	 * Return the end of a wait that begins now.
	 */
	Deadline until(Duration waitFor) {
		return new Deadline(waitFor, this);
	}

	/**
	 * Park the current thread unless no wait is allowed.
	 */
	void park(Object blocker, long nanos) {
		this.waiting.add(Thread.currentThread());
		try {
			if (!this.over) {
				LockSupport.parkNanos(blocker, nanos);
			}
		}
		finally {
			this.waiting.remove(Thread.currentThread());
		}
	}

	/**
	 * End all waits, and those to come as soon as they begin.
	 */
	void end() {
		this.over = true;
		this.waiting.forEach(LockSupport::unpark);
	}

	/**
	 * Let waits begin again.
	 */
	void allow() {
		this.over = false;
	}

	boolean areOver() {
		return this.over;
	}

}
