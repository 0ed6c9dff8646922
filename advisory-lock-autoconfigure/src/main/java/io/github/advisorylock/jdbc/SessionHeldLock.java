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

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.log.LockLog;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A session lock that its holder closes.
 */
final class SessionHeldLock implements HeldLock {

	private static final Log logger = LogFactory.getLog(SessionHeldLock.class);

	private final Hold hold;

	private final End end;

	private final Cleaner.Cleanable cleanable;

	SessionHeldLock(Hold hold, Consumer<Hold> release, Consumer<Hold> leave, Cleaner cleaner) {
		this.hold = hold;
		this.end = new End(hold, release);
		this.cleanable = cleaner.register(this, this.end);
		hold.setCleanUp(() -> leave.accept(hold));
		if (hold.isLost()) {
			leave.accept(hold);
		}
	}

	@Override
	public AdvisoryLockKey key() {
		return this.hold.key();
	}

	@Override
	public boolean isHeld() {
		return this.hold.isActive();
	}

	@Override
	public void onLost(Runnable action) {
		this.hold.onLost(action);
	}

	@Override
	public void close() {
		try {
			this.end.closed = true;
			this.cleanable.clean();
		}
		finally {
			Reference.reachabilityFence(this);
		}
	}

	/**
	 * Runs once, when the lock is closed or was forgotten. Knows nothing of the object
	 * that its holder has: that would never be forgotten.
	 */
	private static final class End implements Runnable {

		private final Hold hold;

		private final Consumer<Hold> release;

		private volatile boolean closed;

		private End(Hold hold, Consumer<Hold> release) {
			this.hold = hold;
			this.release = release;
		}

		@Override
		public void run() {
			if (!this.closed && this.hold.isActive()) {
				LockLog.unclosed(this.hold.key());
			}
			try {
				this.release.accept(this.hold);
			}
			catch (LockLostException ex) {
				// told already, as when anybody else notices
				logger.debug("Advisory lock '" + this.hold.key() + "' was lost before it was closed", ex);
			}
		}

	}

}
