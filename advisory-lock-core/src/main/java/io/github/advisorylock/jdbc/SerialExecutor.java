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

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Does one task after the other, in order, on whichever worker is free: a task that hangs
 * holds up its successors here, and nothing else. Needs no thread while there is nothing
 * to do.
 */
final class SerialExecutor implements Executor {

	private final Queue<SafeTask> tasks = new ConcurrentLinkedQueue<>();

	/**
	 * Set by workers only: a caller may end anywhere, as its stack may be full.
	 */
	private final AtomicBoolean working = new AtomicBoolean();

	private final Executor workers;

	SerialExecutor(Executor workers) {
		this.workers = workers;
	}

	@Override
	public void execute(Runnable task) {
		SafeTask safe = new SafeTask("A task of the advisory locks failed", task);
		this.tasks.add(safe);
		if (!this.working.get()) {
			try {
				this.workers.execute(this::work);
			}
			catch (Throwable ex) {
				this.tasks.remove(safe);
				throw ex;
			}
		}
	}

	private void work() {
		while (!this.tasks.isEmpty() && this.working.compareAndSet(false, true)) {
			try {
				for (SafeTask task = this.tasks.poll(); task != null; task = this.tasks.poll()) {
					task.run();
					// the next task must not see the interrupt of this one
					Thread.interrupted();
				}
			}
			finally {
				this.working.set(false);
			}
		}
	}

}
