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

/**
 * A {@link LockScope#SESSION} lock that stays held until it is closed, from any thread,
 * or lost.
 * <p>
 * Whoever wants the lock keeps this object: one that nothing refers to any more can't be
 * closed by anybody, and is reported, and its lock released, when the garbage collector
 * finds it.
 *
 * @since 0.1.0
 * @see AdvisoryLockOperations#tryAcquire(LockRequest)
 */
public interface HeldLock extends AutoCloseable {

	/**
	 * Return the key that is locked.
	 * @return the key
	 */
	AdvisoryLockKey key();

	/**
	 * Return whether the lock is held as far as this application knows.
	 * @return {@code false} once the lock was closed or found to be lost
	 */
	boolean isHeld();

	/**
	 * Register an action that runs once if the lock is lost; at once when it is lost
	 * already. It does not run when the lock is closed in order. The action is kept as
	 * long as the lock is held: one that refers to this object keeps it from being found
	 * when it is forgotten.
	 * @param action what to do
	 */
	void onLost(Runnable action);

	/**
	 * Release the lock. Does nothing when it was closed before, also by another thread at
	 * the same moment. A lock that was lost is no error here, whoever notices the loss:
	 * {@link #onLost} and {@link LockLostEvent} tell about it.
	 */
	@Override
	void close();

}
