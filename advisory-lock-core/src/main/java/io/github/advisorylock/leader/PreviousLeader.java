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

package io.github.advisorylock.leader;

/**
 * What a follower knows about the leader of its role before. One that has vanished may
 * take itself for the leader for a whole trust window from when its lock was free, unless
 * there is evidence that it does not:
 * <ul>
 * <li>It has said that it resigned. Anybody may say so; it counts if the server process
 * that has said it is the one that the latest look has shown with the lock, and has
 * logged in as this application does.</li>
 * <li>The server process that holds its lock has said nothing to it for longer than the
 * window, seen by two looks. A leader that was silent for so long must announce itself
 * again before it leads again.</li>
 * </ul>
 * Both kinds are out of date as soon as somebody is elected. Time is measured here, from
 * after the first look to before the last: no other clock is trusted.
 */
final class PreviousLeader {

	private final long window;

	private Holder holder = Holder.UNKNOWN;

	/**
	 * The process that has announced its resignation latest. What has arrived may be told
	 * before the look that it has arrived with.
	 */
	private int resigned;

	private long silentSince;

	private boolean silent;

	private boolean over;

	/**
	 * Create it.
	 * @param window for how many nanoseconds of this computer's clock a leader may take
	 * itself for the leader
	 */
	PreviousLeader(long window) {
		this.window = window;
	}

	/**
	 * Forget everything: what was announced meanwhile is not known.
	 */
	synchronized void forget() {
		this.holder = Holder.UNKNOWN;
		this.resigned = 0;
		this.silent = false;
		this.over = false;
	}

	/**
	 * Note that a resignation was announced.
	 * @param process the process of the server that has announced it
	 */
	synchronized void resigned(int process) {
		this.resigned = process;
		checkResigned();
	}

	private void checkResigned() {
		if (this.holder.ours() && this.holder.process() == this.resigned) {
			this.over = true;
		}
	}

	/**
	 * Note that an election was announced, by whomever: to wait for too long is safe.
	 */
	synchronized void elected() {
		forget();
	}

	/**
	 * Note what a look has shown.
	 * @param shown the server process that holds the lock
	 * @param asked when the look began, as of {@link System#nanoTime()}
	 * @param answered when it was over
	 */
	synchronized void seen(Holder shown, long asked, long answered) {
		this.silent = !shown.lastSaid().isEmpty() && shown.equals(this.holder);
		if (!this.silent) {
			this.holder = shown;
			this.silentSince = answered;
		}
		else if (asked - this.silentSince > this.window) {
			this.over = true;
		}
		checkResigned();
	}

	/**
	 * Return whether the latest looks have shown a holder that gives no sign of life, but
	 * not one that has given none for very long, which nothing is to be expected of.
	 * @param now the time, as of {@link #seen}
	 */
	synchronized boolean isSuspect(long now) {
		return this.silent && now - this.silentSince < 4 * this.window;
	}

	/**
	 * Return whether the leader before can't take itself for the leader any more.
	 */
	synchronized boolean isOver() {
		return this.over;
	}

	/**
	 * A server process that holds the lock of a role.
	 *
	 * @param process its number
	 * @param ours whether its role is that of this application, or a member of it
	 * @param lastSaid when it last said something, empty if that is not known
	 */
	record Holder(int process, boolean ours, String lastSaid) {

		static final Holder UNKNOWN = new Holder(0, false, "");

		/**
		 * Read what {@link PostgresLeaderStatements#campaign} answers.
		 */
		static Holder parse(String answer) {
			if (answer.isEmpty()) {
				return UNKNOWN;
			}
			String[] words = answer.split(" ", 3);
			return new Holder(Integer.parseInt(words[0]), Boolean.parseBoolean(words[1]), words[2]);
		}

	}

}
