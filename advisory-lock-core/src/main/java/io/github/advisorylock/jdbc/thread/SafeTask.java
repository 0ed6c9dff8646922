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

import java.sql.SQLException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.advisorylock.jdbc.server.JdbcUrl;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Work that must never take down what calls it: recurring work, which its executor would
 * not call again, and what strangers want done. Survives any {@link Throwable}, and says
 * so once, until it works again.
 *
 * @since 0.1.0
 */
public final class SafeTask implements Runnable {

	private static final Log logger = LogFactory.getLog(SafeTask.class);

	private final String failure;

	private final Runnable work;

	private final AtomicBoolean awaited = new AtomicBoolean();

	private boolean failing;

	/**
	 * Create a task.
	 * @param failure what is logged when the work fails
	 * @param work what to do, by one thread at a time
	 */
	public SafeTask(String failure, Runnable work) {
		this.failure = failure;
		this.work = work;
	}

	/**
	 * Have this done by an executor, once for all who ask before it begins. Where the
	 * executor refuses, the next one who asks has it tried again.
	 * @param executor does it, now or later
	 */
	public void handTo(Executor executor) {
		if (this.awaited.get() || !this.awaited.compareAndSet(false, true)) {
			return;
		}
		try {
			executor.execute(this);
		}
		catch (Throwable ex) {
			this.awaited.set(false);
			logger.debug(this.failure, ex);
		}
	}

	@Override
	public void run() {
		this.awaited.set(false);
		try {
			this.work.run();
			this.failing = false;
		}
		catch (Throwable ex) {
			report(ex);
		}
	}

	private void report(Throwable ex) {
		try {
			if (this.failing || Thread.currentThread().isInterrupted()) {
				logger.debug(this.failure, ex);
			}
			else {
				warn(logger, this.failure, ex);
				this.failing = true;
			}
		}
		catch (Throwable unspeakable) {
			// out of memory, and out of words: the next call may have both
		}
	}

	/**
	 * Log a failure as a warning, in one line if it is one of the database: its stack
	 * tells nothing that its message does not.
	 * @param log where to log it
	 * @param what what has failed
	 * @param failure the failure
	 */
	public static void warn(Log log, String what, Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof SQLException) {
				log.warn(what + ": " + JdbcUrl.redact(String.valueOf(cause.getMessage())).replaceAll("\\s+", " "));
				log.debug(what, failure);
				return;
			}
		}
		log.warn(what, failure);
	}

}
