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

package io.github.advisorylock.leader;

import java.util.List;
import java.util.Set;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CurrentTerm}.
 */
class CurrentTermTests {

	private static final List<AdvisoryLockKey> KEYS = List.of(AdvisoryLockKey.of("tests", "current"));

	@Test
	void termIsBelievedInUntilItIsEnded() {
		try (LockSession session = new LockSession(new DriverManagerDataSource(TestPostgres.url()), "current",
				LockSessionSettings.DEFAULT, (lost) -> {
				})) {
			CurrentTerm current = new CurrentTerm(session.trust());
			assertThat(current.left()).isZero();
			assertThat(current.begin(elect(session), 7)).isTrue();
			assertThat(current.left()).isPositive();
			CurrentTerm.Term term = current.get();
			assertThat(term).isNotNull();
			assertThat(current.isIn(term)).isTrue();
			assertThat(current.end()).isEqualTo(term);
			assertThat(current.isIn(term)).isFalse();
			assertThat(current.left()).isZero();
		}
	}

	private static Hold elect(LockSession session) {
		Hold hold = session.candidate(KEYS.get(0), () -> {
		});
		assertThat(session.tryLocks(List.of(hold), PostgresLeaderStatements.campaign(KEYS, Set.of()),
				PostgresLeaderStatements.candidacies(KEYS)))
			.containsOnlyNulls();
		return hold;
	}

}
