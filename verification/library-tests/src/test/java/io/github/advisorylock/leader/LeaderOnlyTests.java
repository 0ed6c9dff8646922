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

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.AliasFor;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link LeaderOnly}.
 */
@Tag("gate")
class LeaderOnlyTests {

	private static final AdvisoryLockKey ROLE = AdvisoryLockKey.of("test", "leader:reports");

	private final ApplicationContextRunner application = LockContextRunner.create()
		.withPropertyValues("advisory-lock.session.heartbeat=100ms", "advisory-lock.session.dead-client-timeout=600ms",
				"role=reports");

	@AfterEach
	void checkThatNoLockIsLeft() {
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.holders()).isEmpty());
	}

	@Test
	void leaderRunsItsMethodsAndOthersSkipThemUntilItStops() {
		this.application.withBean("jobs", Jobs.class).run((first) -> {
			LeaderElection leader = first.getBean(LeaderElection.class);
			Awaitility.await().until(() -> leader.isLeader("reports"));
			assertThat(runAll(first.getBean(Jobs.class))).isEqualTo(4);
			this.application.withBean("jobs", Jobs.class).run((second) -> {
				Jobs jobs = second.getBean(Jobs.class);
				assertThat(runAll(jobs)).isZero();
				assertThat(jobs.object()).isNull();
				assertThat(jobs.optional()).isEmpty();
				first.close();
				Awaitility.await().until(() -> second.getBean(LeaderElection.class).isLeader("reports"));
				assertThat(jobs.object()).isEqualTo("done");
				assertThat(jobs.optional()).contains("done");
				Awaitility.await().until(() -> jobs.gained() == 1);
			});
		});
	}

	@Test
	void termsAreHigherThanThePropertySays() {
		long above = 35_184_372_089_594L;
		this.application.withPropertyValues("advisory-lock.leader.terms-above=" + above)
			.withBean("jobs", Jobs.class)
			.run((context) -> {
				LeaderElection election = context.getBean(LeaderElection.class);
				Awaitility.await().until(() -> election.isLeader("reports"));
				assertThat(election.term("reports").orElseThrow()).isGreaterThan(above);
			});
	}

	@Test
	void stoppingContextTellsListenersAndHandsOver() {
		this.application.withBean("jobs", Jobs.class).run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			Awaitility.await().until(() -> context.getBean(LeaderElection.class).isLeader("reports"));
			context.close();
			assertThat(jobs.lost()).isOne();
			assertThat(ForeignSession.isFree(ROLE)).isTrue();
		});
	}

	@Test
	void leaderIsAskedForBeforeTheLock() {
		try (ForeignSession leader = ForeignSession.holding(ROLE)) {
			this.application.withBean("jobs", Both.class).run((context) -> {
				Both jobs = context.getBean(Both.class);
				jobs.run();
				assertThat(jobs.skips()).isZero();
				assertThat(leader.unlock(ROLE)).isTrue();
				Awaitility.await().until(() -> context.getBean(LeaderElection.class).isLeader("reports"));
				try (ForeignSession busy = ForeignSession.holding(AdvisoryLockKey.of("test", "both"))) {
					jobs.run();
				}
				assertThat(jobs.skips()).isOne();
				assertThat(jobs.runs()).isZero();
				jobs.run();
				assertThat(jobs.runs()).isOne();
			});
		}
	}

	@Test
	void scheduledMethodRunsOnTheLeader() {
		this.application.withUserConfiguration(Scheduling.class)
			.withBean("jobs", ScheduledJob.class)
			.run((context) -> Awaitility.await().until(() -> context.getBean(ScheduledJob.class).runs() > 0));
	}

	/**
	 * That of virtual threads does so, too.
	 */
	@Test
	void callsOverlapOnTheLeaderWhereItsSchedulerDoesNotWaitUnlessTheyAreLocked() {
		this.application.withUserConfiguration(Scheduling.class)
			.withBean(SimpleAsyncTaskScheduler.class)
			.withBean("jobs", OverlappingJobs.class)
			.run((context) -> {
				OverlappingJobs jobs = context.getBean(OverlappingJobs.class);
				try {
					Awaitility.await().atMost(Patience.TIME).until(() -> jobs.begun(1) > 0);
					int before = jobs.begun(0);
					Awaitility.await().atMost(Patience.TIME).until(() -> jobs.begun(0) > before + 2);
					assertThat(jobs.begun(1)).isOne();
				}
				finally {
					jobs.end();
				}
			});
	}

	@Test
	void methodThatAsksForItIsCalledOnElection() {
		this.application.withBean("jobs", ElectedJob.class).run((context) -> {
			ElectedJob job = context.getBean(ElectedJob.class);
			Awaitility.await().until(() -> job.runs() > 0);
			assertThat(context.getBean(LeaderElection.class).isLeader("reports")).isTrue();
			assertThat(job.thread()).startsWith("advisory-lock-on-election-");
		});
	}

	@Test
	void scheduledMethodIsCalledOnElectionByTheScheduler() {
		this.application.withUserConfiguration(Scheduling.class).withBean("jobs", ElectedJob.class).run((context) -> {
			ElectedJob job = context.getBean(ElectedJob.class);
			Awaitility.await().until(() -> job.runs() > 0);
			assertThat(job.thread()).startsWith("scheduling-");
			assertThat(job.runs()).isOne();
		});
	}

	@Test
	void everyInstanceLeadsWhenLocksAreSwitchedOff() {
		LockContextRunner.withoutDatabase()
			.withBean("jobs", Jobs.class)
			.withPropertyValues("advisory-lock.enabled=false", "role=reports")
			.run((context) -> {
				assertThat(runAll(context.getBean(Jobs.class))).isEqualTo(4);
				assertThat(context.getBean(LeaderElection.class).term("reports")).hasValue(0);
				assertThatIllegalArgumentException()
					.isThrownBy(() -> context.getBean(LeaderElection.class).isLeader("a b"))
					.withMessage("'role' must be the name of a role, and is 'a b'");
			});
	}

	@ParameterizedTest
	@MethodSource
	void wrongUseFailsAtStartWithBeanMethodAndWhatToChange(Class<?> type, String problem, String action) {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(LockContextRunner.create().withBean("jobs", type));
		assertThat(analysis.getDescription()).startsWith("@LeaderOnly method 'run' of class '" + type.getName())
			.contains("on bean 'jobs'", problem);
		assertThat(analysis.getAction()).contains(action);
	}

	static Stream<Arguments> wrongUseFailsAtStartWithBeanMethodAndWhatToChange() {
		return Stream.of(Arguments.of(BadRole.class, "attribute 'value' is no name of a role: 'a b'", "64 letters"),
				Arguments.of(EmptyRole.class, "attribute 'value' is no name of a role: ''", "64 letters"),
				Arguments.of(MissingPlaceholder.class, "attribute 'value' can't be resolved", "Set the property"),
				Arguments.of(Primitive.class, "must not return the type 'int'", "ask LeaderElection"),
				Arguments.of(Result.class, "must not return the type '" + LockResult.class.getName(), "Optional"),
				Arguments.of(Later.class, "must not be asynchronous: leadership may be over", "annotate the method"),
				Arguments.of(Parameter.class, "must have no parameters: attribute 'onElection'", "Remove"),
				Arguments.of(FinalMethod.class, "must not be final", "Remove the modifier"));
	}

	@Test
	void methodWithoutDatabaseFailsAtStart() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(
				LockContextRunner.withoutDatabase().withBean("jobs", Jobs.class).withPropertyValues("role=reports"));
		assertThat(analysis.getDescription()).contains("@LeaderOnly", "on bean 'jobs'", "there is no DataSource");
		assertThat(analysis.getAction()).contains("spring.datasource.url", "advisory-lock.enabled");
	}

	private static int runAll(Jobs jobs) {
		int before = jobs.runs();
		jobs.nothing();
		jobs.object();
		jobs.optional();
		jobs.composed();
		return jobs.runs() - before;
	}

	/**
	 * Methods of all kinds that can be skipped.
	 */
	static class Jobs {

		private final AtomicInteger runs = new AtomicInteger();

		private final AtomicInteger gained = new AtomicInteger();

		private final AtomicInteger lost = new AtomicInteger();

		@LeaderOnly("reports")
		void nothing() {
			this.runs.incrementAndGet();
		}

		@LeaderOnly("${role}")
		String object() {
			this.runs.incrementAndGet();
			return "done";
		}

		@LeaderOnly("reports")
		Optional<String> optional() {
			this.runs.incrementAndGet();
			return Optional.of("done");
		}

		@ReportsLeader
		void composed() {
			this.runs.incrementAndGet();
		}

		@EventListener
		void gained(LeadershipGainedEvent event) {
			this.gained.incrementAndGet();
		}

		@EventListener
		void lost(LeadershipLostEvent event) {
			this.lost.incrementAndGet();
		}

		int runs() {
			return this.runs.get();
		}

		int gained() {
			return this.gained.get();
		}

		int lost() {
			return this.lost.get();
		}

	}

	/**
	 * A method for one run at a time on the leader.
	 */
	static class Both {

		private final AtomicInteger runs = new AtomicInteger();

		private final AtomicInteger skips = new AtomicInteger();

		@LeaderOnly("reports")
		@SingleRunner("both")
		void run() {
			this.runs.incrementAndGet();
		}

		@EventListener
		void skipped(SingleRunnerSkippedEvent event) {
			this.skips.incrementAndGet();
		}

		int runs() {
			return this.runs.get();
		}

		int skips() {
			return this.skips.get();
		}

	}

	/**
	 * Switches scheduling on.
	 */
	static class OverlappingJobs {

		private final CountDownLatch end = new CountDownLatch(1);

		private final AtomicIntegerArray begun = new AtomicIntegerArray(2);

		@Scheduled(fixedRate = 50)
		@LeaderOnly("reports")
		void onTheLeader() throws InterruptedException {
			run(0);
		}

		@Scheduled(fixedRate = 50)
		@LeaderOnly("reports")
		@SingleRunner(key = "locked")
		void onTheLeaderUnderTheLock() throws InterruptedException {
			run(1);
		}

		private void run(int job) throws InterruptedException {
			this.begun.incrementAndGet(job);
			this.end.await();
		}

		int begun(int job) {
			return this.begun.get(job);
		}

		void end() {
			this.end.countDown();
		}

	}

	@EnableScheduling
	static class Scheduling {

	}

	/**
	 * What annotated methods are mostly used for.
	 */
	static class ScheduledJob {

		private final AtomicInteger runs = new AtomicInteger();

		@Scheduled(fixedRate = 10)
		@LeaderOnly("reports")
		void run() {
			this.runs.incrementAndGet();
		}

		int runs() {
			return this.runs.get();
		}

	}

	/**
	 * A method whose next turn may be far away.
	 */
	static class ElectedJob {

		private final AtomicInteger runs = new AtomicInteger();

		private volatile String thread = "";

		@Scheduled(fixedRate = 3_600_000)
		@LeaderOnly(value = "reports", onElection = true)
		void run() {
			this.thread = Thread.currentThread().getName();
			this.runs.incrementAndGet();
		}

		int runs() {
			return this.runs.get();
		}

		String thread() {
			return this.thread;
		}

	}

	/**
	 * An annotation of an application's own.
	 */
	@LeaderOnly("")
	@Retention(RetentionPolicy.RUNTIME)
	@Target(ElementType.METHOD)
	@interface ReportsLeader {

		@AliasFor(annotation = LeaderOnly.class, attribute = "value")
		String role() default "reports";

	}

	/**
	 * Wrong use.
	 */
	static class BadRole {

		@LeaderOnly("a b")
		void run() {
		}

	}

	/**
	 * Wrong use.
	 */
	static class EmptyRole {

		@LeaderOnly("")
		void run() {
		}

	}

	/**
	 * Wrong use.
	 */
	static class MissingPlaceholder {

		@LeaderOnly("${missing}")
		void run() {
		}

	}

	/**
	 * Wrong use.
	 */
	static class Primitive {

		@LeaderOnly("reports")
		int run() {
			return 1;
		}

	}

	/**
	 * Wrong use.
	 */
	static class Result {

		@LeaderOnly("reports")
		LockResult<String> run() {
			return LockResult.executed("done");
		}

	}

	/**
	 * Wrong use.
	 */
	static class Later {

		@LeaderOnly("reports")
		CompletableFuture<String> run() {
			return CompletableFuture.completedFuture("done");
		}

	}

	/**
	 * Wrong use.
	 */
	static class Parameter {

		@LeaderOnly(value = "reports", onElection = true)
		void run(String parameter) {
		}

	}

	/**
	 * Wrong use.
	 */
	static class FinalMethod {

		@LeaderOnly("reports")
		final void run() {
		}

	}

}
