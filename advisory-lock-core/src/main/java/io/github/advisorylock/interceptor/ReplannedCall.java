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

import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * A call that waits for its time, and may have to wait for another one: its schedule may
 * become another one meanwhile.
 */
final class ReplannedCall implements ScheduledFuture<@Nullable Object> {

	private final Runnable forget;

	private volatile ScheduledFuture<?> current;

	private boolean cancelled;

	/**
	 * Create a call.
	 * @param planned waits for the time
	 * @param schedule has the schedule
	 * @param again plans the call again
	 */
	ReplannedCall(ScheduledFuture<?> planned, ScheduledTicks schedule, Consumer<ReplannedCall> again) {
		this.current = planned;
		Runnable plan = () -> again.accept(this);
		this.forget = () -> schedule.forget(plan);
		schedule.plan(plan);
	}

	/**
	 * Have the call wait for another time.
	 */
	synchronized void replace(Supplier<@Nullable ScheduledFuture<?>> planned) {
		if (!this.cancelled) {
			this.current.cancel(false);
			ScheduledFuture<?> next = planned.get();
			this.current = (next != null) ? next : this.current;
		}
	}

	@Override
	public synchronized boolean cancel(boolean mayInterruptIfRunning) {
		this.cancelled = true;
		this.forget.run();
		return this.current.cancel(mayInterruptIfRunning);
	}

	@Override
	public boolean isCancelled() {
		return this.current.isCancelled();
	}

	@Override
	public boolean isDone() {
		return this.current.isDone();
	}

	@Override
	public @Nullable Object get() throws InterruptedException, ExecutionException {
		return this.current.get();
	}

	@Override
	public @Nullable Object get(long timeout, TimeUnit unit)
			throws InterruptedException, ExecutionException, TimeoutException {
		return this.current.get(timeout, unit);
	}

	@Override
	public long getDelay(TimeUnit unit) {
		return this.current.getDelay(unit);
	}

	@Override
	public int compareTo(Delayed other) {
		return this.current.compareTo(other);
	}

}
