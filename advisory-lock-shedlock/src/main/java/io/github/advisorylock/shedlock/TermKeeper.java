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

package io.github.advisorylock.shedlock;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.function.Consumer;

import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import io.github.advisorylock.log.LockLog;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * What the locks of one provider have in common: a clock that ends their terms, and how
 * locks are let go. Has no thread while there is no lock.
 */
final class TermKeeper implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(TermKeeper.class);

	private final Consumer<Object> eventPublisher;

	private final LockScheduler workers;

	private final Map<HeldLock, Future<?>> kept = new HashMap<>();

	private boolean stopped;

	/**
	 * Create it.
	 * @param eventPublisher is given a {@link LockLostEvent} for each lock that is given
	 * up
	 * @param threads makes its threads
	 */
	TermKeeper(Consumer<Object> eventPublisher, LockScheduler.Threads threads) {
		this.eventPublisher = eventPublisher;
		this.workers = LockScheduler.atOnce(threads);
	}

	/**
	 * Do something after a while, on a thread of its own.
	 */
	Future<?> schedule(Runnable task, Duration delay) {
		return this.workers.after(delay, new SafeTask("Failed to end what ShedLock has locked for a time", task));
	}

	/**
	 * Release a lock whose time is over, and tell everybody.
	 */
	void giveUp(HeldLock lock) {
		release(lock);
		LockLog.lost(lock.key(), LockScope.SESSION, null);
		new SafeTask("A listener for lost locks failed",
				() -> this.eventPublisher.accept(new LockLostEvent(lock.key())))
			.run();
	}

	/**
	 * Release a lock. Never throws: work that has failed must not seem to have failed
	 * because of that.
	 */
	void release(HeldLock lock) {
		try {
			lock.close();
		}
		catch (RuntimeException ex) {
			logger.warn("Failed to release advisory lock '" + lock.key() + "'", ex);
		}
	}

	/**
	 * Release a lock after a while, or when the application stops.
	 */
	void releaseLater(HeldLock lock, Duration delay) {
		synchronized (this) {
			if (!this.stopped) {
				this.kept.put(lock, schedule(() -> releaseKept(lock), delay));
				return;
			}
		}
		release(lock);
	}

	private void releaseKept(HeldLock lock) {
		boolean known;
		synchronized (this) {
			known = this.kept.remove(lock) != null;
		}
		if (known) {
			release(lock);
		}
	}

	/**
	 * Let locks be kept for a while again.
	 */
	synchronized void start() {
		this.stopped = false;
	}

	/**
	 * Release what is kept for a while: this instance will not live as long.
	 */
	void stop() {
		List<HeldLock> locks;
		synchronized (this) {
			this.stopped = true;
			locks = List.copyOf(this.kept.keySet());
		}
		locks.forEach(this::releaseKept);
	}

	@Override
	public void close() {
		stop();
		this.workers.close();
	}

}
