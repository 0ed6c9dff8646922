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

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A run, as the history of its instance has it.
 */
final class Run {

	/**
	 * A run that says nothing for so long stands still, or waits for a server.
	 */
	private static final long FROZEN = 2_000;

	/**
	 * That of the clock of the machine.
	 */
	private static final long RESOLUTION = 10;

	private final Event start;

	private Event last;

	private boolean done;

	private boolean rolledBack;

	/**
	 * The longest time in which it said nothing, from when on and to when.
	 */
	private long silenceBegin;

	private long silenceEnd;

	private Run(Event start) {
		this.start = start;
		this.last = start;
		this.silenceBegin = start.at();
		this.silenceEnd = start.at();
	}

	/**
	 * Return the runs that events tell of, in the order of their begin. Of two that began
	 * between two ticks of the clock the one that was over sooner comes first.
	 */
	static List<Run> of(List<Event> events) {
		Map<String, Run> runs = new LinkedHashMap<>();
		for (Event event : events) {
			if (!event.kind().isOfRun()) {
				continue;
			}
			if (event.kind() == Event.Kind.START) {
				runs.put(event.run(), new Run(event));
			}
			else {
				Run run = runs.get(event.run());
				if (run == null) {
					throw new IllegalStateException("A run without a begin: " + event.toLine());
				}
				run.add(event);
			}
		}
		List<Run> result = new ArrayList<>(runs.values());
		result.sort(Comparator.comparingLong(Run::begin).thenComparingLong(Run::end));
		return result;
	}

	private void add(Event event) {
		if (event.kind() == Event.Kind.DONE) {
			this.done = true;
			return;
		}
		if (event.kind() == Event.Kind.ROLLED_BACK) {
			this.rolledBack = true;
			return;
		}
		if (event.at() - this.last.at() > this.silenceEnd - this.silenceBegin) {
			this.silenceBegin = this.last.at();
			this.silenceEnd = event.at();
		}
		this.last = event;
	}

	String name() {
		return this.start.run();
	}

	String instance() {
		return this.start.instance();
	}

	String key() {
		return this.start.key();
	}

	@Nullable Instant tick() {
		return this.start.tick();
	}

	@Nullable Long token() {
		return this.start.token();
	}

	long begin() {
		return this.start.at();
	}

	/**
	 * Return how many milliseconds after its planned time it began, by the clock of its
	 * instance.
	 */
	long lateness() {
		Instant tick = tick();
		return (tick != null) ? this.start.wall() - tick.toEpochMilli() : 0;
	}

	/**
	 * Return the last moment at which it is known to have run.
	 */
	long end() {
		return this.last.at();
	}

	/**
	 * Return whether its scheduler has said that it was executed.
	 */
	boolean isDone() {
		return this.done;
	}

	/**
	 * Return whether it was rolled back as planned.
	 */
	boolean isRolledBack() {
		return this.rolledBack;
	}

	/**
	 * Return whether it has failed, and said so.
	 */
	boolean isFailed() {
		return this.last.kind() == Event.Kind.FAIL || this.last.kind() == Event.Kind.TOLD;
	}

	/**
	 * Return whether its work was done to the end.
	 */
	boolean isEnded() {
		return this.last.kind() == Event.Kind.END;
	}

	/**
	 * Return whether it did what it had to, and nobody objected. What a leader does has
	 * nobody who says so.
	 */
	boolean hasSucceeded() {
		return Job.isLed(key()) ? isEnded() : this.done || this.rolledBack;
	}

	/**
	 * Return whether it was told that it has lost its lock.
	 */
	boolean isTold() {
		return this.last.kind() == Event.Kind.TOLD;
	}

	/**
	 * Return whether it has told by itself that it has lost its lock: it was told so, has
	 * failed, or came to its end and was not counted. One that says nothing any more has
	 * told nothing.
	 */
	boolean showsLoss() {
		return switch (this.last.kind()) {
			case TOLD, FAIL -> true;
			case END -> !hasSucceeded();
			default -> false;
		};
	}

	/**
	 * Return until when it may have gone on: one that ends without a word might have had
	 * its next beat.
	 */
	long aliveUntil() {
		return switch (this.last.kind()) {
			case TOLD, FAIL, END -> end() + RESOLUTION;
			default -> end() + 2 * RecordedWork.BEAT;
		};
	}

	/**
	 * Return whether it ran on a virtual thread.
	 */
	boolean isVirtual() {
		return this.start.virtual();
	}

	/**
	 * Return for how long it went on, without the time in which it was frozen, after a
	 * moment.
	 */
	long goesOnAfter(long moment) {
		boolean frozen = this.silenceEnd - this.silenceBegin >= FROZEN && this.silenceBegin <= moment
				&& moment < this.silenceEnd;
		return this.last.at() - (frozen ? this.silenceEnd : moment);
	}

	@Override
	public String toString() {
		return name() + " of " + key() + " for " + tick() + ", token " + token() + ", " + begin() + " to " + end()
				+ " (" + this.last.kind() + (this.done ? ", done" : "") + ")";
	}

}
