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

package io.github.advisorylock.sample.sync;

import java.time.Duration;
import java.util.List;

import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.test.Fleet;
import io.github.advisorylock.test.FleetTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.Answers;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.transaction.support.TransactionOperations;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;

/**
 * Tests for {@link PriceSync} on several instances.
 */
@FleetTest(PriceSync.class)
class PriceSyncFleetTests {

	@MockitoBean
	private PartnerPrices partner;

	@MockitoBean(answers = Answers.RETURNS_DEEP_STUBS)
	private JdbcClient jdbc;

	@MockitoBean
	private TransactionOperations transactions;

	@MockitoBean
	private Instance instance;

	@BeforeEach
	void changePrices() {
		given(this.partner.since(any())).willReturn(new PriceChanges(List.of(), "7"));
	}

	@Test
	void asksThePartnerOncePerTickThoughClocksDiffer(Fleet fleet) {
		fleet.skewClock(1, Duration.ofSeconds(4));
		fleet.takes("partner-prices", Duration.ofSeconds(3));
		fleet.advanceBy(Duration.ofMinutes(30));
		assertThatLock("partner-prices").hasRunOncePerTick().neverOverlapped();
	}

}
