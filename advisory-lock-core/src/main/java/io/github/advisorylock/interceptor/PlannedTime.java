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

import io.github.advisorylock.LockRequest;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;

/**
 * What a call was planned for, as long as it is on its way from whoever planned it to the
 * method: a time, as the clock may have been set meanwhile, and does not decide; or the
 * interval of a timer.
 *
 * @since 0.1.0
 */
public final class PlannedTime {

	private static final ThreadLocal<@Nullable Plan> CURRENT = new ThreadLocal<>();

	private static final String CARRIED = PlannedTime.class.getName();

	private PlannedTime() {
	}

	/**
	 * Make a call that was planned.
	 * @param planned the time that it was planned for
	 * @param call makes the call, on the current thread
	 */
	public static void run(Instant planned, Runnable call) {
		run(new Plan.At(planned), call);
	}

	/**
	 * Make a call that is made again and again.
	 * @param interval how often
	 * @param call makes the call, on the current thread
	 */
	public static void run(LockRequest.Interval interval, Runnable call) {
		run(new Plan.Every(interval), call);
	}

	private static void run(Plan plan, Runnable call) {
		CURRENT.set(plan);
		try {
			call.run();
		}
		finally {
			CURRENT.remove();
		}
	}

	/**
	 * Return what has the plan go along with a call that advice hands over to another
	 * thread.
	 * @return the interceptor for a place outside that advice
	 */
	public static MethodInterceptor carrier() {
		return (invocation) -> {
			Plan plan = takePlan();
			if (plan != null) {
				((ProxyMethodInvocation) invocation).setUserAttribute(CARRIED, plan);
			}
			return invocation.proceed();
		};
	}

	/**
	 * As {@link #takePlan()}, for a call that another thread may have made.
	 */
	static @Nullable Plan takePlan(MethodInvocation invocation) {
		Plan plan = takePlan();
		return (plan != null) ? plan : (Plan) ((ProxyMethodInvocation) invocation).getUserAttribute(CARRIED);
	}

	/**
	 * Take what the current call was planned for. What this call calls is not planned.
	 * @return the plan, {@code null} if the call was not planned, or that is not known
	 */
	private static @Nullable Plan takePlan() {
		Plan plan = CURRENT.get();
		CURRENT.remove();
		return plan;
	}

	/**
	 * Take the time that a call was planned for, which another thread may have made.
	 */
	static @Nullable Instant take(MethodInvocation invocation) {
		return (takePlan(invocation) instanceof Plan.At at) ? at.time() : null;
	}

	/**
	 * What a call is planned for.
	 */
	sealed interface Plan {

		/**
		 * A time.
		 */
		record At(Instant time) implements Plan {

		}

		/**
		 * Once for an interval.
		 */
		record Every(LockRequest.Interval interval) implements Plan {

		}

	}

}
