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

package io.github.advisorylock.jdbc.thread;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

import org.jspecify.annotations.Nullable;

/**
 * A thread of the library. Knows when what it works for was made, which is before the
 * thread was.
 *
 * @since 0.1.0
 */
public final class LockThread extends Thread {

	private static final MethodHandle IS_VIRTUAL = findIsVirtual();

	private final long madeNanos;

	LockThread(Runnable task, String name, long madeNanos, @Nullable ClassLoader classLoader) {
		super(null, task, name, 0, false);
		this.madeNanos = madeNanos;
		setDaemon(true);
		setContextClassLoader(classLoader);
	}

	/**
	 * Return whether a thread works for something that was made before a given time, such
	 * as an application that was there already: its threads come and go.
	 * @param thread the thread
	 * @param nanoTime the time, as of {@link System#nanoTime()}
	 * @return {@code false} for threads that are not of this library too
	 */
	public static boolean isOfOlder(Thread thread, long nanoTime) {
		return thread instanceof LockThread made && made.madeNanos - nanoTime < 0;
	}

	/**
	 * Return whether a thread waits for the JVM to exit. The caller of
	 * {@link Runtime#exit} waits there for the shutdown hooks, and one of those may wait
	 * for that thread: only its stack tells. To be asked while waiting, never before.
	 * @param thread the thread
	 * @return {@code true} if nothing else of it will end
	 */
	public static boolean waitsForExit(Thread thread) {
		for (StackTraceElement frame : thread.getStackTrace()) {
			if (frame.getClassName().equals(Runtime.class.getName()) && frame.getMethodName().equals("exit")) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Tell virtual threads from others, also in a JVM that has none.
	 * @param thread the thread
	 * @return whether it is a virtual one
	 */
	public static boolean isVirtual(Thread thread) {
		try {
			return (boolean) IS_VIRTUAL.invokeExact(thread);
		}
		catch (Throwable ex) {
			throw new IllegalStateException("Failed to ask a thread whether it is virtual", ex);
		}
	}

	/**
	 * Find the method of Java 21.
	 */
	private static MethodHandle findIsVirtual() {
		try {
			return MethodHandles.publicLookup()
				.findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
		}
		catch (ReflectiveOperationException ex) {
			return MethodHandles.dropArguments(MethodHandles.constant(boolean.class, false), 0, Thread.class);
		}
	}

}
