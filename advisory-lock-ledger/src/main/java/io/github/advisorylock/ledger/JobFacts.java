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

package io.github.advisorylock.ledger;

import org.jspecify.annotations.Nullable;

/**
 * What a job is, which the instances that have its method tell all others.
 *
 * @param name its name
 * @param method the method as {@code Class.method}
 * @param scope how long its lock lives
 * @param schedules when the method is called, as a JSON array of objects with
 * {@code type}, {@code expression}, {@code zone} and {@code interval}
 * @param once what it runs once for, {@code PER_TICK}, {@code PER_KEY} or {@code NONE}
 * @param minInterval the time from the start of a run to that of the next, in
 * microseconds, {@code null} if any will do
 * @param catchUp for how long any instance makes up for a tick, in microseconds,
 * {@code null} if none does
 * @param lock the entry of its lock in the table of locks, as class:object:kind
 * @since 0.1.0
 */
public record JobFacts(JobName name, @Nullable String method, @Nullable String scope, @Nullable String schedules,
		@Nullable String once, @Nullable Long minInterval, @Nullable Long catchUp, @Nullable String lock) {

	/**
	 * What it is, nobody has told.
	 */
	static JobFacts unknown(JobName name) {
		return new JobFacts(name, null, null, null, null, null, null, null);
	}

}
