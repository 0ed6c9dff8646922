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
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A history of work that shows promises, for tests of the rules.
 */
final class HandMadeHistory {

	private static final Instant START = Instant.parse("2026-11-22T12:00:00Z");

	/**
	 * How long a run takes, in milliseconds.
	 */
	private static final long LENGTH = 200;

	private final List<Event> events = new ArrayList<>();

	private final List<Disturbance> disturbances = new ArrayList<>();

	private final TrialEnd end = new TrialEnd();

	/**
	 * Add a run that was executed.
	 * @param run its name, which begins with that of the instance
	 */
	void executed(String run, Promise promise, long begin) {
		run(run, promise, begin, begin + LENGTH, Event.Kind.END);
		write(Event.Kind.DONE, run, promise, null, begin + LENGTH);
	}

	/**
	 * Add a run that has failed.
	 */
	void failed(String run, Promise promise, long begin) {
		run(run, promise, begin, begin + LENGTH, Event.Kind.FAIL);
	}

	/**
	 * Add a run.
	 * @param last how it ends
	 */
	void run(String run, Promise promise, long begin, long end, Event.Kind last) {
		write(Event.Kind.START, run, promise, null, begin);
		for (long at = begin + RecordedWork.BEAT; at < end; at += RecordedWork.BEAT) {
			write(Event.Kind.BEAT, run, promise, null, at);
		}
		write(last, run, promise, null, end);
	}

	/**
	 * Have an instance say something at a moment, so that it is known to be up.
	 */
	void alive(String instance, long at) {
		write(Event.Kind.TRIED, instance + "#0", Promise.PAUSED, null, at);
	}

	/**
	 * Add a fault that happened to all instances.
	 */
	void disturb(Fault fault, long begin, long end) {
		this.disturbances.add(new Disturbance(fault, Fleet.ALL, begin, end));
	}

	private void write(Event.Kind kind, String run, Promise promise, @Nullable Long token, long at) {
		Event event = new Event(kind, run, run.substring(0, run.indexOf('#')), promise.key(), null, token, at,
				START.toEpochMilli() + at, false);
		this.events.add(Event.parse(event.toLine()));
		this.events.sort(Event.IN_TIME);
	}

	/**
	 * Have the instances told to stop at a moment, else at the last event.
	 */
	void stop(long at) {
		this.end.at(at);
	}

	/**
	 * Return when the instances were told to stop.
	 */
	long end() {
		return this.end.of(this.events);
	}

	List<Event> events() {
		return this.events;
	}

	List<Run> runs() {
		return Run.of(this.events);
	}

	List<Disturbance> disturbances() {
		return this.disturbances;
	}

}
