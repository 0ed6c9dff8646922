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
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A history of what operators do, for tests of the rules. It begins at twelve o'clock.
 */
final class OperatedHistory {

	static final Instant BEGIN = Instant.parse("2026-11-22T12:00:00Z");

	private final List<Event> events = new ArrayList<>();

	private final List<Disturbance> disturbances = new ArrayList<>();

	private final Map<Act, Integer> acts = new EnumMap<>(Act.class);

	private final TrialEnd end = new TrialEnd();

	/**
	 * Have an instance say something.
	 * @param at milliseconds since the begin
	 */
	void say(Event.Kind kind, String instance, String key, @Nullable Instant tick, @Nullable Long value, long at) {
		Event event = new Event(kind, instance, instance, key, tick, value, at, BEGIN.toEpochMilli() + at, false);
		this.events.add(Event.parse(event.toLine()));
		this.events.sort(Event.IN_TIME);
	}

	void say(Event.Kind kind, String instance, String key, long at) {
		say(kind, instance, key, null, null, at);
	}

	void start(String instance, String key, Instant tick) {
		say(Event.Kind.START, instance, key, tick, null, tick.toEpochMilli() - BEGIN.toEpochMilli());
	}

	/**
	 * Add a fault that happened to all instances.
	 */
	void disturb(Fault fault, long at) {
		disturb(fault, Fleet.ALL, at);
	}

	void disturb(Fault fault, int place, long at) {
		this.disturbances.add(new Disturbance(fault, place, at, at));
	}

	void heal() {
		this.disturbances.clear();
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

	List<Disturbance> disturbances() {
		return this.disturbances;
	}

	/**
	 * Return what was looked at, as the rules have told.
	 */
	Map<Act, Integer> acts() {
		return this.acts;
	}

}
