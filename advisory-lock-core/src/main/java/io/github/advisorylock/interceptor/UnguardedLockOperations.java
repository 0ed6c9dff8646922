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

package io.github.advisorylock.interceptor;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.LockContextBinding;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Runs everything without a lock, for {@code advisory-lock.enabled=false}.
 *
 * @since 0.1.0
 */
public final class UnguardedLockOperations implements AdvisoryLockOperations {

	private static final Log logger = LogFactory.getLog(UnguardedLockOperations.class);

	private final String namespace;

	private final AdvisoryLockKeyFactory keyFactory;

	/**
	 * Create operations, and warn of them.
	 * @param namespace the namespace for requests that do not name one
	 * @param keyFactory makes the keys of requests that were created by name
	 */
	public UnguardedLockOperations(String namespace, AdvisoryLockKeyFactory keyFactory) {
		this.namespace = namespace;
		this.keyFactory = keyFactory;
		logger.warn("Advisory locks are switched off by 'advisory-lock.enabled': every instance runs every method");
	}

	@Override
	public <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
			LockCallback<T, X> action) throws X {
		LockScope scope = (request.scope() != null) ? request.scope() : LockScope.TRANSACTION;
		LockContext context = new Unguarded(request.key(this.namespace, this.keyFactory), scope,
				Optional.ofNullable(request.tick()));
		LockContext enclosing = LockContextBinding.bind(context);
		try {
			return LockResult.executed(action.doWithLock(context));
		}
		finally {
			LockContextBinding.bind(enclosing);
		}
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		return Optional.of(new UnguardedHold(request.key(this.namespace, this.keyFactory), new AtomicBoolean(true)));
	}

	/**
	 * A run that nothing guards, and that nothing can be lost of.
	 */
	private record Unguarded(AdvisoryLockKey key, LockScope scope, Optional<Instant> tick) implements LockContext {

		@Override
		public boolean isHeld() {
			return true;
		}

		@Override
		public void checkHeld() {
		}

		@Override
		public OptionalLong fencingToken() {
			return OptionalLong.empty();
		}

		@Override
		public int attempt() {
			return 1;
		}

	}

	/**
	 * A lock that is not there, until it is closed.
	 */
	private record UnguardedHold(AdvisoryLockKey key, AtomicBoolean held) implements HeldLock {

		@Override
		public boolean isHeld() {
			return this.held.get();
		}

		@Override
		public void onLost(Runnable action) {
		}

		@Override
		public void close() {
			this.held.set(false);
		}

	}

}
