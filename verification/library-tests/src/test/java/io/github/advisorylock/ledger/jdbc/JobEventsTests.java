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
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.JobForgottenEvent;
import io.github.advisorylock.ledger.JobPausedEvent;
import io.github.advisorylock.ledger.JobResumedEvent;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.Assert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests for {@link JobPausedEvent}, {@link JobResumedEvent} and
 * {@link JobForgottenEvent}, and for what other events say of recorded jobs.
 */
class JobEventsTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withBean("jobs", Jobs.class)
		.withBean(Listener.class)
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=job_events_tests.ledger_");

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS job_events_tests CASCADE");
		TestPostgres.execute("CREATE SCHEMA job_events_tests");
	}

	@Test
	void pauseAndResumeArePublishedAfterTheirCommitOnTheThreadThatAsked() {
		this.runner.run((context) -> {
			AdvisoryLockLedger ledger = context.getBean(AdvisoryLockLedger.class);
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> {
					ledger.pause("seldom", "ann");
					ledger.resume("seldom", "bob");
				});
			assertThat(context.getBean(Listener.class).seen).containsExactly(
					new JobPausedEvent("test", "seldom", "ann"), List.of("ann"),
					new JobResumedEvent("test", "seldom", "bob"), List.of());
		});
	}

	@Test
	void jobThatIsForgottenIsPublished() {
		this.runner.run((context) -> {
			AdvisoryLockLedger ledger = context.getBean(AdvisoryLockLedger.class);
			TestPostgres.execute("INSERT INTO job_events_tests.ledger_job (namespace, key, last_tick) "
					+ "VALUES ('test', 'gone', '2100-01-01')");
			ledger.forget("gone", "bob");
			assertThat(context.getBean(Listener.class).seen).contains(new JobForgottenEvent("test", "gone", "bob"));
		});
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void eventsOfRunsForOneTickCountItsAttempts(LockScope scope) {
		List<SingleRunnerFinishedEvent> finished = new CopyOnWriteArrayList<>();
		this.runner
			.withInitializer((context) -> context.addApplicationListener(
					ApplicationListener.forPayload((SingleRunnerFinishedEvent event) -> finished.add(event))))
			.run((context) -> {
				Jobs jobs = context.getBean(Jobs.class);
				ThrowingCallable call = (scope == LockScope.SESSION) ? jobs::yearlyInSession
						: jobs::yearlyInTransaction;
				jobs.setFailing(true);
				assertThatIllegalStateException().isThrownBy(call).withMessage("expected");
				assertThatIllegalStateException().isThrownBy(call).withMessage("expected");
				jobs.setFailing(false);
				assertThatNoException().isThrownBy(call);
			});
		assertThat(finished).extracting(SingleRunnerFinishedEvent::attempt).containsExactly(1, 2, 3);
		assertThat(finished).extracting(SingleRunnerFinishedEvent::tick).doesNotContainNull();
	}

	@Test
	void actThatFailsPublishesNothing() {
		this.runner.run((context) -> {
			AdvisoryLockLedger ledger = context.getBean(AdvisoryLockLedger.class);
			assertThatIllegalArgumentException().isThrownBy(() -> ledger.pause("unknown", "ann"))
				.withMessage("Failed to pause 'test/unknown': the ledger has no job of that key");
			assertThatIllegalArgumentException().isThrownBy(() -> ledger.resume("unknown", "ann"))
				.withMessage("Failed to resume 'test/unknown': the ledger has no job of that key");
			assertThat(context.getBean(Listener.class).seen).isEmpty();
		});
	}

	@Test
	void listenerThatFailsDoesNotMakeTheActFail() {
		this.runner.withBean(FailingListener.class).run((context) -> {
			context.getBean(AdvisoryLockLedger.class).pause("seldom", "ann");
			assertThat(pausedBy()).containsExactly("ann");
		});
	}

	private static List<String> pausedBy() {
		return TestPostgres.query("SELECT paused_by FROM job_events_tests.ledger_pause WHERE paused_at IS NOT NULL");
	}

	static class Jobs {

		private boolean failing;

		@SingleRunner(key = "seldom", minInterval = "1h")
		void seldom() {
		}

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRunner(key = "yearly-session", scope = LockScope.SESSION, once = Once.PER_TICK)
		void yearlyInSession() {
			Assert.state(!this.failing, "expected");
		}

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRunner(key = "yearly-transaction", once = Once.PER_TICK)
		void yearlyInTransaction() {
			Assert.state(!this.failing, "expected");
		}

		void setFailing(boolean failing) {
			this.failing = failing;
		}

	}

	static class Listener {

		private final Thread thread = Thread.currentThread();

		private final List<Object> seen = new CopyOnWriteArrayList<>();

		@EventListener({ JobPausedEvent.class, JobResumedEvent.class, JobForgottenEvent.class })
		void on(Object event) {
			assertThat(Thread.currentThread()).isSameAs(this.thread);
			this.seen.add(event);
			this.seen.add(pausedBy());
		}

	}

	static class FailingListener {

		@EventListener
		void on(JobPausedEvent event) {
			throw new IllegalStateException("listener");
		}

	}

}
