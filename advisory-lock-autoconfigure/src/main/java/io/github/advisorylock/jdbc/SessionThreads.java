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

package io.github.advisorylock.jdbc;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.advisorylock.log.LockLog;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a {@link LockSession}: one for the heartbeat, one that tells about
 * losses, so that whoever is told can't hold up the heartbeat. Both start when there is
 * something to do.
 */
final class SessionThreads implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(SessionThreads.class);

	private final LockSessionSettings settings;

	private final Consumer<Hold> lossListener;

	private final Runnable beat;

	private final ScheduledThreadPoolExecutor heartbeat = new ScheduledThreadPoolExecutor(1,
			daemon("advisory-lock-heartbeat"));

	private final ExecutorService notifier = new ThreadPoolExecutor(0, 1, 10, TimeUnit.SECONDS,
			new LinkedBlockingQueue<>(), daemon("advisory-lock-events"));

	private @Nullable Future<?> beating;

	SessionThreads(LockSessionSettings settings, Consumer<Hold> lossListener, Runnable beat) {
		this.settings = settings;
		this.lossListener = lossListener;
		this.beat = beat;
	}

	synchronized void start() {
		if (this.beating == null && !this.heartbeat.isShutdown()) {
			long period = this.settings.heartbeat().toMillis();
			this.beating = this.heartbeat.scheduleWithFixedDelay(() -> guarded(this.beat), period, period,
					TimeUnit.MILLISECONDS);
		}
	}

	/**
	 * Mark holds as lost at once, and tell those who asked to be told, one after the
	 * other.
	 */
	void announceLoss(List<Hold> lost) {
		for (Hold hold : lost) {
			List<Runnable> actions = hold.lose();
			this.notifier.execute(() -> {
				LockLog.lost(hold.key());
				actions.forEach(SessionThreads::guarded);
				guarded(() -> this.lossListener.accept(hold));
				if (this.settings.whenLost() == WhenLost.INTERRUPT) {
					hold.interruptRunner();
				}
			});
		}
	}

	@Override
	public void close() {
		this.heartbeat.shutdownNow();
		this.notifier.shutdown();
	}

	private static void guarded(Runnable action) {
		try {
			action.run();
		}
		catch (RuntimeException ex) {
			logger.warn("A listener for lost locks failed", ex);
		}
	}

	private static ThreadFactory daemon(String name) {
		return (task) -> {
			Thread thread = new Thread(task, name);
			thread.setDaemon(true);
			return thread;
		};
	}

}
