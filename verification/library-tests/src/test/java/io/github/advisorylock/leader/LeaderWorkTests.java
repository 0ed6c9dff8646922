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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.event.EventListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for what the work of a leader knows and is told.
 */
@Tag("gate")
class LeaderWorkTests {

	private static final AdvisoryLockKey ROLE = AdvisoryLockKey.of("test", "leader:reports");

	private final ExecutorService executor = VirtualThreadExecutor.createWhereAsked();

	private final SettableTicker ticker = new SettableTicker();

	private final ApplicationContextRunner application = this.ticker.in(LockContextRunner.create())
		.withBean("jobs", Jobs.class);

	@AfterEach
	void checkThatNoLockIsLeft() {
		this.executor.shutdownNow();
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.holders()).isEmpty());
	}

	@Test
	void workKnowsItsRole() {
		this.application.run((context) -> {
			Jobs jobs = awaitLeader(context);
			LockContext work = jobs.run(() -> {
				LockContext current = LockContext.current().orElseThrow();
				assertThat(current.isHeld()).isTrue();
				current.checkHeld();
				return current;
			});
			assertThat(work.key()).isEqualTo(ROLE);
			assertThat(work.scope()).isEqualTo(LockScope.SESSION);
			assertThat(work.fencingToken()).isEqualTo(context.getBean(LeaderElection.class).term("reports"));
			assertThat(work.tick()).isEmpty();
			assertThat(work.attempt()).isOne();
			assertThat(work.isHeld()).as("after the work").isFalse();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(work::checkHeld);
			assertThat(LockContext.current()).isEmpty();
		});
	}

	@Test
	void workIsInterruptedAndEndsAsLostWhenTheSessionDoes() {
		this.application.run((context) -> {
			Jobs jobs = awaitLeader(context);
			Future<Object> run = start(jobs, () -> {
				LockContext work = LockContext.current().orElseThrow();
				awaitInterrupt();
				assertThat(work.isHeld()).isFalse();
				return "done";
			});
			loseSession();
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> run.get(Patience.SECONDS, TimeUnit.SECONDS))
				.withCauseInstanceOf(LockLostException.class);
			Awaitility.await().until(() -> jobs.events().size() == 2);
			assertThat(jobs.events()).hasOnlyElementsOfTypes(LockLostEvent.class, LeadershipLostEvent.class);
		});
	}

	@Test
	void failureOfTheWorkWinsAndTheLossIsAdded() {
		this.application.run((context) -> {
			Jobs jobs = awaitLeader(context);
			Future<Object> run = start(jobs, () -> {
				awaitInterrupt();
				throw new IllegalStateException("expected");
			});
			loseSession();
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> run.get(Patience.SECONDS, TimeUnit.SECONDS))
				.havingCause()
				.isInstanceOf(IllegalStateException.class)
				.satisfies(
						(failure) -> assertThat(failure.getSuppressed()).hasOnlyElementsOfType(LockLostException.class)
							.hasSize(1));
		});
	}

	@Test
	void workIsToldOnlyWhereInterruptsAreNotWanted() {
		this.application.withPropertyValues("advisory-lock.session.when-lost=report").run((context) -> {
			Jobs jobs = awaitLeader(context);
			Future<Object> run = start(jobs, () -> {
				LockContext work = LockContext.current().orElseThrow();
				Awaitility.await().pollInSameThread().until(() -> !work.isHeld());
				assertThatExceptionOfType(LockLostException.class).isThrownBy(work::checkHeld);
				LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
				assertThat(Thread.interrupted()).isFalse();
				return "done";
			});
			loseSession();
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> run.get(Patience.SECONDS, TimeUnit.SECONDS))
				.withCauseInstanceOf(LockLostException.class);
		});
	}

	@Test
	void interruptThatDidNotReachTheWorkIsTakenBack() {
		this.application.run((context) -> {
			Jobs jobs = awaitLeader(context);
			Future<Object> run = start(jobs, () -> {
				Awaitility.await().pollInSameThread().until(() -> Thread.currentThread().isInterrupted());
				return "done";
			}, Thread::interrupted);
			loseSession();
			assertThat(run.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(false);
		});
	}

	@Test
	void workOfOneThreadIsToldWhenItsInstanceLeadsAgain() {
		this.application.run((context) -> {
			Jobs jobs = awaitLeader(context);
			Future<Object> run = start(jobs, () -> {
				LockContext work = LockContext.current().orElseThrow();
				awaitInterrupt();
				awaitLeader(context);
				assertThat(work.isHeld()).as("in the term that came after").isFalse();
				assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> jobs.run(() -> "part"));
				assertThat(CompletableFuture.supplyAsync(() -> jobs.run(() -> "next")).join()).isEqualTo("next");
				return "done";
			});
			loseSession();
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> run.get(Patience.SECONDS, TimeUnit.SECONDS))
				.withCauseInstanceOf(LockLostException.class);
		});
	}

	/**
	 * No statement fails in time: the elector waits for the answer to a candidacy for the
	 * other role.
	 */
	@Test
	void workIsToldAtTheEndOfTheTrustWindowWhenTheNetworkIsSilent() {
		try (TestProxy proxy = new TestProxy(Duration.ZERO);
				ForeignSession other = ForeignSession.holding(AdvisoryLockKey.of("test", "leader:metrics"))) {
			this.application.withPropertyValues("spring.datasource.url=" + proxy.url()).run((context) -> {
				context.getBean(LeaderElection.class).isLeader("metrics");
				Jobs jobs = awaitLeader(context);
				Future<Object> run = start(jobs, () -> {
					awaitInterrupt();
					return "done";
				});
				jobs.run(() -> {
					LockContext.current().orElseThrow().checkHeld();
					return "confirmed now";
				});
				proxy.stall();
				this.ticker.pass(LockSessionSettings.DEFAULT.trust().minusNanos(1));
				assertThat(context.getBean(LeaderElection.class).isLeader("reports")).isTrue();
				this.ticker.pass(Duration.ofNanos(1));
				assertThat(context.getBean(LeaderElection.class).isLeader("reports")).isFalse();
				this.ticker.passUntil(run::isDone);
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(run::get)
					.withCauseInstanceOf(LockLostException.class);
				Awaitility.await().until(() -> !jobs.events().isEmpty());
				assertThat(jobs.events().get(0)).as("before an answer is missed")
					.isInstanceOf(LeadershipLostEvent.class);
				proxy.resume();
			});
			assertThat(other.unlock(AdvisoryLockKey.of("test", "leader:metrics"))).isTrue();
		}
	}

	@Test
	void workGoesOnUntoldWhenItsLeaderResigns() {
		this.application.run((context) -> {
			Jobs jobs = awaitLeader(context);
			LeaderElection election = context.getBean(LeaderElection.class);
			String result = jobs.run(() -> {
				election.resign("reports");
				LockContext work = LockContext.current().orElseThrow();
				this.ticker.advance(LockSessionSettings.DEFAULT.trust().multipliedBy(3));
				assertThat(work.isHeld()).isTrue();
				assertThat(Thread.interrupted()).isFalse();
				return "done";
			});
			assertThat(result).isEqualTo("done");
			Awaitility.await().until(() -> !election.isLeader("reports"));
		});
	}

	@Test
	void workIsToldWhenNobodyWaitsForIt() {
		this.application.run((context) -> {
			Jobs jobs = awaitLeader(context);
			Future<Object> run = start(jobs, () -> {
				awaitInterrupt();
				return "done";
			});
			context.getBean(PostgresLeaderElection.class).stop();
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> run.get(Patience.SECONDS, TimeUnit.SECONDS))
				.withCauseInstanceOf(LockLostException.class);
		});
	}

	@Test
	void workThatStopsItsApplicationIsNotInterrupted() {
		this.application.run((context) -> {
			Jobs jobs = awaitLeader(context);
			assertThat(jobs.run(() -> {
				context.close();
				return Thread.interrupted();
			})).isFalse();
			assertThat(ForeignSession.isFree(ROLE)).isTrue();
		});
	}

	@Test
	void runsAroundAndInsideTheWorkAreOneWhenTheyHaveOneKey() {
		this.application.run((context) -> {
			Jobs jobs = awaitLeader(context);
			AdvisoryLockOperations locks = context.getBean(AdvisoryLockOperations.class);
			LockRequest request = LockRequest.of("both").scope(LockScope.SESSION);
			LockOutcome inside = locks
				.execute(request, (around) -> jobs.run(() -> locks.execute(request, (part) -> part.key()).outcome()))
				.value();
			assertThat(inside).isEqualTo(LockOutcome.EXECUTED);
			assertThat(
					jobs.run(() -> locks.execute(request, (run) -> LockContext.current().orElseThrow().key()).value()))
				.isEqualTo(AdvisoryLockKey.of("test", "both"));
		});
	}

	@Test
	void partOfTheWorkHasTheContextOfTheWhole() {
		this.application.run((context) -> {
			Jobs jobs = awaitLeader(context);
			assertThat(jobs.run(() -> {
				LockContext whole = LockContext.current().orElseThrow();
				assertThatIllegalStateException().isThrownBy(() -> jobs.run(() -> {
					throw new IllegalStateException("expected");
				})).withMessage("expected");
				return jobs.run(() -> LockContext.current().orElseThrow() == whole) && whole.isHeld();
			})).isTrue();
		});
	}

	@Test
	void workHasAContextWhereLocksAreSwitchedOff() {
		LockContextRunner.withoutDatabase()
			.withBean("jobs", Jobs.class)
			.withPropertyValues("advisory-lock.enabled=false")
			.run((context) -> {
				LockContext work = context.getBean(Jobs.class).run(() -> {
					LockContext current = LockContext.current().orElseThrow();
					current.checkHeld();
					return current;
				});
				assertThat(work.fencingToken()).hasValue(0);
				assertThat(work.key().name()).isEqualTo("leader:reports");
			});
	}

	/**
	 * Let time pass until the application leads.
	 */
	private Jobs awaitLeader(ApplicationContext context) {
		Awaitility.await().pollInSameThread().pollInterval(Duration.ofMillis(5)).until(() -> {
			boolean leads = context.getBean(LeaderElection.class).isLeader("reports");
			if (!leads) {
				this.ticker.advance(Duration.ofMillis(100));
			}
			return leads;
		});
		return context.getBean(Jobs.class);
	}

	/**
	 * Have the server end the session, and the heartbeat notice it.
	 */
	private void loseSession() {
		TestPostgres.terminate("test");
		this.ticker.advance(LockSessionSettings.DEFAULT.heartbeat());
	}

	private Future<Object> start(Jobs jobs, Action<Object> action) {
		return start(jobs, action, () -> "ended");
	}

	/**
	 * Start work, and return when it has begun.
	 * @param afterwards what the thread does when it has failed
	 */
	private Future<Object> start(Jobs jobs, Action<Object> action, Action<Object> afterwards) {
		CompletableFuture<Void> begun = new CompletableFuture<>();
		CompletableFuture<Object> ended = new CompletableFuture<>();
		this.executor.execute(() -> {
			try {
				ended.complete(jobs.run(() -> {
					begun.complete(null);
					return action.run();
				}));
			}
			catch (Throwable ex) {
				complete(ended, ex, afterwards.run());
			}
		});
		begun.join();
		return ended;
	}

	private static void complete(CompletableFuture<Object> ended, Throwable failure, Object afterwards) {
		if (afterwards.equals("ended")) {
			ended.completeExceptionally(failure);
		}
		else {
			ended.complete(afterwards);
		}
	}

	private static void awaitInterrupt() {
		long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
		while (!Thread.interrupted()) {
			assertThat(System.nanoTime() - end).as("interrupted in time").isNegative();
			LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
		}
	}

	/**
	 * What a test does on the leader.
	 */
	interface Action<T> {

		/**
		 * Do it.
		 */
		T run();

	}

	/**
	 * Does anything on the leader, and hears what it loses.
	 */
	static class Jobs {

		private final List<Object> events = new CopyOnWriteArrayList<>();

		@LeaderOnly("reports")
		<T> @Nullable T run(Action<T> action) {
			return action.run();
		}

		@EventListener
		void lost(LeadershipLostEvent event) {
			this.events.add(event);
		}

		@EventListener
		void lost(LockLostEvent event) {
			this.events.add(event);
		}

		List<Object> events() {
			return this.events;
		}

	}

}
