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

package io.github.advisorylock.test;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.Semaphore;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * A time that passes only when a test says so, and what happens in it: one event after
 * the other, in the order of their times, ties by the seed. One thread at a time runs: an
 * event that has to last keeps its thread and its stack, and another thread goes on with
 * the events until the end has come.
 */
final class VirtualTime {

	private final PriorityQueue<Event> events = new PriorityQueue<>(
			Comparator.comparing(Event::at).thenComparingInt(Event::tie).thenComparingLong(Event::number));

	private final Deque<Player> idle = new ArrayDeque<>();

	private final List<Player> players = new ArrayList<>();

	/**
	 * Those that wait for a lock.
	 */
	private final List<Event> waiting = new ArrayList<>();

	private final Semaphore test = new Semaphore(0);

	private Random random = new Random();

	private Instant now = Instant.EPOCH;

	private Instant target = Instant.EPOCH;

	private long number;

	private boolean ended = true;

	private boolean playing;

	private @Nullable Throwable failure;

	/**
	 * Read a time that a test gives.
	 */
	static Instant instant(String time) {
		try {
			return DateTimeFormatter.ISO_DATE_TIME.parse(time, Instant::from);
		}
		catch (DateTimeException ex) {
			throw new IllegalArgumentException("'time' must be one such as 2026-10-25T01:10:00Z, with an offset or a "
					+ "zone, and is '" + time + "'", ex);
		}
	}

	/**
	 * Begin anew.
	 * @param from when
	 * @param seed decides what is first of what is due at the same time
	 */
	void begin(Instant from, long seed) {
		this.now = from;
		this.target = from;
		this.random = new Random(seed);
		this.number = 0;
		this.ended = false;
	}

	/**
	 * Make sure that a test runs.
	 */
	void checkBegun() {
		Assert.state(!this.ended,
				"The fleet is there from @BeforeEach to @AfterEach of each test, not before or after");
	}

	Instant now() {
		return this.now;
	}

	/**
	 * Return a time by chance, less than a longest one.
	 */
	Duration upTo(Duration longest) {
		return longest.multipliedBy(this.random.nextInt(1000)).dividedBy(1000);
	}

	/**
	 * Have something happen.
	 * @param at when, at once if that is over
	 * @param owner whose it is, {@code null} if nobody's
	 */
	Event at(Instant at, @Nullable FleetInstance owner, Runnable action) {
		Event event = new Event(at.isBefore(this.now) ? this.now : at, this.random.nextInt(), this.number++, owner,
				action);
		this.events.add(event);
		return event;
	}

	void cancel(Event event) {
		this.events.remove(event);
	}

	/**
	 * Let time pass, and all happen that happens meanwhile.
	 * @throws IllegalArgumentException if the time is over
	 * @throws IllegalStateException if that is not asked by the thread of the test
	 */
	void advanceTo(Instant time) {
		checkBegun();
		Assert.isTrue(!time.isBefore(this.now), () -> "'time' must not be before " + this.now + ", which it is now");
		Assert.state(!this.playing, "Time can be advanced by the test only, not by what happens meanwhile");
		this.target = time;
		this.playing = true;
		play();
		this.test.acquireUninterruptibly();
		this.playing = false;
		Throwable thrown = this.failure;
		if (thrown != null) {
			this.failure = null;
			throw new IllegalStateException("Failed to play what happens until " + time, thrown);
		}
	}

	/**
	 * Have what happens now last until a time, or until it is woken.
	 * @param owner whose it is; it never ends if that has been killed meanwhile
	 */
	void sleepUntil(Instant time, @Nullable FleetInstance owner) {
		if (!(Thread.currentThread() instanceof Player player)) {
			advanceTo(time.isBefore(this.now) ? this.now : time);
			return;
		}
		player.sleep = at(time, owner, player.baton::release);
		park(player);
		player.sleep = null;
	}

	/**
	 * End what another thread sleeps for now.
	 */
	void wake(Thread thread) {
		if (thread instanceof Player player && player.sleep != null && this.events.remove(player.sleep)) {
			again(player.sleep);
		}
	}

