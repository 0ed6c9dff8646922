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
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.jdbc.RunLedger;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * ShedLock's {@link LockProvider} on advisory locks. The name of a lock is a key in the
 * namespace of the application, as {@code @SingleRunner} has it.
 * <p>
 * A lock is free when it is unlocked, and as soon as its holder has vanished.
 * {@code lockAtLeastFor} is kept in the ledger, and outlives the holder; without tables
 * it holds as long as the holder lives. After {@code lockAtMostFor} the lock is given up,
 * and a {@link LockLostEvent} is published, as when the lock is lost otherwise. As with
 * other providers, the method runs on: no thread is interrupted.
 *
 * @since 0.1.0
 */
public final class AdvisoryLockProvider implements ExtensibleLockProvider, SmartLifecycle, DisposableBean {

	private final AdvisoryLockOperations operations;

	private final KeptKeys keptKeys;

	private final TermKeeper keeper;

	private volatile boolean running;

	/**
	 * Create a provider.
	 * @param operations takes the locks
	 * @param ledger keeps them for {@code lockAtLeastFor}, {@code null} where there is
	 * none
	 * @param eventPublisher is given a {@link LockLostEvent} for each lock whose
	 * {@code lockAtMostFor} is over
	 * @param threads makes the threads that end locks
	 */
	public AdvisoryLockProvider(AdvisoryLockOperations operations, Supplier<@Nullable RunLedger> ledger,
			Consumer<Object> eventPublisher, LockScheduler.Threads threads) {
		this.operations = operations;
		this.keptKeys = new KeptKeys(ledger);
		this.keeper = new TermKeeper(eventPublisher, threads);
	}

	@Override
	public Optional<SimpleLock> lock(LockConfiguration configuration) {
		LockRequest request = LockRequest.of(configuration.getName()).waitFor(Duration.ZERO);
		return this.operations.tryAcquire(request).flatMap((lock) -> begin(lock, configuration));
	}

	/**
	 * Tell the log if {@code lockAtLeastFor} can't be kept, or if that is not known.
	 */
	public void checkKeptKeys() {
		this.keptKeys.check();
	}

	/**
	 * Begin the term of a lock, unless its key is kept from the time of another one.
	 * Nothing is left behind by a failure.
	 */
	private Optional<SimpleLock> begin(HeldLock lock, LockConfiguration configuration) {
		LockTerm term = null;
		try {
			KeptKeys.Promise promise = this.keptKeys.keep(lock.key(), configuration.getLockAtLeastFor(), null);
			if (promise == null) {
				return Optional.empty();
			}
			LockTerm begun = new LockTerm(lock, this.keptKeys, promise, this.keeper);
			begun.begin(configuration.getLockAtMostFor());
			term = begun;
			return Optional.of(new ProvidedLock(configuration.getName(), term));
		}
		finally {
			if (term == null) {
				this.keeper.release(lock);
			}
		}
	}

	@Override
	public void start() {
		this.running = true;
		this.keeper.start();
	}

	@Override
	public void stop() {
		this.running = false;
		this.keeper.stop();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	/**
	 * Stops when schedulers have ended their tasks.
	 */
	@Override
	public int getPhase() {
		return ExecutorConfigurationSupport.DEFAULT_PHASE - 1024;
	}

	@Override
	public void destroy() {
		this.keeper.close();
	}

}
