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

package io.github.advisorylock.benchmarks;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.annotation.Transactional;

/**
 * Empty methods under locks. Their keys are what the skips ask for, too.
 */
class GuardedJobs {

	static final String HELD_HERE = "held-here";

	static final String HELD_ELSEWHERE = "held-elsewhere";

	static final String RESULT = "result";

	@SingleRunner(key = "transaction")
	void transaction() {
	}

	@Transactional
	@SingleRunner(key = "transactional")
	void transactional() {
	}

	@SingleRunner(key = "session", scope = LockScope.SESSION)
	void session() {
	}

	@SingleRunner(key = "transaction-#{#thread}")
	void transactionOf(int thread) {
	}

	@SingleRunner(key = "session-#{#thread}", scope = LockScope.SESSION)
	void sessionOf(int thread) {
	}

	@SingleRunner(key = "kept-#{#event}", once = Once.PER_KEY, keepResult = true)
	@Nullable String kept(long event) {
		return RESULT;
	}

	@SingleRunner(key = HELD_HERE)
	void heldHere() {
	}

	@SingleRunner(key = HELD_ELSEWHERE)
	void heldElsewhere() {
	}

}
