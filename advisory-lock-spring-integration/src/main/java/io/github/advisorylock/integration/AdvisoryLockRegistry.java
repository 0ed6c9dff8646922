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

package io.github.advisorylock.integration;

import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.function.Function;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import io.github.advisorylock.log.LockLog;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;
import org.springframework.util.Assert;

/**
 * Spring Integration's locks on advisory locks in scope
 * {@link io.github.advisorylock.LockScope#SESSION}: for aggregators and other message
 * handlers, for leader initiators, and for whatever else asks for a
 * {@link org.springframework.integration.support.locks.LockRegistry}.
 * <p>
 * A lock belongs to the thread that took it, which may take it again. It is held until
 * that thread unlocks it: there is no table, and no time to live that has to be longer
 * than the work. When the instance dies, or its session with the server ends, the lock is
 * free; the thread that believed to hold it is told by {@code unlock()}, and by taking it
 * again. Nothing is kept of a lock that nobody holds, and who waits asks the database as
 * {@code waitFor} does: one thread of an instance for each key.
 * <p>
 * A time to live that is asked for is the longest time for which the lock is held: after
 * that it is given up and lost, whatever its holder does.
 *
 * @since 0.1.0
 */
public class AdvisoryLockRegistry
		implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock>, AutoCloseable {

	/**
	 * As long as it takes.
	 */
	private static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

	private final AdvisoryLockOperations operations;

	private final Function<String, LockRequest> requests;

	/**
	 * Has a thread while a lock has a time to live.
	 */
	private final LockScheduler clock = LockScheduler.atOnce(LockScheduler.Threads.ofCurrent());

	/**
	 * The locks of each thread, which are not those of another registry. A thread that
	 * ends without unlocking takes its locks along, which then are forgotten ones.
	 */
	@SuppressWarnings("ThreadLocalUsage")
	private final ThreadLocal<Map<String, Possession>> possessions = new ThreadLocal<>();

	/**
	 * Create a registry whose keys are in the default namespace: {@code obtain("orders")}
	 * is the lock of {@code @SingleRunner("orders")}.
	 * @param operations takes the locks
	 */
	public AdvisoryLockRegistry(AdvisoryLockOperations operations) {
		this(operations, LockRequest::of);
	}

	/**
	 * Create a registry that chooses what is locked for a key: another namespace, or
	 * another database.
	 * @param operations takes the locks
	 * @param requests makes a request of the key that a lock is obtained for; different
	 * requests for different keys
	 */
	public AdvisoryLockRegistry(AdvisoryLockOperations operations, Function<String, LockRequest> requests) {
		Assert.notNull(operations, "'operations' must not be null");
		Assert.notNull(requests, "'requests' must not be null");
		this.operations = operations;
		this.requests = requests;
	}

	/**
	 * Return the lock of a key, without asking the database.
	 * @param lockKey the key, a text that is not empty
	 * @return the lock: the same object while the current thread holds it, equal ones
	 * otherwise
	 */
	@Override
	public DistributedLock obtain(Object lockKey) {
		Assert.isInstanceOf(String.class, lockKey, "'lockKey' must be a text:");
		Possession possession = possession((String) lockKey);
		return (possession != null) ? possession.lock
				: new RegistryLock((String) lockKey, this.requests.apply((String) lockKey));
	}

	/**
	 * Does nothing: of a lock that nobody holds nothing is kept.
	 */
	@Override
	public void expireUnusedOlderThan(long age) {
	}

	/**
	 * Forget the times to live, as those of an application that ends. Locks that are
	 * still held are released by their holders, or with the connection.
	 */
	@Override
	public void close() {
		this.clock.close();
	}

	/**
	 * Begin the time to live of a lock anew, if it was taken with one; the others last
	 * until they are unlocked. Does not ask the database.
	 * @param lockKey the key
	 * @throws IllegalMonitorStateException if the current thread does not own the lock
	 * @throws IllegalStateException if the lock was lost
	 */
	@Override
	public void renewLock(Object lockKey) {
		owned(lockKey).renew(null);
	}

	/**
	 * As {@link #renewLock(Object)}, for another time.
	 * @param lockKey the key
	 * @param ttl the longest time for which the lock is held from now on
	 */
	@Override
	public void renewLock(Object lockKey, Duration ttl) {
		checkTimeToLive(ttl);
		owned(lockKey).renew(ttl);
	}

	private static void checkTimeToLive(Duration ttl) {
		Assert.isTrue(ttl.compareTo(Duration.ZERO) > 0, "'ttl' must be more than zero");
	}

	private Possession owned(Object lockKey) {
		Possession possession = possession((String) lockKey);
		if (possession == null) {
			throw new IllegalMonitorStateException("The current thread does not own advisory lock '" + lockKey + "'");
		}
		return possession;
	}

	private @Nullable Possession possession(String key) {
		Map<String, Possession> mine = this.possessions.get();
		return (mine != null) ? mine.get(key) : null;
	}

	private void add(String key, Possession possession) {
		Map<String, Possession> mine = this.possessions.get();
		if (mine == null) {
			mine = new HashMap<>();
			this.possessions.set(mine);
		}
		mine.put(key, possession);
	}

	private void remove(String key) {
		Map<String, Possession> mine = this.possessions.get();
		mine.remove(key);
		if (mine.isEmpty()) {
			this.possessions.remove();
		}
	}

	/**
	 * A lock as threads see it, who may share it.
	 */
	private final class RegistryLock implements DistributedLock {

		private final String key;

		private final LockRequest request;

		private RegistryLock(String key, LockRequest request) {
			this.key = key;
			this.request = request;
		}

		@Override
		public void lock() {
			lockFor(null);
		}

		@Override
		public void lock(Duration ttl) {
			checkTimeToLive(ttl);
			lockFor(ttl);
		}

		private void lockFor(@Nullable Duration ttl) {
			boolean interrupted = false;
			try {
				while (!acquire(FOREVER, ttl)) {
					if (!Thread.interrupted()) {
						throw stopped();
					}
					interrupted = true;
				}
			}
			finally {
				if (interrupted) {
					Thread.currentThread().interrupt();
				}
			}
		}

		@Override
		public void lockInterruptibly() throws InterruptedException {
			if (!acquireInterruptibly(FOREVER, null)) {
				throw stopped();
			}
		}

		@Override
		public boolean tryLock() {
			return acquire(Duration.ZERO, null);
		}

		@Override
		public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
			return acquireInterruptibly(Duration.ofNanos(unit.toNanos(time)), null);
		}

		@Override
		public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
			checkTimeToLive(ttl);
			return acquireInterruptibly(waitTime, ttl);
		}

		private boolean acquireInterruptibly(Duration wait, @Nullable Duration ttl) throws InterruptedException {
			if (Thread.interrupted() || (!acquire(wait, ttl) && Thread.interrupted())) {
				throw new InterruptedException();
			}
			return possession(this.key) != null;
		}

		/**
		 * Take the lock, or take it once more, which changes nothing of its time to live.
		 * @return whether it was taken; an interrupt ends the wait, and its flag stays
		 * set
		 */
		private boolean acquire(Duration wait, @Nullable Duration ttl) {
			Possession possession = possession(this.key);
			if (possession != null) {
				possession.takeAgain();
				return true;
			}
			HeldLock held = AdvisoryLockRegistry.this.operations
				.tryAcquire(this.request.waitFor(wait.isNegative() ? Duration.ZERO : wait))
				.orElse(null);
			if (held != null) {
				add(this.key, new Possession(this, held, ttl));
			}
			return held != null;
		}

		/**
		 * Release the lock, if the current thread has taken it for the last time.
		 * @throws IllegalMonitorStateException if the current thread does not own it
		 * @throws ConcurrentModificationException if it was lost meanwhile; the thread
		 * does not own it any more
		 */
		@Override
		public void unlock() {
			Possession possession = owned(this.key);
			if (possession.giveBack()) {
				remove(this.key);
				possession.release();
			}
		}

		@Override
		public Condition newCondition() {
			throw new UnsupportedOperationException("Conditions are not supported");
		}

		private CannotAcquireLockException stopped() {
			return new CannotAcquireLockException(
					"Failed to acquire advisory lock '" + this.key + "': the application stops, and waits for no lock");
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return other instanceof RegistryLock that && this.key.equals(that.key)
					&& AdvisoryLockRegistry.this == that.registry();
		}

		private AdvisoryLockRegistry registry() {
			return AdvisoryLockRegistry.this;
		}

		@Override
		public int hashCode() {
			return this.key.hashCode();
		}

		@Override
		public String toString() {
			return "advisory lock '" + this.key + "'";
		}

	}

	/**
	 * A lock that a thread holds, and how many times it has taken it.
	 */
	private final class Possession {

		private final DistributedLock lock;

		private final HeldLock held;

		private int count = 1;

		private @Nullable Duration ttl;

		private @Nullable Future<?> end;

		private long endNanos;

		private boolean over;

		private Possession(DistributedLock lock, HeldLock held, @Nullable Duration ttl) {
			this.lock = lock;
			this.held = held;
			this.ttl = ttl;
			if (ttl != null) {
				endAfter(ttl);
			}
		}

		private void takeAgain() throws LockLostException {
			if (!isHeld()) {
				throw new LockLostException(this.held.key());
			}
			this.count++;
		}

		private synchronized boolean isHeld() {
			return !this.over && this.held.isHeld();
		}

		/**
		 * Begin the time to live.
		 * @param ttl the time from now on, {@code null} to leave it as it is
		 */
		private synchronized void renew(@Nullable Duration ttl) {
			Assert.state(isHeld(), () -> "Failed to renew advisory lock '" + this.held.key() + "': it was lost");
			if (this.ttl != null) {
				this.ttl = (ttl != null) ? ttl : this.ttl;
				endAfter(this.ttl);
			}
		}

		private synchronized void endAfter(Duration ttl) {
			cancelEnd();
			long nanos = ((ttl.compareTo(FOREVER) < 0) ? ttl : FOREVER).toNanos();
			this.endNanos = System.nanoTime() + nanos;
			this.end = AdvisoryLockRegistry.this.clock.after(Duration.ofNanos(nanos),
					new SafeTask("Failed to end a lock whose time to live is over", this::giveUp));
		}

		/**
		 * Cancel the end, unless it has come.
		 */
		private synchronized void cancelEnd() {
			if (this.end != null) {
				this.end.cancel(false);
				this.end = null;
			}
		}

		/**
		 * Let others have the lock, after its holder can know that it has none any more.
		 */
		private void giveUp() {
			synchronized (this) {
				this.over = this.end != null && System.nanoTime() - this.endNanos >= 0;
			}
			if (isOver()) {
				LockLog.lost(this.held.key(), LockScope.SESSION, null);
				this.held.close();
			}
		}

		/**
		 * Return whether this was the last time.
		 */
		private boolean giveBack() {
			this.count--;
			return this.count == 0;
		}

		private void release() {
			AtomicBoolean lost = new AtomicBoolean();
			cancelEnd();
			this.held.close();
			this.held.onLost(() -> lost.set(true));
			if (lost.get() || isOver()) {
				throw new ConcurrentModificationException(
						"Lost advisory lock '" + this.held.key()
								+ "' before it was unlocked: others may have had it meanwhile",
						new LockLostException(this.held.key()));
			}
		}

		private synchronized boolean isOver() {
			return this.over;
		}

	}

}
