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

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.monitor.LockMonitor;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link OperatorActions} with the roles of leaders.
 */
class RoleActionsTests {

	private final List<String> resigned = new ArrayList<>();

	private final List<Object> events = new ArrayList<>();

	private final OperatorActions actions = new OperatorActions(
			new GuardedApplication("shop", AdvisoryLockKeyFactory.sha256(), List::of, () -> List.of("metrics"),
					Stream::empty, UnaryOperator.identity(), (key) -> List.of(), () -> true,
					LockScheduler.Threads.ofCurrent()),
			JobRegistry.NONE, new LockMonitor(new DriverManagerDataSource()).holders(),
			() -> new Election(this.resigned), this.events::add);

	@Test
	void roleOfThisInstanceIsResignedAndAudited() {
		assertThat(this.actions.isRole("leader:metrics")).isTrue();
		assertThat(this.actions.act("leader:metrics", "resigned", "ann").by()).isEqualTo("ann");
		assertThat(this.resigned).containsExactly("metrics");
		assertThat(this.events).singleElement()
			.extracting((event) -> ((AuditApplicationEvent) event).getAuditEvent().getType())
			.isEqualTo("ADVISORY_LOCK_RESIGNED");
	}

	@Test
	void otherKeysAreNotKnown() {
		assertThat(this.actions.isRole("leader:others")).isFalse();
		assertThat(this.actions.isRole("metrics")).isFalse();
	}

	@Test
	void unknownStateOfARoleIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.actions.act("leader:metrics", "paused", "ann"))
			.withMessageContaining("choose 'resigned'");
		assertThat(this.resigned).isEmpty();
		assertThat(this.events).isEmpty();
	}

	private record Election(List<String> resigned) implements LeaderElection {

		@Override
		public boolean isLeader(String role) {
			return true;
		}

		@Override
		public OptionalLong term(String role) {
			return OptionalLong.of(1);
		}

		@Override
		public Set<Integer> shards(String role, int number) {
			return Set.of();
		}

		@Override
		public void resign(String role) {
			this.resigned.add(role);
		}

	}

}
