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

import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * Calls each test method on a virtual thread: whatever a test does, it does as an
 * application with {@code spring.threads.virtual.enabled=true} would. JUnit finds it by
 * itself when the profile {@code virtual-threads} tells it to look.
 */
public final class VirtualThreadInterceptor implements InvocationInterceptor {

	@Override
	public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
			ExtensionContext context) throws Throwable {
		call(invocation);
	}

	@Override
	public void interceptTestTemplateMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
			ExtensionContext context) throws Throwable {
		call(invocation);
	}

	private static void call(Invocation<Void> invocation) throws Throwable {
		CompletableFuture<@Nullable Throwable> end = new CompletableFuture<>();
		VirtualThreadExecutor.create().execute(() -> end.complete(failureOf(invocation)));
		Throwable failure = end.get();
		if (failure != null) {
			throw failure;
		}
	}

	private static @Nullable Throwable failureOf(Invocation<Void> invocation) {
		try {
			invocation.proceed();
			return null;
		}
		catch (Throwable ex) {
			return ex;
		}
	}

}
