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

package io.github.advisorylock.support;

import java.util.function.BiConsumer;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * Operations that can be asked, before a transaction begins, whether work may run under a
 * lock. A guarded method with a transaction of its own goes both ways: it is admitted
 * outside that transaction, and takes its lock inside.
 *
 * @since 0.1.0
 */
public interface TwoPhaseLockOperations extends AdvisoryLockOperations {

	/**
	 * Find out what can be known about a call before its transaction begins: waits for
	 * other threads of this application, and asks the ledger whether the tick was
	 * completed or the job paused. A call for a tick that was completed must not take the
	 * lock just to learn that: meanwhile a call for the next tick, on an instance whose
	 * clock is right, would find it busy.
	 * @param request what to lock, and how
	 * @return the call, to be {@linkplain Admission#close() closed} in any case
	 */
	Admission admit(LockRequest request);

	/**
	 * A call on its way from the question whether it may run to its end. For one thread
	 * at a time.
	 */
	interface Admission extends AutoCloseable {

		/**
		 * Return how the call ended, and before that how it is bound to end.
		 * @return {@link LockOutcome#EXECUTED} if the work ran, or may run as far as is
		 * known, else why it is skipped
		 */
		LockOutcome outcome();

		/**
		 * Return what there is to say of {@link #outcome()}.
		 * @return the reason, {@code null} if the outcome says all
		 */
		default @Nullable String reason() {
			return null;
		}

		/**
		 * Return what is kept of the result of a run that was before, of a call that is
		 * {@link LockOutcome#ALREADY_RAN}.
		 * @return its text, {@code null} if there is none
		 */
		default @Nullable String keptResult() {
			return null;
		}

		/**
		 * Take the lock and do the work, unless it has to be skipped. Where the call is
		 * repeated, so is all of that.
		 * @param <T> what the work returns
		 * @param <X> what the work may throw
		 * @param action the work
		 * @return what the work returned, {@code null} if {@link #outcome()} says now
		 * that it was skipped
		 * @throws X if the work throws it
		 */
		<T extends @Nullable Object, X extends Exception> @Nullable T execute(LockCallback<T, X> action) throws X;

		/**
		 * Tell what became of the transaction that the work was part of, when that is
		 * over: at once, or at the end of a caller's transaction. To be asked once the
		 * work has ended.
		 * @param listener is told that, and why the run failed before that end, if it did
		 */
		default void whenOver(BiConsumer<End, @Nullable Throwable> listener) {
			listener.accept(End.UNKNOWN, null);
		}

		/**
		 * Keep the lock of the tick that the work is for, though the work may fail:
		 * another attempt of the same thread, admitted for itself, goes on with it. To be
		 * followed by {@link #letTickGo()}.
		 */
		default void keepTick() {
		}

		/**
		 * End what {@link #keepTick()} has begun, after the last attempt.
		 */
		default void letTickGo() {
		}

		/**
		 * End the call, for the others that wait where it was never executed.
		 */
		@Override
		void close();

	}

	/**
	 * What became of the transaction that work was part of.
	 */
	enum End {

		/**
		 * It was committed: what the work did is done, even if the work has failed.
		 */
		COMMITTED,

		/**
		 * It was not committed, even if the work came to a good end.
		 */
		ROLLED_BACK,

		/**
		 * The work was part of no transaction that is known, so what it threw decides.
		 */
		UNKNOWN

	}

}
