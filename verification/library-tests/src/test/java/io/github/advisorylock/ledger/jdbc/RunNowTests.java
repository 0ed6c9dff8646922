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

import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for runs that an operator asks for, of methods with other advice.
 */
class RunNowTests {

	private static final String YEARLY = "0 0 0 1 1 *";

	@Test
	void runNowIsForTheMethodThatWasAskedForAndForNoneThatItsAdviceCalls() {
		contextRunner().withBean(Other.class).withBean(Asked.class).withBean(CallingElection.class).run((context) -> {
			Asked asked = context.getBean(Asked.class);
			Other other = context.getBean(Other.class);
			AdvisoryLockLedger ledger = context.getBean(AdvisoryLockLedger.class);
			asked.run();
			int before = asked.calls();
			assertThat(ledger.runNow("asked", "alice")).isEqualTo(LockOutcome.EXECUTED);
			assertThat(ledger.runNow("asked", "alice")).isEqualTo(LockOutcome.EXECUTED);
			assertThat(asked.calls()).isEqualTo(before + 2);
			assertThat(other.calls()).isLessThanOrEqualTo(1);
			asked.run();
			assertThat(asked.calls()).isEqualTo(before + 2);
		});
	}

	private static ApplicationContextRunner contextRunner() {
		return LockContextRunner.create()
			.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.table-prefix=run_now_");
	}

	@Test
	void noClassIsGeneratedForACall() {
		contextRunner().withBean(Other.class).run((context) -> {
			for (int i = 0; i < 3; i++) {
				assertThat(context.getBean(AdvisoryLockLedger.class).runNow("other", "alice"))
					.isEqualTo(LockOutcome.EXECUTED);
			}
			List<Set<String>> proxies = context.getBean(Other.class).proxies();
			assertThat(proxies.get(0)).hasSize(1);
			assertThat(proxies).hasSize(3).containsOnly(proxies.get(0));
		});
	}

	static class Asked {

		private final List<String> calls = new CopyOnWriteArrayList<>();

		@LeaderOnly("role")
		@Scheduled(cron = YEARLY)
		@SingleRunner(key = "asked", once = Once.PER_TICK)
		@Transactional
		void run() {
			this.calls.add("asked");
		}

		int calls() {
			return this.calls.size();
		}

	}

	static class Other {

		/**
		 * The classes that its calls came through.
		 */
		private final List<Set<String>> calls = new CopyOnWriteArrayList<>();

		@Scheduled(cron = YEARLY)
		@SingleRunner(key = "other", once = Once.PER_TICK)
		void run() {
			this.calls.add(StackWalker.getInstance()
				.walk((frames) -> frames.map(StackWalker.StackFrame::getClassName)
					.filter((name) -> name.contains("Other$$"))
					.collect(Collectors.toSet())));
		}

		int calls() {
			return this.calls.size();
		}

		List<Set<String>> proxies() {
			return this.calls;
		}

	}

	/**
	 * Calls a guarded method before it lets another one through.
	 */
	record CallingElection(ObjectProvider<Other> other) implements LeaderElection {

		@Override
		public boolean isLeader(String role) {
			this.other.getObject().run();
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
		}

	}

}
