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

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import org.junit.jupiter.api.Assumptions;

/**
 * Virtual threads, for tests that are compiled for a Java without them.
 */
public final class VirtualThreadExecutor {

	private static final boolean EVERYWHERE = System.getProperty("virtual-threads") != null;

	private VirtualThreadExecutor() {
	}

	/**
	 * Create an executor that runs each task on a virtual thread without a name. Skips
	 * the test on a JVM that has none.
	 */
	public static ExecutorService create() {
		Assumptions.assumeTrue(Runtime.version().feature() >= 21, "This JVM has no virtual threads");
		try {
			return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Create an executor that runs each task on a thread of its own: a virtual one where
	 * all tests run on such, with {@code -Dvirtual-threads}.
	 */
	public static ExecutorService createWhereAsked() {
		return EVERYWHERE ? create() : Executors.newCachedThreadPool();
	}

}
