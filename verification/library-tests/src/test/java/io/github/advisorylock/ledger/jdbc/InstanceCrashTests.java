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

package io.github.advisorylock.ledger.jdbc;

import java.time.Duration;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that an instance which was killed is one that vanished, and that it lives as long
 * as it has a connection.
 */
@Tag("chaos")
class InstanceCrashTests extends AbstractLedgerTests {

	@Test
	void instanceThatIsKilledLivesUntilItsConnectionsAreGoneAndHasVanishedThen() throws Exception {
		try (LedgerInstance instance = LedgerInstance.start(TestPostgres.url(), LockScope.SESSION,
				Duration.ofMillis(10))) {
			instance.awaitRun();
			Awaitility.await()
				.untilAsserted(() -> assertThat(this.ledger.repository().overview("killed", 1).instances()).hasSize(1));
			TestPostgres
				.execute("UPDATE ledger_tests_instance SET seen_at = clock_timestamp() - INTERVAL '10 minutes'");
			assertThat(state()).isEqualTo(KnownInstance.State.ALIVE);
			instance.kill();
		}
		Awaitility.await().until(() -> state() == KnownInstance.State.VANISHED);
		assertThat(TestPostgres.query("SELECT instance FROM ledger_tests_instance WHERE stopped_at IS NOT NULL"))
			.isEmpty();
	}

	private KnownInstance.State state() {
		return this.ledger.repository().overview("killed", 1).instances().get(0).state();
	}

}
