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

import java.util.Arrays;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;

/**
 * Thrown when a lock ended while its holder was still running: another instance may run
 * the same work now. Thrown too when the run was told to end, because it lasted longer
 * than it may or an operator has said so: then nobody else runs before it has.
 *
 * @since 0.1.0
 */
public class LockLostException extends ConcurrencyFailureException {

	private final AdvisoryLockKey key;

	private final LockLostEvent.Reason reason;

	/**
	 * Create an exception for a key whose lock was lost.
	 * @param key the key that is no longer locked
	 */
	public LockLostException(AdvisoryLockKey key) {
		super("Lost advisory lock '" + key + "' while its holder was running");
		this.key = key;
		this.reason = LockLostEvent.Reason.GONE;
	}

	/**
	 * Create an exception for a key whose holder was told to end.
	 * @param key the key
	 * @param reason the kind of reason
	 * @param text the same for people
	 */
	public LockLostException(AdvisoryLockKey key, LockLostEvent.Reason reason, String text) {
		super("Lost advisory lock '" + key + "': " + text);
		this.key = key;
		this.reason = reason;
	}

	/**
	 * Return the key whose lock was lost.
	 * @return the key
	 */
	public AdvisoryLockKey getKey() {
		return this.key;
	}

	/**
	 * Return why the holder has lost the lock, or was told to give it up.
	 * @return the reason
	 */
	public LockLostEvent.Reason getReason() {
		return this.reason;
	}

	/**
	 * Return whether a run has failed because an operator has cancelled it.
	 * @param failure what the run threw, {@code null} if nothing
	 * @param key the key of the run
	 * @return {@code true} if that is such an exception for the key, or has one among
	 * those that it suppresses
	 */
	public static boolean isCancelled(@Nullable Throwable failure, AdvisoryLockKey key) {
		return failure != null && Stream.concat(Stream.of(failure), Arrays.stream(failure.getSuppressed()))
			.anyMatch((one) -> one instanceof LockLostException lost && lost.key.equals(key)
					&& lost.reason == LockLostEvent.Reason.CANCELLED);
	}

}
