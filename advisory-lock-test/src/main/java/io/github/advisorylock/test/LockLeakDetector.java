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

package io.github.advisorylock.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.jdbc.thread.LockThread;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

import org.springframework.util.Assert;

/**
 * JUnit {@link Extension} that fails a test which leaves a lock behind: one that its
 * application holds, or that was {@linkplain TestLocks#holdElsewhere held elsewhere}, and
 * a test without an application context that leaves a thread of the library behind, by
 * which it can be told that something was not closed. What is on its way to its end has
 * five seconds, or as long as JUnit's configuration parameter
 * {@code advisory-lock.test.patience} says, such as {@code PT1S}.
 *
 * @since 0.1.0
 */
public final class LockLeakDetector implements BeforeEachCallback, AfterEachCallback {

	private static final Namespace NAMESPACE = Namespace.create(LockLeakDetector.class);

	private static final String THREADS = "advisory-lock-";

	private static final Duration PATIENCE = Duration.ofSeconds(5);

	private static final long PAUSE_NANOS = Duration.ofMillis(20).toNanos();

	@Override
	public void beforeEach(ExtensionContext context) {
		context.getStore(NAMESPACE).put(Before.class, new Before(threads(), System.nanoTime()));
	}

	@Override
	public void afterEach(ExtensionContext context) {
		Before before = context.getStore(NAMESPACE).get(Before.class, Before.class);
		Assert.state(before != null, "'beforeEach' must have been called");
		TestLocks locks = CurrentTest.findLocks();
		long end = System.nanoTime() + patience(context).toNanos();
		List<String> left = left(before, locks);
		while (!left.isEmpty() && System.nanoTime() < end) {
			LockSupport.parkNanos(PAUSE_NANOS);
			left = left(before, locks);
		}
		if (!left.isEmpty()) {
			if (locks != null) {
				locks.reset();
			}
			throw new AssertionError("The test has left behind " + String.join(", ", left));
		}
	}

	private static Duration patience(ExtensionContext context) {
		return context.getConfigurationParameter("advisory-lock.test.patience").map(Duration::parse).orElse(PATIENCE);
	}

	private static List<String> left(Before before, @Nullable TestLocks locks) {
		List<String> left = new ArrayList<>();
		if (locks != null) {
			locks.held().forEach((lock) -> left.add("advisory lock " + lock));
		}
		if (!CurrentTest.hasContext()) {
			threads().stream()
				.filter((thread) -> !before.threads().contains(thread))
				// Spring keeps contexts of other tests, whose threads come and go
				.filter((thread) -> !LockThread.isOfOlder(thread, before.nanoTime()))
				.forEach((thread) -> left.add("thread '" + thread.getName() + "'"));
		}
		return left;
	}

	/**
	 * Return the threads of the library, told apart as what they are.
	 */
	private static Set<Thread> threads() {
		Set<Thread> threads = Collections.newSetFromMap(new IdentityHashMap<>());
		Thread.getAllStackTraces().keySet().stream().filter(LockLeakDetector::isOfLibrary).forEach(threads::add);
		return threads;
	}

	private static boolean isOfLibrary(Thread thread) {
		return thread.isAlive() && thread.getName().startsWith(THREADS);
	}

	/**
	 * What there was before the test.
	 *
	 * @param threads threads of the library
	 * @param nanoTime when that was
	 */
	private record Before(Set<Thread> threads, long nanoTime) {

	}

}
