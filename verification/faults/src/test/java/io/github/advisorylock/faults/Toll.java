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
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a fault has done to runs.
 *
 * @param fault which one
 * @param met how many runs were under way where it happened
 * @param failed how many did not succeed for it
 * @param redone for each tick and key that one of these was for, how many milliseconds
 * after the fault had begun anybody had executed it
 */
record Toll(Fault fault, int met, int failed, List<Long> redone) {

	/**
	 * Return the toll of a fault.
	 * @param runs all runs, in the order of their begin
	 */
	static Toll of(Disturbance disturbance, List<Run> runs) {
		List<Run> failed = runs.stream().filter(disturbance::mayHaveFailed).toList();
		Set<Execution> unfinished = new HashSet<>();
		for (Run run : failed) {
			Instant tick = run.tick();
			// A tick that is backfilled is done again when an operator asks again
			if (tick != null && run.key().contains(":") && !run.key().equals(OperatedJob.BACKFILLED)) {
				unfinished.add(new Execution(run.key(), tick));
			}
		}
		List<Long> redone = new ArrayList<>();
		for (Run run : runs) {
			Instant tick = run.tick();
			// Where nobody is told that it is executed, its caller was not told in time
			if (tick != null && run.isDone() && run.end() > disturbance.begin()
					&& unfinished.remove(new Execution(run.key(), tick))) {
				redone.add(run.end() - disturbance.begin());
			}
		}
		return new Toll(disturbance.fault(), (int) runs.stream().filter(disturbance::meets).count(), failed.size(),
				redone);
	}

}
