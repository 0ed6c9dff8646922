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

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;
import org.springframework.util.Assert;

/**
 * Knows the application context of the test that the current thread runs, and begins each
 * test with locks that know of no other.
 */
final class CurrentTest extends AbstractTestExecutionListener {

	/**
	 * Threads that wait for something in a test are started by its thread.
	 */
	private static final ThreadLocal<@Nullable ApplicationContext> CONTEXT = new InheritableThreadLocal<>();

	/**
	 * Return the locks of the test.
	 * @throws IllegalStateException if there is no test, or it has none
	 */
	static TestLocks locks() {
		TestLocks locks = findLocks();
		Assert.state(locks != null, "There is no application context with advisory locks in this test; say "
				+ "assertThat(locks.lock(\"key\")) with locks of your own");
		return locks;
	}

	/**
	 * Return the locks of the test.
	 * @return the locks, {@code null} if there is no test with an application context, or
	 * there are none in it
	 */
	static @Nullable TestLocks findLocks() {
		ApplicationContext context = CONTEXT.get();
		return (context != null) ? context.getBeanProvider(TestLocks.class).getIfUnique() : null;
	}

	/**
	 * Return whether the test has an application context, which goes on after it.
	 */
	static boolean hasContext() {
		return CONTEXT.get() != null;
	}

	@Override
	public int getOrder() {
		return 4_500;
	}

	@Override
	public void beforeTestMethod(TestContext test) {
		if (test.hasApplicationContext()) {
			ApplicationContext context = test.getApplicationContext();
			CONTEXT.set(context);
			ObjectProvider<TestLocks> locks = context.getBeanProvider(TestLocks.class);
			locks.ifUnique(TestLocks::reset);
		}
	}

	@Override
	public void afterTestClass(TestContext test) {
		CONTEXT.remove();
	}

}
