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

package io.github.advisorylock.jdbc;

import java.util.OptionalLong;

import io.github.advisorylock.LockOutcome;

/**
 * What the ledger keeps of one run, and whether there is to be a run.
 */
interface RunRecord {

	/**
	 * Keeps nothing, and lets every run go on.
	 */
	RunRecord NONE = new RunRecord() {

		@Override
		public LockOutcome begin() {
			return LockOutcome.EXECUTED;
		}

		@Override
		public void complete() {
		}

		@Override
		public void fail(Throwable failure) {
		}

		@Override
		public OptionalLong fencingToken() {
			return OptionalLong.empty();
		}

	};

	/**
	 * Decide about the run, under its lock.
	 * @return {@link LockOutcome#EXECUTED} to go on, else why not
	 */
	LockOutcome begin();

	/**
	 * Record that the work came to its end.
	 */
	void complete();

	/**
	 * Record that the run failed, if it had begun. Never throws.
	 * @param failure why; what goes wrong here is added to it
	 */
	void fail(Throwable failure);

	OptionalLong fencingToken();

}
