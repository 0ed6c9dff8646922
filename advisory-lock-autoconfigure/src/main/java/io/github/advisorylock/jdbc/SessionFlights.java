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

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Lets commands that arrive while a round trip is under way travel together in the next
 * one. One of the callers leads: it takes along whatever waits, and hands the lead to the
 * first that arrived meanwhile. No delay when there is no crowd.
 * <p>
 * A virtual thread never leads: an interrupt would close the socket that it reads, with
 * everybody's locks. Where one is first in the queue, a pilot leads instead, a thread
 * that ends when it has nothing to do. Nobody waits for a monitor here, which a virtual
 * thread might get and then find no carrier to go on.
 */
final class SessionFlights {

	private static final int LARGEST_FLIGHT = 64;

	private final Queue<Passenger> waiting = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean underWay = new AtomicBoolean();

	private final Consumer<List<SessionCommand>> flight;

	private final ThreadPoolExecutor pilot;

	/**
	 * Create a queue.
	 * @param flight answers commands; called by one thread at a time. What it throws
	 * reaches the leader of the flight
	 * @param threads makes the thread that leads for virtual ones
	 */
	SessionFlights(Consumer<List<SessionCommand>> flight, LockScheduler.Threads threads) {
		this.flight = flight;
		this.pilot = new ThreadPoolExecutor(0, 1, LockScheduler.KEEP_ALIVE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), threads.named("advisory-lock-pilot"));
	}

	/**
	 * Have a command answered. Returns when it has been; an interrupt changes nothing,
	 * and is kept.
	 */
	void submit(SessionCommand command) {
		Passenger passenger = new Passenger(command);
		if (this.underWay.compareAndSet(false, true)) {
			take(passenger);
		}
		else {
			this.waiting.add(passenger);
			// the last flight may have landed meanwhile
			if (this.underWay.compareAndSet(false, true)) {
				passOn();
			}
		}
		awaitArrival(passenger);
	}

	/**
	 * Have a command answered unless a flight is under way. Never waits for one.
	 */
	void submitIfIdle(SessionCommand command) {
		if (this.underWay.compareAndSet(false, true)) {
			Passenger passenger = new Passenger(command);
			take(passenger);
			awaitArrival(passenger);
		}
	}

	/**
	 * Let the thread that flies for virtual ones go after each flight.
	 */
	void close() {
		this.pilot.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
	}

	private void take(Passenger first) {
		if (first.isVirtual()) {
			this.waiting.add(first);
			callPilot();
		}
		else {
			fly(board(first));
		}
	}

	private void awaitArrival(Passenger passenger) {
		if (passenger.awaitTurn()) {
			fly(board(null));
		}
	}

	@SuppressWarnings("ThreadPriorityCheck") // waits for nothing, is only polite
	private void fly(List<Passenger> passengers) {
		try {
			this.flight.accept(passengers.stream().map(Passenger::command).toList());
		}
		finally {
			passengers.forEach(Passenger::arrive);
			if (passengers.size() > 1) {
				// those who come back at once shall be there before the next flight
				// leaves
				Thread.yield();
			}
			passOn();
		}
	}

	/**
	 * Return who is to fly next. Whoever leads is always among them: what a flight throws
	 * must not reach a caller whose command is still on its way.
	 */
	private List<Passenger> board(@Nullable Passenger leader) {
		List<Passenger> passengers = new ArrayList<>();
		if (leader != null) {
			passengers.add(leader);
		}
		while (passengers.size() < LARGEST_FLIGHT) {
			Passenger next = this.waiting.poll();
			if (next == null) {
				break;
			}
			passengers.add(next);
		}
		return passengers;
	}

	private void passOn() {
		do {
			Passenger next = this.waiting.peek();
			if (next != null) {
				appoint(next);
				return;
			}
			this.underWay.set(false);
		}
		while (!this.waiting.isEmpty() && this.underWay.compareAndSet(false, true));
	}

	private void appoint(Passenger next) {
		if (next.isVirtual()) {
			callPilot();
		}
		else {
			next.lead();
		}
	}

	/**
	 * Where no thread can be had, those who wait fail. The turn may have been queued all
	 * the same, and must not come twice.
	 */
	private void callPilot() {
		FutureTask<Void> turn = new FutureTask<>(() -> fly(board(null)), null);
		try {
			this.pilot.execute(turn);
		}
		catch (Throwable ex) {
			if (turn.cancel(false)) {
				List<Passenger> stranded = board(null);
				stranded.forEach((passenger) -> passenger.command().fail(ex));
				stranded.forEach(Passenger::arrive);
				passOn();
			}
		}
	}

	/**
	 * A command on its way, and the thread that waits for it.
	 */
	private static final class Passenger {

		private final SessionCommand command;

		private final Thread caller = Thread.currentThread();

		private final boolean virtual = LockScheduler.isVirtual(this.caller);

		private volatile Progress progress = Progress.WAITING;

		private Passenger(SessionCommand command) {
			this.command = command;
		}

		private SessionCommand command() {
			return this.command;
		}

		private boolean isVirtual() {
			return this.virtual;
		}

		/**
		 * Wait until this one has arrived, or has to lead a flight.
		 * @return {@code true} in the second case
		 */
		private boolean awaitTurn() {
			boolean interrupted = false;
			while (this.progress == Progress.WAITING) {
				LockSupport.park(this);
				interrupted |= Thread.interrupted();
			}
			if (interrupted) {
				this.caller.interrupt();
			}
			return this.progress == Progress.LEADING;
		}

		private void lead() {
			this.progress = Progress.LEADING;
			LockSupport.unpark(this.caller);
		}

		private void arrive() {
			this.progress = Progress.ARRIVED;
			if (this.caller != Thread.currentThread()) {
				LockSupport.unpark(this.caller);
			}
		}

	}

	private enum Progress {

		WAITING, LEADING, ARRIVED

	}

}
