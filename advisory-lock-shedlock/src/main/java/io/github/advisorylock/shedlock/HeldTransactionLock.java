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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A {@link LockScope#TRANSACTION} lock that is held until it is closed or lost. A thread
 * of its own keeps the transaction open that has the lock, on a connection of the pool:
 * what the holder does meanwhile is no part of it, and to commit is to unlock.
 */
final class HeldTransactionLock implements HeldLock {

	private static final Log logger = LogFactory.getLog(HeldTransactionLock.class);

	/**
	 * How often the thread looks whether its lock is lost, where it is not interrupted
	 * then. Asks no server.
	 */
	private static final Duration LOOK = Duration.ofSeconds(1);

	private final CompletableFuture<@Nullable LockContext> taken = new CompletableFuture<>();

	private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

	private final CountDownLatch closing = new CountDownLatch(1);

	private final List<Runnable> lostActions = new ArrayList<>();

	private boolean lost;

	private HeldTransactionLock() {
	}

	/**
	 * Take a lock.
	 * @param operations takes the lock
	 * @param request which lock, and that it is not waited for
	 * @param threads has a thread for each lock
	 * @return the lock, or empty when somebody else holds it
	 */
	static Optional<HeldLock> tryAcquire(AdvisoryLockOperations operations, LockRequest request, Executor threads) {
		HeldTransactionLock lock = new HeldTransactionLock();
		threads.execute(() -> lock.hold(operations, request.scope(LockScope.TRANSACTION)));
		try {
			return (lock.taken.join() != null) ? Optional.of(lock) : Optional.empty();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof RuntimeException failure) ? failure : ex;
		}
	}

	private void hold(AdvisoryLockOperations operations, LockRequest request) {
		try {
			operations.execute(request, this::hold);
			this.taken.complete(null);
			this.ended.complete(null);
		}
		catch (Exception | Error ex) {
			this.taken.completeExceptionally(ex);
			this.ended.completeExceptionally(ex);
			if (this.closing.getCount() > 0) {
				lose();
			}
		}
	}

	/**
	 * An interrupt says that the lock is lost.
	 * @return when the lock was closed
	 */
	private boolean hold(LockContext lock) throws InterruptedException {
		this.taken.complete(lock);
		while (!this.closing.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
			if (!lock.isHeld()) {
				throw new LockLostException(lock.key());
			}
		}
		return true;
	}

	private void lose() {
		List<Runnable> actions;
		synchronized (this) {
			this.lost = true;
			actions = List.copyOf(this.lostActions);
		}
		actions.forEach(Runnable::run);
	}

	@Override
	public AdvisoryLockKey key() {
		return context().key();
	}

	@Override
	public boolean isHeld() {
		return this.closing.getCount() > 0 && !this.ended.isDone() && context().isHeld();
	}

	@Override
	public void onLost(Runnable action) {
		synchronized (this) {
			if (!this.lost) {
				this.lostActions.add(action);
				return;
			}
		}
		action.run();
	}

	/**
	 * End the transaction, and wait for that.
	 */
	@Override
	public void close() {
		this.closing.countDown();
		try {
			this.ended.join();
		}
		catch (CompletionException ex) {
			if (!(ex.getCause() instanceof LockLostException)) {
				logger.warn("Advisory lock '" + key() + "' may have been lost before it was released: its transaction "
						+ "did not end in order", ex.getCause());
			}
		}
	}

	private LockContext context() {
		LockContext context = this.taken.join();
		if (context == null) {
			throw new IllegalStateException("The lock was not taken");
		}
		return context;
	}

}
