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

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;

/**
 * The time that a call was planned for, as long as it is on its way from whoever planned
 * it to the method: the clock may have been set meanwhile, and does not decide.
 *
 * @since 0.1.0
 */
public final class PlannedTime {

	private static final ThreadLocal<@Nullable Instant> CURRENT = new ThreadLocal<>();

	private static final String CARRIED = PlannedTime.class.getName();

	private PlannedTime() {
	}

	/**
	 * Make a call that was planned.
	 * @param planned the time that it was planned for
	 * @param call makes the call, on the current thread
	 */
	public static void run(Instant planned, Runnable call) {
		CURRENT.set(planned);
		try {
			call.run();
		}
		finally {
			CURRENT.remove();
		}
	}

	/**
	 * Return what has the time go along with a call that advice hands over to another
	 * thread.
	 * @return the interceptor for a place outside that advice
	 */
	public static MethodInterceptor carrier() {
		return (invocation) -> {
			Instant planned = take();
			if (planned != null) {
				((ProxyMethodInvocation) invocation).setUserAttribute(CARRIED, planned);
			}
			return invocation.proceed();
		};
	}

	/**
	 * As {@link #take()}, for a call that another thread may have made.
	 */
	static @Nullable Instant take(MethodInvocation invocation) {
		Instant planned = take();
		return (planned != null) ? planned : (Instant) ((ProxyMethodInvocation) invocation).getUserAttribute(CARRIED);
	}

	/**
	 * Take the time that the current call was planned for. What this call calls is not
	 * planned.
	 * @return the time, {@code null} if the call was not planned, or that is not known
	 */
	static @Nullable Instant take() {
		Instant planned = CURRENT.get();
		CURRENT.remove();
		return planned;
	}

}
