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

package io.github.advisorylock.testsupport;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * A thread of the operating system, for what tests do besides, wherever they run: an
 * interrupt of a virtual thread closes the connection that it uses.
 */
public final class PlatformThread {

	private PlatformThread() {
	}

	/**
	 * Return whether the current thread is one: those of the operating system have a
	 * group of their own, all virtual ones the same.
	 */
	static boolean isCurrent() {
		ThreadGroup group = Thread.currentThread().getThreadGroup();
		return group == null || !group.getName().equals("VirtualThreads");
	}

	/**
	 * Call something on a thread of its own, and wait for it through interrupts, which
	 * are kept.
	 * @return what it returns
	 * @throws Exception what it throws
	 */
	public static <T> T call(Callable<T> callable) throws Exception {
		FutureTask<T> task = new FutureTask<>(callable);
		new Thread(task, "platform").start();
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return task.get();
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof Error error) {
				throw error;
			}
			throw (Exception) ex.getCause();
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
