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

import java.time.Instant;
import java.util.List;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link InstanceDescriptor}.
 */
class InstanceDescriptorTests {

	private static final Instant TIME = Instant.parse("2026-03-01T03:00:00Z");

	@Test
	void processesOfOneNameAreToldApartAndThoseOfSeveralDatabasesAreNot() {
		InstanceDescriptor now = instance("alive", 10);
		InstanceDescriptor before = instance("vanished", 5);
		assertThat(InstanceDescriptor.merge(List.of(), List.of(now, before))).containsExactly(now, before);
		assertThat(
				InstanceDescriptor.merge(List.of(now, before), List.of(instance("alive", 9), instance("vanished", 4))))
			.extracting(InstanceDescriptor::state, InstanceDescriptor::seenAt, InstanceDescriptor::locks)
			.containsExactly(Tuple.tuple("alive", now.seenAt(), 2), Tuple.tuple("vanished", before.seenAt(), 2));
		assertThat(InstanceDescriptor.merge(List.of(now), List.of(instance("alive", 9), before))).hasSize(2);
	}

	private static InstanceDescriptor instance(String state, int seen) {
		return new InstanceDescriptor("host:1", "shop", state, TIME, TIME.plusSeconds(seen), null, null, null, null, 1,
				List.of());
	}

}
