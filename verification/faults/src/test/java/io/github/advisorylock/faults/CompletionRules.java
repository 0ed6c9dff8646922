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

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The rules for the keys that the ledger remembers as completed, in whatever partition:
 * those that it has recorded as executed, each once.
 */
final class CompletionRules {

	private final Collection<Execution> recorded;

	private final Collection<String> completed;

	/**
	 * Create the rules.
	 * @param recorded what the history of the ledger counts as executed
	 * @param completed the keys of all rows of the table of completed keys
	 */
	CompletionRules(Collection<Execution> recorded, Collection<String> completed) {
		this.recorded = recorded;
		this.completed = completed;
	}

	List<String> violations() {
		List<String> violations = new ArrayList<>();
		Set<String> remembered = new HashSet<>();
		for (String key : this.completed) {
			if (!remembered.add(key)) {
				violations.add("Completed twice, says the ledger: " + key);
			}
		}
		Set<String> executed = new HashSet<>();
		this.recorded.stream().map(Execution::key).filter(Job::runsOnce).forEach(executed::add);
		executed.stream()
			.filter((key) -> !remembered.contains(key))
			.forEach((key) -> violations.add("Executed, and not remembered as completed: " + key));
		remembered.stream()
			.filter((key) -> !executed.contains(key))
			.forEach((key) -> violations.add("Remembered as completed, and not executed: " + key));
		return violations;
	}

}
