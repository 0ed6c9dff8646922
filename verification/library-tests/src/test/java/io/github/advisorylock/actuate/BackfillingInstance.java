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

package io.github.advisorylock.actuate;

import java.time.Duration;

import io.github.advisorylock.ledger.AdvisoryLockLedger;

/**
 * An instance in a JVM of its own, to be killed: stands still in the third run of a
 * backfill.
 */
public final class BackfillingInstance {

	private BackfillingInstance() {
	}

	/**
	 * Run four ticks.
	 * @param arguments the key of the job
	 */
	public static void main(String[] arguments) {
		OperatedApplication application = OperatedApplication.start(BackfillTests.Jobs.class);
		BackfillTests.Jobs jobs = application.bean(BackfillTests.Jobs.class);
		Gate gate = new Gate();
		application.context().addApplicationListener((event) -> {
			if (jobs.ticks().size() == 2) {
				jobs.hold(gate);
			}
		});
		application.bean(AdvisoryLockLedger.class)
			.backfill(arguments[0], BackfillTests.FROM, BackfillTests.FROM.plus(Duration.ofDays(4)), false, "operator");
	}

}
