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

package io.github.advisorylock.sample.outbox;

import java.util.List;
import java.util.function.Predicate;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.sample.SampleInstance;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OutboxCheck} with two instances.
 */
@Tag("gate")
class OutboxCheckTests {

	private static final String KEY = "outbox-check";

	@Test
	void oneInstanceLooksInEachIntervalAndAnotherOneWhenThatEnds() {
		List<SampleInstance> instances = SampleInstance.startTogether(2, "sample.outbox.check-every=1s");
		try (SampleInstance one = instances.get(0); SampleInstance two = instances.get(1)) {
			Awaitility.await().until(() -> (runs(one) > 1 && skips(two) > 0) || (runs(two) > 1 && skips(one) > 0));
			assertThat(one.calls().get("/").body()).contains("Who looked, and who was skipped", "skipped, too soon");
			SampleInstance runner = (runs(one) > runs(two)) ? one : two;
			SampleInstance other = (runner == one) ? two : one;
			int before = runs(other);
			runner.close();
			Awaitility.await().until(() -> runs(other) > before);
		}
	}

	private static long count(SampleInstance instance, Predicate<Object> event) {
		return instance.events().stream().filter(event).count();
	}

	private static int runs(SampleInstance instance) {
		return (int) count(instance,
				(event) -> event instanceof SingleRunnerFinishedEvent finished && finished.key().name().equals(KEY));
	}

	private static int skips(SampleInstance instance) {
		return (int) count(instance, (event) -> event instanceof SingleRunnerSkippedEvent skipped
				&& skipped.key().name().equals(KEY) && skipped.outcome() == LockOutcome.TOO_SOON);
	}

}
