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

package io.github.advisorylock.documentation;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the document on changing keys: what its three releases do beside each other.
 */
@Tag("gate")
class ChangingKeysTests {

	private static final Runnable NOTHING = () -> {
	};

	@AfterEach
	void checkThatNoLockIsLeft() {
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	@Test
	void releaseThatTakesBothLocksRunsATickOnceBesideTheOldOne() {
		assertThat(runsBesideEachOther(NightlyReport.class, NightlyStatement.class)).containsOnly(1);
	}

	@Test
	void releaseThatTakesTheNewLockRunsATickOnceBesideTheOneThatTakesBoth() {
		assertThat(runsBesideEachOther(NightlyStatement.class, RenamedReport.class)).containsOnly(1);
	}

	@Test
	void renamedKeyAloneRunsATickTwice() {
		assertThat(runsBesideEachOther(NightlyReport.class, RenamedReport.class)).containsOnly(2);
	}

	@Test
	void documentShowsTheReleaseThatTakesBothLocks() {
		String shown = Documentation.read(Documentation.ROOT.resolve("docs/keys.md"));
		String method = between(Documentation.tests().get("ChangingKeysTests"), "LockRequest old =", "create());");
		assertThat(between(shown, "LockRequest old =", "create());")).isEqualTo(method);
	}

	private static String between(String text, String start, String end) {
		return text.substring(text.lastIndexOf(start), text.lastIndexOf(end)).replaceAll("\\s+", " ");
	}

	/**
	 * Let instances of two releases meet for a tick: one after the other, and one while
	 * the other is at it.
	 * @return how many runs there were each time
	 */
	private static List<Integer> runsBesideEachOther(Class<? extends Job> first, Class<? extends Job> second) {
		List<Integer> counts = new ArrayList<>();
		for (boolean meanwhile : List.of(false, true)) {
			counts.add(runs(first, second, meanwhile));
			counts.add(runs(second, first, meanwhile));
		}
		return counts;
	}

	private static int runs(Class<? extends Job> first, Class<? extends Job> second, boolean meanwhile) {
		Work work = new Work();
		instance(first, work).run((one) -> instance(second, work).run((two) -> {
			Instant tick = Instant.now().truncatedTo(ChronoUnit.DAYS);
			Runnable other = () -> PlannedTime.run(tick, two.getBean(Job.class)::write);
			work.meanwhile.set(meanwhile ? () -> CompletableFuture.runAsync(other).join() : NOTHING);
			PlannedTime.run(tick, one.getBean(Job.class)::write);
			other.run();
		}));
		return work.runs.get();
	}

	private static ApplicationContextRunner instance(Class<? extends Job> job, Work work) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
					AdvisoryLockAutoConfiguration.class))
			.withPropertyValues("spring.application.name=shop", "spring.datasource.url=" + TestPostgres.url(),
					"spring.datasource.hikari.maximum-pool-size=2", "spring.datasource.hikari.minimum-idle=0")
			.withBean(Work.class, () -> work)
			.withBean(job);
	}

	/**
	 * What the job does.
	 */
	static class Work {

		private final AtomicInteger runs = new AtomicInteger();

		private final AtomicReference<Runnable> meanwhile = new AtomicReference<>(NOTHING);

		String create() {
			this.runs.incrementAndGet();
			this.meanwhile.getAndSet(NOTHING).run();
			return "the work";
		}

	}

	/**
	 * A job that has changed its name.
	 */
	interface Job {

		void write();

	}

	/**
	 * Release 1.
	 */
	static class NightlyReport implements Job {

		private final Work work;

		NightlyReport(Work work) {
			this.work = work;
		}

		@Override
		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRunner(key = "nightly-report")
		public void write() {
			this.work.create();
		}

	}

	/**
	 * Release 2.
	 */
	static class NightlyStatement implements Job {

		private final AdvisoryLockOperations locks;

		private final Work work;

		NightlyStatement(AdvisoryLockOperations locks, Work work) {
			this.locks = locks;
			this.work = work;
		}

		@Override
		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRunner(key = "nightly-statement")
		public void write() {
			LockRequest old = LockRequest.of("nightly-report");
			LockRequest inside = LockContext.current()
				.flatMap(LockContext::tick)
				.map((tick) -> old.rememberTick(tick, Duration.ofMinutes(5)))
				.orElse(old);
			this.locks.execute(inside, (lock) -> create());
		}

		private String create() {
			return this.work.create();
		}

	}

	/**
	 * Release 3.
	 */
	static class RenamedReport implements Job {

		private final Work work;

		RenamedReport(Work work) {
			this.work = work;
		}

		@Override
		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRunner(key = "nightly-statement")
		public void write() {
			this.work.create();
		}

	}

}
