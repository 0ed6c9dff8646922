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

package io.github.advisorylock.ledger.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.advisorylock.interceptor.CronTicks;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * What a job is, which the instances that have its method tell all others.
 *
 * @param name its name
 * @param method the method as {@code Class.method}, {@code null} if there is none
 * @param scope how long its lock lives
 * @param schedules when the method is called, {@code null} if nobody has told
 * @param once what it runs once for, {@code PER_TICK}, {@code PER_KEY} or {@code NONE}
 * @param minInterval the time from the start of a run to that of the next, {@code null}
 * if any will do
 * @param catchUp for how long any instance makes up for a tick, {@code null} if none does
 * @param lock the entry of its lock in the table of locks, as class:object:kind; where
 * several may hold its key, those of all permits with commas between them
 * @param recorded whether its runs are recorded
 * @param template whether keys with arguments are made from it
 * @param maxRetries how often a tick that failed is tried again
 * @param changes the schedules that operators have chosen
 */
record JobFacts(JobName name, @Nullable String method, @Nullable String scope, @Nullable List<MethodSchedule> schedules,
		@Nullable String once, @Nullable Duration minInterval, @Nullable Duration catchUp, @Nullable String lock,
		boolean recorded, boolean template, int maxRetries, CronTicks.Changes changes) {

	boolean isOncePerTick() {
		return "PER_TICK".equals(this.once);
	}

	@Nullable String toJson() {
		return (this.schedules != null) ? MethodSchedule.toJson(this.schedules) : null;
	}

	/**
	 * Return when the job is called, and how it runs then, as it is told where instances
	 * differ.
	 */
	Stream<String> inWords() {
		int permits = StringUtils.countOccurrencesOf((this.lock != null) ? this.lock : "", ",") + 1;
		String how = ("SESSION".equals(this.scope) ? " in scope SESSION" : "")
				+ ((permits > 1) ? " with " + permits + " permits" : "")
				+ ((this.maxRetries > 0) ? " with maxRetries " + this.maxRetries : "");
		return times().stream()
			.map((one) -> one.inWords() + ((one.ticks() != null && !isOncePerTick()) ? " not PER_TICK" : "") + how);
	}

	private List<MethodSchedule> times() {
		return (this.schedules != null) ? this.schedules : List.of();
	}

	/**
	 * Return the first tick after a time.
	 */
	@Nullable Instant nextTick(Instant now) {
		return first((schedule) -> schedule.nextTick(now), now);
	}

	/**
	 * Return when the job is called next, now that a run has ended.
	 */
	@Nullable Instant next(Instant startedAt, Instant now) {
		Instant first = null;
		for (MethodSchedule schedule : times()) {
			Instant next = schedule.changed(this.changes, now).next(startedAt, now);
			first = (next == null || (first != null && first.isBefore(next))) ? first : next;
		}
		return first;
	}

	/**
	 * Return after which time since the start of a run the schedules have called the job
	 * again.
	 */
	@Nullable Duration period(Instant now) {
		return first((schedule) -> schedule.period(now), now);
	}

	private <T extends Comparable<T>> @Nullable T first(Function<MethodSchedule, @Nullable T> question, Instant now) {
		return times().stream()
			.map((schedule) -> question.apply(schedule.changed(this.changes, now)))
			.filter(Objects::nonNull)
			.min(Comparator.naturalOrder())
			.orElse(null);
	}

}
