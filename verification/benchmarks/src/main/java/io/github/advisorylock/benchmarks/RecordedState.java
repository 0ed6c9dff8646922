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

import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * What each thread has for itself where calls write: a key of the ledger, and a lock of
 * ShedLock.
 */
@State(Scope.Thread)
public class RecordedState {

	private LedgerCalls ledger;

	private RivalCalls rival;

	/**
	 * Choose the keys. Two that create a table at a time would collide.
	 * @param application the running application
	 */
	@Setup
	public void create(ApplicationState application) {
		String suffix = "-" + application.nextKey();
		synchronized (application) {
			this.ledger = new LedgerCalls(application, suffix);
			this.rival = new RivalCalls(application.jdbcTemplate(), "rival" + suffix);
		}
	}

	LedgerCalls ledger() {
		return this.ledger;
	}

	RivalCalls rival() {
		return this.rival;
	}

}
