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

package io.github.advisorylock.sample;

import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Instances}.
 */
@Tag("gate")
class InstancesTests {

	@Test
	void instanceThatStopsSaysSoAndOneThatIsStartedAgainIsAliveUnderTheSameName() {
		try (SampleInstance watching = start(); SampleInstance other = start()) {
			int port = other.bean(Instance.class).port();
			assertThat(state(watching, port)).isEqualTo("alive");
			other.bean(Instances.class).sayThatThisOneStops();
			other.bean(Instances.class).sayThatThisOneIsAlive();
			assertThat(state(watching, port)).isEqualTo("stopped");
			other.bean(Instances.class).sayThatThisOneStarts();
			assertThat(state(watching, port)).isEqualTo("alive");
		}
	}

	@Test
	void instanceThatIsSilentIsGone() {
		try (SampleInstance watching = start(); SampleInstance other = start()) {
			int port = other.bean(Instance.class).port();
			// what the start has planned may say at any time that the instance is alive
			Awaitility.await().untilAsserted(() -> {
				TestPostgres
					.execute("UPDATE sample_instance SET seen_at = now() - interval '4 hours' WHERE port = " + port);
				assertThat(state(watching, port)).isEqualTo("gone");
			});
			other.bean(Instances.class).sayThatThisOneIsAlive();
			assertThat(state(watching, port)).isEqualTo("alive");
		}
	}

	private static SampleInstance start() {
		return SampleInstance.start("sample.instances.say-every=1h");
	}

	private static String state(SampleInstance watching, int port) {
		return watching.bean(Instances.class)
			.all()
			.stream()
			.filter((one) -> one.port() == port)
			.map(Instances.Known::state)
			.findFirst()
			.orElseThrow();
	}

}
