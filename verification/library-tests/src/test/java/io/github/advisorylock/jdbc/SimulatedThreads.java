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

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.github.advisorylock.LockInstance;
import io.github.advisorylock.jdbc.server.ConnectionSource;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;

/**
 * The threads of a simulated application, which are none: whatever would be done by one
 * is handed to the simulation. What uses the lock session is done one after the other,
 * also where a use lasts.
 */
public final class SimulatedThreads extends LockScheduler.Threads {

	private final Executor soon;

	private final Executor whenIdle;

	private final BooleanSupplier inCall;

	private final ScheduledExecutorService timer;

	private boolean inSession;

	/**
	 * Create threads that are none.
	 * @param ticker the clock
	 * @param instance the instance of the application
	 * @param soon does something soon
	 * @param whenIdle does something that calls methods as soon as none runs here
	 * @param inCall whether a call of a method is going on at this moment, which may wait
	 * for what is done in the session
	 */
	public SimulatedThreads(LockScheduler.Ticker ticker, LockInstance instance, Executor soon, Executor whenIdle,
			BooleanSupplier inCall) {
		super(null, ticker, instance);
		this.soon = soon;
		this.whenIdle = whenIdle;
		this.inCall = inCall;
		this.timer = new ScheduledThreadPoolExecutor(1) {

			@Override
			public void execute(Runnable task) {
				soon.execute(task);
			}

		};
	}

	/**
	 * Return whether somebody uses the lock session and waits for the server.
	 */
	public boolean isInSession() {
		return this.inSession;
	}

	@Override
	protected ScheduledExecutorService timer() {
		return this.timer;
	}

	@Override
	public Executor workers() {
		return this.soon;
	}

	@Override
	protected Executor worker() {
		return this.soon;
	}

	@Override
	public ThreadFactory named(String name) {
		return (task) -> new Thread(task, name) {

			@Override
			public void start() {
				SimulatedThreads.this.whenIdle.execute(task);
			}

		};
	}

	/**
	 * Create the lock session of the application.
	 * @param connectionSource opens its connection
	 * @param settings how it is watched
	 */
	public LockSession session(ConnectionSource connectionSource, LockSessionSettings settings) {
		LockSession session = new LockSession(connectionSource, "sim", null, settings, ServerJudge.NONE, (event) -> {
		}, this, SimulatedSessionThread::new);
		session.countMembers("sim");
		return session;
	}

	private final class SimulatedSessionThread extends SessionThread {

		private final Queue<Runnable> tasks = new ArrayDeque<>();

		private SimulatedSessionThread(Consumer<List<SessionCommand>> work) {
			super(work, SimulatedThreads.this);
		}

		@Override
		void submit(SessionCommand command) {
			run(() -> executeAll(List.of(command)), NO_LIMIT);
		}

		@Override
		void submit(SessionCommand command, Runnable answered) {
			submit(command);
			answered.run();
		}

		@Override
		boolean run(Runnable task, Duration limit) {
			boolean outer = SimulatedThreads.this.inSession;
			SimulatedThreads.this.inSession = true;
			try {
				task.run();
			}
			finally {
				SimulatedThreads.this.inSession = outer;
				if (!outer) {
					this.tasks.forEach((waiting) -> SimulatedThreads.this.soon.execute(this::next));
				}
			}
			return true;
		}

		@Override
		public void execute(Runnable task) {
			this.tasks.add(task);
			if (SimulatedThreads.this.inCall.getAsBoolean()) {
				next();
			}
			else {
				SimulatedThreads.this.soon.execute(this::next);
			}
		}

		/**
		 * What comes while the session is used is done after that.
		 */
		private void next() {
			Runnable task = SimulatedThreads.this.inSession ? null : this.tasks.poll();
			if (task != null) {
				run(new SafeTask("Failed to use the connection of the session locks", task), NO_LIMIT);
			}
		}

		@Override
		void close() {
			this.tasks.clear();
		}

	}

}
