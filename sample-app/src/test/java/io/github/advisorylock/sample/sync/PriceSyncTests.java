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

import java.util.List;

import io.github.advisorylock.sample.OutsideLock;
import io.github.advisorylock.sample.SampleTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PriceSync}.
 */
@Tag("gate")
@SampleTest
class PriceSyncTests {

	@Autowired
	private PriceSync sync;

	@Autowired
	private JdbcClient jdbc;

	@BeforeEach
	void forgetTokens() {
		this.jdbc.sql("DELETE FROM sync_run").update();
		this.jdbc.sql("DELETE FROM partner_price").update();
	}

	@Test
	void firstSyncStoresPricesAndTokenOfThePartner() {
		this.sync.sync();
		assertThat(tokens()).hasSize(1);
		assertThat(this.jdbc.sql("SELECT count(*) FROM partner_price").query(Integer.class).single()).isEqualTo(50);
	}

	@Test
	void nextSyncSendsTheTokenOfTheLastOne() {
		this.jdbc.sql("INSERT INTO sync_run (next_token, instance) VALUES ('1000', 'somebody')").update();
		this.sync.sync();
		assertThat(
				this.jdbc.sql("SELECT count(*) FROM sync_run WHERE sent_token = '1000'").query(Integer.class).single())
			.isEqualTo(1);
	}

	@Test
	void syncIsSkippedWhileAnotherSessionHoldsTheKey() throws Exception {
		try (OutsideLock held = OutsideLock.on("partner-prices")) {
			this.sync.sync();
			assertThat(tokens()).isEmpty();
		}
		this.sync.sync();
		assertThat(tokens()).hasSize(1);
	}

	private List<String> tokens() {
		return this.jdbc.sql("SELECT next_token FROM sync_run").query(String.class).list();
	}

}
