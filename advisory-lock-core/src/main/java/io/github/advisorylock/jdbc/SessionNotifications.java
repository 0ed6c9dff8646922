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
import java.util.function.ObjIntConsumer;

import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.jspecify.annotations.Nullable;

/**
 * What other applications and operators announce on the connection of a
 * {@link LockSession}.
 *
 * @since 0.1.0
 */
public final class SessionNotifications implements AutoCloseable {

	private static final Duration POLL = Duration.ofMillis(70);

	private final ConnectionOwner owner;

	private final SessionThread thread;

	private final LockScheduler polls;

	private volatile @Nullable SessionListener operators;

	/**
	 * Create it without listeners.
	 * @param owner has the connection
	 * @param thread uses it
	 * @param threads has the timer
	 */
	SessionNotifications(ConnectionOwner owner, SessionThread thread, LockScheduler.Threads threads) {
		this.owner = owner;
		this.thread = thread;
		this.polls = LockScheduler.onTimer(threads);
	}

	/**
	 * Listen to the notifications of a channel, from the next statement on. The
	 * connection is not closed any more when it carries nothing.
	 * @param channel the channel
	 * @param connected is run when a new connection begins to listen: what was sent
	 * before is not known
	 * @param receiver is given each text, and the server process of its sender, on the
	 * thread of the session: must be quick. Any role that may connect may send anything;
	 * the process comes from the server, and nobody can forge it
	 */
	public void listen(String channel, Runnable connected, ObjIntConsumer<String> receiver) {
		this.owner.listen(new SessionListener(channel, connected, receiver));
	}

	/**
	 * Set whether to poll many times a second, which asks nobody. Otherwise notifications
	 * are passed on by {@link LockSession#tryLocks} only.
	 * @param polling whether to poll
	 */
	public void poll(boolean polling) {
		if (polling) {
			this.polls.every(POLL, POLL, new SafeTask("Failed to poll for notifications", () -> {
				if (hasInput()) {
					this.thread.execute(new SafeTask("Failed to receive notifications", this.owner::pollNotifications));
				}
			}));
		}
		else {
			this.polls.stop();
		}
	}

	/**
	 * Return whether the server may have sent something.
	 */
	boolean hasInput() {
		return this.owner.hasInput();
	}

	/**
	 * Pass on the notifications that have arrived.
	 */
	void receive() {
		this.thread.run(this.owner::pollNotifications, SessionThread.NO_LIMIT);
	}

	/**
	 * Listen to operators, from the first heartbeat of a lock on. Does not keep the
	 * connection open.
	 */
	void listenToOperators(SessionListener listener) {
		this.operators = listener;
	}

	/**
	 * Receive what operators have sent.
	 */
	void pollCancellations() {
		SessionListener listener = this.operators;
		if (listener != null && this.owner.isOpen()) {
			this.thread.run(() -> this.owner.pollNotifications(listener), SessionThread.NO_LIMIT);
		}
	}

	@Override
	public void close() {
		this.polls.close();
	}

}
