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

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the shutdown of an application that leads a role.
 */
@Tag("gate")
class LeaderHandoverTests {

	private static final AdvisoryLockKey ROLE = AdvisoryLockKey.of("test", "leader:reports");

	/**
	 * Who leads may believe in that for three seconds without an answer, which a busy
	 * machine gives in time.
	 */
	private final ApplicationContextRunner application = LockContextRunner.create()
		.withPropertyValues("advisory-lock.session.heartbeat=500ms", "advisory-lock.session.dead-client-timeout=6s");

	private final ExecutorService threads = VirtualThreadExecutor.createWhereAsked();

	@AfterEach
	void stopThreads() {
		this.threads.shutdownNow();
	}

	@Test
	void roleIsHandedOverWhenTheWorkOfItsLeaderHasEnded() {
		this.application.withBean("job", Job.class).run((first) -> {
			Job job = first.getBean(Job.class);
			awaitLeader(first);
			this.threads.submit(job::run);
			job.awaitRun();
			this.application.withBean("job", Job.class).run((second) -> {
				Future<?> closing = this.threads.submit(first::close);
				Awaitility.await().during(Duration.ofSeconds(1)).until(() -> leads(first) && !leads(second));
				job.run();
				assertThat(job.calls()).as("calls of a leader that is leaving").isOne();
				job.end();
				closing.get(Patience.SECONDS, TimeUnit.SECONDS);
				awaitLeader(second);
			});
		});
	}

	@Test
	@Tag("chaos")
	void scheduledWorkOfTwoLeadersNeverOverlaps() {
		SlowJob.reset();
		ApplicationContextRunner scheduled = this.application.withUserConfiguration(Scheduling.class)
			.withBean("job", SlowJob.class);
		scheduled.run((first) -> {
			Awaitility.await().atMost(Patience.TIME).until(() -> SlowJob.running() > 0);
			scheduled.run(LockContextRunner.started(() -> {
				Awaitility.await().atMost(Patience.TIME).until(() -> SlowJob.running() > 0);
				int calls = SlowJob.calls();
				first.close();
				Awaitility.await().atMost(Patience.TIME).until(() -> SlowJob.calls() > calls);
				assertThat(SlowJob.overlaps()).isZero();
			}));
		});
	}

	@Test
	void workThatOutlastsThePhaseIsToldBeforeItsRoleIsFree() {
		this.application.withBean("job", EndlessJob.class)
			.withBean("lifecycleProcessor", DefaultLifecycleProcessor.class,
					() -> lifecycleProcessor(Duration.ofMillis(300)))
			.run((context) -> {
				EndlessJob job = context.getBean(EndlessJob.class);
				LeaderElection election = context.getBean(LeaderElection.class);
				awaitLeader(context);
				Future<?> work = this.threads.submit(() -> job.workWhileLeading(election));
				Awaitility.await().until(job::works);
				context.close();
				assertThat(work).failsWithin(Patience.TIME)
					.withThrowableOfType(ExecutionException.class)
					.withCauseInstanceOf(LockLostException.class);
				assertThat(job.lockWasHeld()).isTrue();
				assertThat(ForeignSession.isFree(ROLE)).isTrue();
			});
	}

	@Tag("slow")
	@Test
	void leaderThatClosesItsOwnContextIsNotWaitedFor() {
		this.application.withBean("job", ClosingJob.class)
			.withBean("lifecycleProcessor", DefaultLifecycleProcessor.class,
					() -> lifecycleProcessor(Patience.TIME.multipliedBy(4)))
			.run((context) -> {
				awaitLeader(context);
				ClosingJob job = context.getBean(ClosingJob.class);
				Future<?> closing = this.threads.submit(() -> job.close(context.getSourceApplicationContext()));
				closing.get(Patience.SECONDS, TimeUnit.SECONDS);
				assertThat(ForeignSession.isFree(ROLE)).isTrue();
			});
	}

	private static DefaultLifecycleProcessor lifecycleProcessor(Duration timeout) {
		DefaultLifecycleProcessor processor = new DefaultLifecycleProcessor();
		processor.setTimeoutPerShutdownPhase(timeout.toMillis());
		return processor;
	}

	private static boolean leads(ApplicationContext context) {
		return context.getBean(LeaderElection.class).isLeader("reports");
	}

	private static void awaitLeader(ApplicationContext context) {
		Awaitility.await().atMost(Patience.TIME).until(() -> leads(context));
	}

	/**
	 * Work that ends when it is told to.
	 */
	static class Job {

		private final AtomicInteger calls = new AtomicInteger();

		private final CountDownLatch running = new CountDownLatch(1);

		private final CountDownLatch end = new CountDownLatch(1);

		@LeaderOnly("reports")
		void run() {
			this.calls.incrementAndGet();
			this.running.countDown();
			await(this.end);
		}

		void awaitRun() {
			await(this.running);
		}

		void end() {
			this.end.countDown();
		}

		int calls() {
			return this.calls.get();
		}

		private static void await(CountDownLatch latch) {
			try {
				assertThat(latch.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

	/**
	 * Switches scheduling on.
	 */
	@EnableScheduling
	static class Scheduling {

	}

	/**
	 * Work that takes its time, on whichever instance.
	 */
	static class SlowJob {

		private static final AtomicInteger calls = new AtomicInteger();

		private static final AtomicInteger running = new AtomicInteger();

		private static final AtomicInteger overlaps = new AtomicInteger();

		static void reset() {
			calls.set(0);
			overlaps.set(0);
		}

		@Scheduled(fixedDelay = 20)
		@LeaderOnly("reports")
		void run() {
			if (running.incrementAndGet() > 1) {
				overlaps.incrementAndGet();
			}
			calls.incrementAndGet();
			Pause.of(Duration.ofMillis(1500));
			running.decrementAndGet();
		}

		static int calls() {
			return calls.get();
		}

		static int running() {
			return running.get();
		}

		static int overlaps() {
			return overlaps.get();
		}

	}

	/**
	 * Work that goes on for as long as its instance leads.
	 */
	static class EndlessJob {

		private volatile boolean works;

		private volatile boolean lockWasHeld;

		@LeaderOnly("reports")
		void workWhileLeading(LeaderElection election) {
			boolean held = true;
			while (election.isLeader("reports")) {
				this.works = true;
				// may end between the two questions, in order
				held &= ForeignSession.isHeld(ROLE) || !election.isLeader("reports");
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
			}
			this.lockWasHeld = held;
		}

		boolean lockWasHeld() {
			return this.lockWasHeld;
		}

		boolean works() {
			return this.works;
		}

	}

	/**
	 * Work that ends its application.
	 */
	static class ClosingJob {

		@LeaderOnly("reports")
		void close(ConfigurableApplicationContext context) {
			context.close();
		}

	}

}
