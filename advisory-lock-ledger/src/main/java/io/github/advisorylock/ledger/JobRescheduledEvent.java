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

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Published as an application event when an operator has given a job another schedule: on
 * the instance that was asked to, on the thread that asked, after the commit. Other
 * instances follow the schedule and publish nothing.
 *
 * @param namespace the namespace of the job's key, empty if there is none
 * @param key the name of the job's key
 * @param schedule the cron expression, or the interval in ISO-8601; {@code null} for the
 * schedule of the annotation
 * @param zone the time zone of the cron expression
 * @param effectiveAt from when on the schedule holds, on all instances
 * @param by who has chosen it
 * @since 0.1.0
 */
public record JobRescheduledEvent(String namespace, String key, @Nullable String schedule, @Nullable String zone,
		Instant effectiveAt, String by) {

}
