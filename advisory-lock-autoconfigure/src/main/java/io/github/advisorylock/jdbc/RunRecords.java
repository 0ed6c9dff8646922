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

/**
 * How a run is recorded depends on the transaction it runs in.
 */
interface RunRecords {

	/**
	 * Records nothing.
	 */
	RunRecords NONE = new RunRecords() {

		@Override
		public RunRecord inOwnTransaction() {
			return RunRecord.NONE;
		}

		@Override
		public RunRecord inCallersTransaction() {
			return RunRecord.NONE;
		}

		@Override
		public RunRecord outsideTransaction() {
			return RunRecord.NONE;
		}

	};

	/**
	 * Return a record for a run whose transaction was begun for it.
	 */
	RunRecord inOwnTransaction();

	/**
	 * Return a record for a run in a transaction that goes on after it.
	 */
	RunRecord inCallersTransaction();

	/**
	 * Return a record for a run that is in no transaction.
	 */
	RunRecord outsideTransaction();

}
