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

package io.github.advisorylock.faults;

/**
 * A fault that has happened.
 *
 * @param fault which one
 * @param place the place of the instance that it happened to, or what stands for several
 * @param begin when it began, by the machine's own clock
 * @param end when it was healed
 */
record Disturbance(Fault fault, int place, long begin, long end) {

	/**
	 * How long after a fault its consequences may show.
	 */
	static final long AFTERMATH = 3_000;

	/**
	 * How long after a fault ticks may be missed: ten seconds until the server gives up
	 * the lock of a client that is gone.
	 */
	static final long RECOVERY = 10_000;

	private static final long NEAR = 1_000;

	/**
	 * Return whether a run was under way when it happened.
	 */
	boolean meets(Run run) {
		return hits(run) && run.begin() <= this.end && this.begin <= run.aliveUntil();
	}

	/**
	 * Return whether it may be the cause that a run did not succeed.
	 */
	boolean mayHaveFailed(Run run) {
		return hits(run) && !run.hasSucceeded() && this.begin <= run.aliveUntil() && run.end() <= this.end + NEAR;
	}

	/**
	 * Return whether the lock of a run may have ended for this when another run of its
	 * key began, or when it began itself. It may not if the run counts, or does not show
	 * by its own failure that it has lost something; nor if it is a leader's.
	 */
	boolean mayHaveEndedLockOf(Run run, long moment) {
		return hits(run) && this.fault.endsLockOf(run.key()) && !Job.isLed(run.key()) && run.showsLoss()
				&& this.begin <= moment && moment <= this.end + AFTERMATH;
	}

	/**
	 * Return whether a run may have been told for this that its lock is lost.
	 */
	boolean mayHaveAlarmed(Run run) {
		return hits(run) && this.begin <= run.end() && run.begin() <= this.end + AFTERMATH;
	}

	/**
	 * Return whether a tick may have been missed for this that was due between two
	 * moments. An instance may have had its lock, and the others could not know.
	 */
	boolean mayHaveStoppedWork(long from, long to) {
		return this.begin <= to && from <= this.end + RECOVERY;
	}

	private boolean hits(Run run) {
		return hits(run.instance());
	}

	/**
	 * Return whether it happened to an instance.
	 */
	boolean hits(String instance) {
		return Fleet.isAt(this.place, instance);
	}

	/**
	 * Return whether a tick that was run at a moment may be run again at another, as far
	 * as it is only remembered: on lock sessions, which may have to be opened again.
	 */
	boolean mayRepeatTicksBetween(long from, long to) {
		long aftermath = this.fault.endsSessions() ? AFTERMATH : 0;
		return this.begin <= to && from <= this.end + Math.max(this.fault.plansAhead(), aftermath);
	}

	/**
	 * Return whether an instance may be without a timer for what is due at a moment.
	 * @param place the place of the instance
	 * @param moment when it is due
	 * @param period the time between two calls of the timer
	 */
	boolean mayDelayTimer(int place, long moment, long period) {
		return this.place == place && this.fault.delaysTimers() > 0 && this.begin <= moment
				&& moment <= this.end + this.fault.delaysTimers() + period;
	}

	/**
	 * Return whether what was committed at a moment may have been lost.
	 */
	boolean mayLoseCommitOf(long moment) {
		return this.fault.losesCommits() && this.begin - NEAR <= moment && moment <= this.end + NEAR;
	}

}
