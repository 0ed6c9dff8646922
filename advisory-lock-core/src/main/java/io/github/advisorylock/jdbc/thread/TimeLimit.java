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

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;

/**
 * Has operators learn within seconds that a database does not answer. A pool waits longer
 * for that: it asks each of its connections in turn whether it is alive.
 *
 * @since 0.1.0
 */
public final class TimeLimit {

	private static final long MILLIS_UNTIL_SIGN = 1500;

	private static final long MILLIS_OF_SIGN = 2500;

	private final ThreadFactory threads;

	/**
	 * Create a limit.
	 * @param threads makes the threads that ask
	 */
	public TimeLimit(LockScheduler.Threads threads) {
		this.threads = threads.named("advisory-lock-question");
	}

	/**
	 * Ask a database, on another thread, for what it knows at once.
	 * @param <T> the type of the answer
	 * @param question asks the database
	 * @return the answer
	 * @throws QueryTimeoutException if there is none within four seconds
	 */
	public <T extends @Nullable Object> T ask(Supplier<T> question) {
		return ask(question, () -> LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2 * MILLIS_OF_SIGN)));
	}

	/**
	 * Ask a database, on another thread, for what may be work for it.
	 * @param <T> the type of the answer
	 * @param question asks the database
	 * @param sign asks it for a sign of life, where the answer takes its time
	 * @return the answer
	 * @throws QueryTimeoutException if there is neither within four seconds
	 */
	public <T extends @Nullable Object> T ask(Supplier<T> question, Runnable sign) {
		ExecutorCompletionService<Boolean> asked = new ExecutorCompletionService<>(
				(task) -> this.threads.newThread(task).start());
		FutureTask<T> answer = new FutureTask<>(question::get);
		List<Future<Boolean>> begun = new ArrayList<>(List.of(asked.submit(answer, true)));
		try {
			if (asked.poll(MILLIS_UNTIL_SIGN, TimeUnit.MILLISECONDS) == null) {
				begun.add(asked.submit(sign, true));
				Future<Boolean> first = asked.poll(MILLIS_OF_SIGN, TimeUnit.MILLISECONDS);
				if (first == null) {
					throw new QueryTimeoutException("No answer within 4 s");
				}
				first.get();
			}
			return answer.get();
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof RuntimeException failure) {
				throw failure;
			}
			throw new IllegalStateException(ex.getCause());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new QueryTimeoutException("Interrupted while waiting for an answer");
		}
		finally {
			begun.forEach((one) -> one.cancel(true));
		}
	}

}
