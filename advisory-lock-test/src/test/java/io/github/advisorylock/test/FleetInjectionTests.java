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

package io.github.advisorylock.test;

import java.time.Duration;

import io.github.advisorylock.test.fleet.FleetApplication;
import io.github.advisorylock.test.fleet.Jobs;
import io.github.advisorylock.test.fleet.Ledgers;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for where a {@link FleetTest} can be given its fleet.
 */
@FleetTest(Jobs.class)
@ContextConfiguration(classes = FleetApplication.class)
class FleetInjectionTests {

	private static final Duration DAY = Duration.ofDays(1);

	private final Fleet fleet;

	private final TestLocks locks;

	@MockitoBean
	private Ledgers ledgers;

	@Autowired
	FleetInjectionTests(Fleet fleet, TestLocks locks) {
		this.fleet = fleet;
		this.locks = locks;
	}

	@BeforeAll
	static void noTestRunsYet(Fleet fleet) {
		assertThatIllegalStateException().isThrownBy(() -> fleet.advanceBy(DAY))
			.withMessageContaining("from @BeforeEach to @AfterEach");
		assertThatIllegalStateException().isThrownBy(() -> fleet.takes("cleanup", DAY))
			.withMessageContaining("from @BeforeEach to @AfterEach");
	}

	@Test
	void constructorIsGivenTheFleet() {
		this.fleet.advanceBy(DAY);
		assertThatLock("cleanup").hasRunOncePerTick();
		assertThat(this.locks.calls(this.locks.key("cleanup"))).hasSize(3);
	}

	@Test
	void parameterIsInjectedIfItSaysSo(@Autowired Fleet injected) {
		assertThat(injected).isSameAs(this.fleet);
	}

}
