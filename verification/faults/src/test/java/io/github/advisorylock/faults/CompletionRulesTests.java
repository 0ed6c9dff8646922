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
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CompletionRules}: each rule is broken by hand.
 */
class CompletionRulesTests {

	private static final String FIRST = Job.KEY_TRANSACTION.key(7);

	private static final String SECOND = Job.KEY_SESSION.key(7);

	@Test
	void keysThatWereExecutedAreRemembered() {
		assertThat(violations(List.of(FIRST, SECOND, Job.TICK_SESSION.key(7)), List.of(SECOND, FIRST))).isEmpty();
	}

	@Test
	void keyInTwoPartitionsIsFound() {
		assertThat(violations(List.of(FIRST), List.of(FIRST, FIRST)))
			.containsExactly("Completed twice, says the ledger: " + FIRST);
	}

	@Test
	void keyThatIsForgottenIsFound() {
		assertThat(violations(List.of(FIRST, SECOND), List.of(SECOND)))
			.containsExactly("Executed, and not remembered as completed: " + FIRST);
	}

	@Test
	void keyThatIsRememberedForNothingIsFound() {
		assertThat(violations(List.of(FIRST), List.of(FIRST, SECOND)))
			.containsExactly("Remembered as completed, and not executed: " + SECOND);
	}

	private static List<String> violations(List<String> executed, List<String> completed) {
		Stream<Execution> recorded = executed.stream().map((key) -> new Execution(key, Instant.EPOCH));
		return new CompletionRules(recorded.toList(), completed).violations();
	}

}
