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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Lets commands that arrive while a round trip is under way travel together in the next
 * one. One of the callers leads: it takes along whatever waits, and hands the lead to the
 * first that arrived meanwhile. No thread of its own, and no delay when there is no
 * crowd.
 */
final class SessionCommands {

	private static final int LARGEST_FLIGHT = 64;

	private final ReentrantLock monitor = new ReentrantLock();

	private final Deque<SessionCommand> waiting = new ArrayDeque<>();

	private final Consumer<List<SessionCommand>> flight;

	private boolean underWay;

	/**
	 * Create a queue.
	 * @param flight answers commands; called by one thread at a time
	 */
	SessionCommands(Consumer<List<SessionCommand>> flight) {
		this.flight = flight;
	}

	/**
	 * Have a command answered. Returns when it has been.
	 */
	void submit(SessionCommand command) {
		if (arrive(command, true) || command.awaitTurn()) {
			fly();
		}
	}

	/**
	 * Have a command answered unless a flight is under way. Never waits for one.
	 */
	void submitIfIdle(SessionCommand command) {
		if (arrive(command, false)) {
			fly();
		}
	}

	private boolean arrive(SessionCommand command, boolean queue) {
		this.monitor.lock();
		try {
			boolean leads = !this.underWay;
			if (leads || queue) {
				this.waiting.add(command);
				this.underWay = true;
			}
			return leads;
		}
		finally {
			this.monitor.unlock();
		}
	}

	@SuppressWarnings("ThreadPriorityCheck") // waits for nothing, is only polite
	private void fly() {
		List<SessionCommand> passengers = board();
		try {
			this.flight.accept(passengers);
		}
		finally {
			passengers.forEach(SessionCommand::finish);
			if (passengers.size() > 1) {
				// those who come back at once shall be there before the next flight
				// leaves
				Thread.yield();
			}
			passOn();
		}
	}

	private List<SessionCommand> board() {
		this.monitor.lock();
		try {
			List<SessionCommand> passengers = new ArrayList<>(this.waiting.size());
			while (!this.waiting.isEmpty() && passengers.size() < LARGEST_FLIGHT) {
				passengers.add(this.waiting.remove());
			}
			return passengers;
		}
		finally {
			this.monitor.unlock();
		}
	}

	private void passOn() {
		this.monitor.lock();
		try {
			SessionCommand next = this.waiting.peek();
			this.underWay = next != null;
			if (next != null) {
				next.lead();
			}
		}
		finally {
			this.monitor.unlock();
		}
	}

}
