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

import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostException;

/**
 * Work under a lock that somebody holds for it and for others, as the leader of a role
 * does. It is told that this lock is lost as a run with a lock of its own is. Belongs to
 * the thread that begins it.
 *
 * @since 0.1.0
 * @see LockSession#lose
 */
public final class WorkContext extends LockRun {

	private final OptionalLong token;

	private final Run run;

	private WorkContext(Hold part, OptionalLong token) {
		super(part, null, null, null, null);
		this.token = token;
		this.run = part.beginRun(null);
	}

	/**
	 * Begin work on the current thread, which has to {@linkplain #complete() complete} or
	 * {@linkplain #fail fail} there.
	 * @param key what is locked
	 * @param token is higher for each later holder of the lock, empty if nobody counts
	 * @param trusted knows whether the lock is held, without asking the server
	 * @param confirmation asks the server, and throws a {@link LockLostException} if the
	 * lock is not held
	 * @return the work, to which the thread is bound
	 */
	public static WorkContext begin(AdvisoryLockKey key, OptionalLong token, BooleanSupplier trusted,
			Runnable confirmation) {
		WorkContext work = new WorkContext(new Hold.OfWork(key, trusted, confirmation), token);
		work.bind();
		return work;
	}

	/**
	 * End the work, which has come to its end.
	 * @throws LockLostException if the lock was lost meanwhile
	 */
	public void complete() throws LockLostException {
		if (end(false)) {
			throw new LockLostException(key());
		}
	}

	/**
	 * End the work, which has failed. A loss of the lock is only added to that.
	 * @param failure the failure of the work
	 */
	public void fail(Throwable failure) {
		if (end(failure instanceof InterruptedException) && !(failure instanceof LockLostException)) {
			failure.addSuppressed(new LockLostException(key()));
		}
	}

	/**
	 * End the work before it has done anything.
	 */
	public void cancel() {
		end(false);
	}

	/**
	 * Note that the lock is given back in order while this work goes on, which is not
	 * told. May be called by any thread.
	 */
	public void release() {
		this.hold.release();
	}

	/**
	 * End the work, and its part in the lock.
	 * @return whether the lock was lost before
	 */
	private boolean end(boolean tookInterrupt) {
		boolean lost = ((Hold.OfWork) this.hold).isDistrusted();
		unbind();
		this.run.end(tookInterrupt);
		this.hold.release();
		return lost || this.hold.isLost();
	}

	/**
	 * Make sure that the lock is held as far as is known, without asking the server.
	 * @throws LockLostException if it is not
	 */
	public void checkNotLost() throws LockLostException {
		this.hold.checkNotLost();
	}

	@Override
	public OptionalLong fencingToken() {
		return this.token;
	}

}
