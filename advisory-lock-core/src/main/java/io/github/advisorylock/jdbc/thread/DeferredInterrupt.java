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

package io.github.advisorylock.jdbc.thread;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Defers an interrupt of a virtual thread while that asks the server: it would close the
 * socket, with its transaction, or leave open whether that was committed. An interrupt
 * that comes while the answer is awaited still does. Platform threads keep theirs, which
 * closes nothing.
 *
 * @since 0.1.0
 */
public final class DeferredInterrupt implements TransactionSynchronization {

	private boolean deferred;

	private DeferredInterrupt() {
	}

	/**
	 * Begin to defer the interrupt of the current thread, if that is a virtual one.
	 * @return whether there is one to be brought back
	 */
	public static boolean begin() {
		return isPending() && Thread.interrupted();
	}

	/**
	 * Let the current thread have its interrupt again.
	 * @param deferred whether it was deferred
	 */
	public static void end(boolean deferred) {
		if (deferred) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Ask something without the interrupt of the current thread.
	 * @param <T> the type of the answer
	 * @param question asks
	 * @return the answer
	 */
	public static <T extends @Nullable Object> T during(Supplier<T> question) {
		if (!Thread.currentThread().isInterrupted() || !begin()) {
			return question.get();
		}
		try {
			return question.get();
		}
		finally {
			end(true);
		}
	}

	/**
	 * As {@link #during(Supplier)}, for what has no answer.
	 * @param statement what is not to be interrupted
	 */
	public static void during(Runnable statement) {
		during(() -> {
			statement.run();
			return true;
		});
	}

	/**
	 * Return whether the current thread is a virtual one, and interrupted.
	 * @return whether it is
	 */
	public static boolean isPending() {
		Thread thread = Thread.currentThread();
		return thread.isInterrupted() && LockThread.isVirtual(thread);
	}

	/**
	 * Keep the interrupt of the current thread, if there is one, away from the end of the
	 * transaction that it is in, if any.
	 */
	public static void atEndOfTransaction() {
		if (isPending() && TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new DeferredInterrupt());
		}
	}

	@Override
	public void beforeCompletion() {
		this.deferred = begin();
	}

	@Override
	public void afterCompletion(int status) {
		end(this.deferred);
	}

}