	/**
	 * Have something that was put off happen now.
	 */
	void again(Event event) {
		Event now = at(this.now, event.owner(), event.action());
		this.players.stream().filter((player) -> event.equals(player.sleep)).forEach((player) -> player.sleep = now);
	}

	/**
	 * Wait until some lock is released.
	 * @param latest when to wait no more
	 */
	void awaitRelease(Instant latest, @Nullable FleetInstance owner) {
		if (!(Thread.currentThread() instanceof Player player)) {
			Event next = this.events.peek();
			advanceTo((next != null && next.at().isBefore(latest)) ? next.at() : latest);
			return;
		}
		Event sleep = at(latest, owner, player.baton::release);
		player.sleep = sleep;
		this.waiting.add(sleep);
		park(player);
		player.sleep = null;
	}

	void released() {
		this.waiting.stream().filter(this.events::remove).toList().forEach(this::again);
		this.waiting.clear();
	}

	/**
	 * Have what happens now never end, as its process is gone.
	 */
	void vanish() {
		if (Thread.currentThread() instanceof Player player) {
			park(player);
		}
	}

	private void park(Player player) {
		if (!this.ended) {
			play();
			player.baton.acquireUninterruptibly();
		}
		if (this.ended) {
			throw new Vanished();
		}
	}

	/**
	 * Let another thread play.
	 */
	private void play() {
		Player player = this.idle.poll();
		if (player == null) {
			player = new Player();
			this.players.add(player);
			player.start();
		}
		player.baton.release();
	}

	/**
	 * End all threads, those too whose events never end, one after the other.
	 */
	void end() {
		this.ended = true;
		this.events.clear();
		for (Player player : this.players) {
			player.baton.release();
			player.gone.acquireUninterruptibly();
		}
		this.players.clear();
		this.idle.clear();
		this.waiting.clear();
	}

	/**
	 * Play events as long as this thread has the baton.
	 */
	private void playEvents(Player player) {
		while (!this.ended) {
			Event next = this.events.peek();
			if (next == null || next.at().isAfter(this.target)) {
				this.now = this.target;
				pass(player, this.test);
			}
			else {
				this.events.remove();
				this.now = next.at();
				if (next.owner() == null || next.owner().isReady(next)) {
					play(player, next);
				}
			}
		}
	}

	private void play(Player player, Event event) {
		Player sleeper = this.players.stream().filter((other) -> event.equals(other.sleep)).findFirst().orElse(null);
		if (sleeper != null) {
			pass(player, sleeper.baton);
			return;
		}
		try {
			event.action().run();
		}
		catch (Vanished ex) {
			Assert.state(this.ended, "'ended' must be set");
		}
		catch (Throwable ex) {
			this.failure = ex;
		}
		Thread.interrupted();
	}

	private void pass(Player player, Semaphore baton) {
		this.idle.push(player);
		baton.release();
		player.baton.acquireUninterruptibly();
	}

	/**
	 * Something that happens.
	 *
	 * @param at when
	 * @param tie orders it among those of the same time
	 * @param number tells it from others
	 * @param owner whose it is, {@code null} if nobody's
	 * @param action what happens
	 */
	record Event(Instant at, int tie, long number, @Nullable FleetInstance owner, Runnable action) {

	}

	/**
	 * Ends the stack of what never ends, after its test.
	 */
	static final class Vanished extends Error {

		private static final long serialVersionUID = 1L;

		private Vanished() {
			super("Its process is gone, and the test is over", null, false, false);
		}

	}

	/**
	 * A thread that plays events, or is in the middle of one.
	 */
	private final class Player extends Thread {

		private final Semaphore baton = new Semaphore(0);

		private final Semaphore gone = new Semaphore(0);

		private @Nullable Event sleep;

		private Player() {
			super("fleet-test");
			setDaemon(true);
		}

		@Override
		public void run() {
			this.baton.acquireUninterruptibly();
			playEvents(this);
			this.gone.release();
		}

	}

}
