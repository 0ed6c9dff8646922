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

import java.lang.StackWalker.StackFrame;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The calls of one method that are for no tick or interval. A person or a request may
 * make them; if a scheduler does, each of its calls may run on every instance, and that
 * is told once.
 */
final class UnplannedCalls {

	private static final Log logger = LogFactory.getLog(UnplannedCalls.class);

	/**
	 * Looking at the stack costs some microseconds, so that calls by hand do not pay for
	 * it for ever.
	 */
	private static final int LOOKS = 100;

	/**
	 * What repeats tasks: Spring's registrar and triggers, executors of Java, and Quartz.
	 */
	private static final Set<String> SCHEDULERS = Set.of(
			"org.springframework.scheduling.config.Task$OutcomeTrackingRunnable.run",
			"org.springframework.scheduling.concurrent.ReschedulingRunnable.run",
			"java.util.concurrent.FutureTask.runAndReset", "org.quartz.core.JobRunShell.run");

	private static final String TASK_OF_SCHEDULER = "org.springframework.scheduling.support.DelegatingErrorHandlingRunnable.run";

	private static final String TASK_OF_POOL = "java.util.concurrent.FutureTask.run";

	private final String method;

	private final String key;

	private final AtomicInteger looks = new AtomicInteger();

	private final AtomicBoolean told = new AtomicBoolean();

	private final AtomicBoolean toldAgain = new AtomicBoolean();

	private final AtomicBoolean toldTooMany = new AtomicBoolean();

	UnplannedCalls(String method, String key) {
		this.method = method;
		this.key = AdvisoryLockKey.display(key);
	}

	/**
	 * Look at a call, and tell if a scheduler makes it. What a guarded run calls is
	 * guarded by that.
	 * @param consequence what it means for the method
	 */
	void look(String consequence) {
		if (this.told.get() || this.looks.get() >= LOOKS || LockContext.current().isPresent()) {
			return;
		}
		this.looks.incrementAndGet();
		if (StackWalker.getInstance().walk(UnplannedCalls::haveScheduler) && this.told.compareAndSet(false, true)) {
			logger.info("A scheduler calls method '" + this.method + "' (key '" + this.key + "') for no planned time: "
					+ consequence
					+ ". Use @Scheduled with a cron expression, a rate or a delay, or register the task in a "
					+ "SchedulingConfigurer, with a cron expression or a trigger where 'once' is PER_TICK; set "
					+ "'minInterval' to leave time between runs, or 'once' to NONE if this is what you want");
		}
	}

	/**
	 * Tell that a scheduled call calls the method again for a key that has had its run.
	 * @param shards whether for another shard
	 */
	void again(AdvisoryLockKey key, boolean shards) {
		if (this.toldAgain.compareAndSet(false, true)) {
			logger.warn("A scheduled call has called method '" + this.method + "' (key '"
					+ AdvisoryLockKey.display(key.name())
					+ (shards
							? "') for several shards: it runs once per tick or interval for all of them together. Make "
									+ "keys of their numbers as in 'relay:#{#shard}', or call it from a @Scheduled method "
									+ "without shards"
							: "') again after a run that came to a good end: only the first run is once per tick or "
									+ "interval, this instance runs the others whenever the lock is free. Call it once, "
									+ "make keys of its arguments as in 'export:#{#name}', or put @SingleRunner on the "
									+ "scheduled method instead")
					+ "; set 'once' to NONE to have each call run whenever the lock is free");
		}
	}

	/**
	 * Tell that a scheduled call calls the method for more keys than can be remembered.
	 */
	void tooMany() {
		if (this.toldTooMany.compareAndSet(false, true)) {
			logger.warn("A scheduled call has called method '" + this.method + "' (key '" + this.key
					+ "') when it had called guarded methods for " + PlannedTime.MOST_KEYS
					+ " keys: a lock remembers the runs of those, and the calls for more keys run on every instance "
					+ "whenever the lock is free. Put @SingleRunner on the scheduled method instead, which guards the "
					+ "whole loop, or use 'minInterval' or 'once = PER_KEY', which remember any number of keys in a "
					+ "table; set 'once' to NONE if this is what you want");
		}
	}

	private static boolean haveScheduler(Stream<StackFrame> frames) {
		// A scheduler with a thread for each call has none of those that repeat on it
		boolean ofScheduler = false;
		boolean ofPool = false;
		for (Iterator<StackFrame> all = frames.iterator(); all.hasNext();) {
			StackFrame frame = all.next();
			String name = frame.getClassName() + "." + frame.getMethodName();
			if (SCHEDULERS.contains(name)) {
				return true;
			}
			ofScheduler |= name.equals(TASK_OF_SCHEDULER);
			ofPool |= name.equals(TASK_OF_POOL);
		}
		return ofScheduler && !ofPool;
	}

}
