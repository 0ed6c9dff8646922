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

import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * One run in the words of the ledger: what is asked of it, and what it decided.
 *
 * @param namespace the namespace of the key
 * @param key the name of the key
 * @param scope how long the lock lives
 * @param tick the planned time it runs for
 * @param oncePerKey whether the key is completed by it
 * @param minInterval the time to leave after the start of the last run
 * @param template what keys of its kind are made from, {@code null} if there is one only
 * @param decision what the ledger said
 */
record RecordedRun(String namespace, String key, LockScope scope, @Nullable Instant tick, boolean oncePerKey,
		@Nullable Duration minInterval, @Nullable String template, Decision decision) {

	private static final int LONGEST_TEMPLATE = 255;

	/**
	 * Describe a run that nothing is decided about yet.
	 * @throws IllegalArgumentException if the ledger has no room for its key
	 */
	static RecordedRun of(AdvisoryLockKey key, LockScope scope, LockRequest request) {
		String excess = JobName.of(key).findExcess();
		Assert.isTrue(excess == null, () -> "Failed to record runs of advisory lock '" + key + "': " + excess);
		return new RecordedRun(key.namespace(), key.name(), scope, request.tick(), request.isOncePerKey(),
				request.minInterval(), template(key.name(), request.template()), Decision.NONE);
	}

	/**
	 * Of a template that has no room in an index, or is the key itself, runs are recorded
	 * as those of keys without one.
	 */
	private static @Nullable String template(String key, @Nullable String template) {
		return (template == null || template.equals(key) || template.length() > LONGEST_TEMPLATE
				|| template.indexOf('\0') >= 0) ? null : template;
	}

	RecordedRun with(Decision decision) {
		return new RecordedRun(this.namespace, this.key, this.scope, this.tick, this.oncePerKey, this.minInterval,
				this.template, decision);
	}

	JobName name() {
		return new JobName(this.namespace, this.key);
	}

	/**
	 * Return whether the run leaves something behind in the row of its job. One of many
	 * keys that run once has no use for that.
	 */
	boolean keepsJob() {
		return !this.oncePerKey || this.minInterval != null;
	}

	boolean begun() {
		return this.decision.token != null;
	}

	OptionalLong fencingToken() {
		return (this.decision.token != null) ? OptionalLong.of(this.decision.token) : OptionalLong.empty();
	}

	/**
	 * What the ledger decided about a run.
	 *
	 * @param outcome {@link LockOutcome#EXECUTED} to go on, else why not
	 * @param token the fencing token of a run that goes on
	 * @param startedAt when it started
	 */
	record Decision(LockOutcome outcome, @Nullable Long token, @Nullable Instant startedAt) {

		private static final Decision NONE = new Decision(LockOutcome.EXECUTED, null, null);

	}

}
