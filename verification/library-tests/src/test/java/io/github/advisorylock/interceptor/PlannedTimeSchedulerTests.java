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

package io.github.advisorylock.interceptor;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import org.aopalliance.intercept.MethodInterceptor;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.config.IntervalTask;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.DelegatingErrorHandlingRunnable;
import org.springframework.scheduling.support.ScheduledMethodRunnable;
import org.springframework.scheduling.support.SimpleTriggerContext;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PlannedTimeScheduler}: what a scheduler has planned arrives with the
 * call, whatever the clock says then.
 */
class PlannedTimeSchedulerTests {

	private static final Instant TIME = Instant.parse("2026-11-01T00:00:00Z");

	private final BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();

	private final BlockingQueue<Instant> plans = new LinkedBlockingQueue<>();

	private final JumpingClock clock = new JumpingClock();

	private final GuardedMethod method = ProxyFactory.getProxy(GuardedMethod.class,
			(MethodInterceptor) (invocation) -> planned(PlannedTime.current()));

	private static @Nullable Instant planned(@Nullable PlannedTime call) {
		return (call != null && call.plan() instanceof PlannedTime.Plan.At at) ? at.time() : null;
	}

	@Test
	void plannedTimeTravelsWithTheCall() throws InterruptedException {
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setClock(this.clock);
		scheduler.initialize();
		try (ScheduledTasks tasks = schedule(scheduler, Duration.ofMillis(10))) {
			Instant first = next().planned();
			assertThat(next().planned()).isEqualTo(first.plusSeconds(1));
		}
		finally {
			scheduler.shutdown();
		}
	}

	/**
	 * A thread that begins when the next call is due is taken for that, so there is some
	 * time between two.
	 */
	@Test
	void schedulerWithAThreadForEachCall() throws InterruptedException {
		try (SimpleAsyncTaskScheduler scheduler = new SimpleAsyncTaskScheduler()) {
			scheduler.setClock(this.clock);
			try (ScheduledTasks tasks = schedule(scheduler, Duration.ofMillis(500))) {
				Instant first = next().planned();
				assertThat(next().planned()).isEqualTo(first.plusSeconds(1));
				assertThat(next().planned()).isEqualTo(first.plusSeconds(2));
			}
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { -1500, -600, 400 })
	void clockThatIsSetBetweenTwoTicksLosesNone(long millis) throws InterruptedException {
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setClock(this.clock);
		scheduler.initialize();
		try (ScheduledTasks tasks = schedule(scheduler, Duration.ofMillis(100))) {
			Instant first = next().planned();
			assertThat(this.plans.poll(10, TimeUnit.SECONDS)).isEqualTo(first);
			assertThat(this.plans.poll(10, TimeUnit.SECONDS)).isEqualTo(first.plusSeconds(1));
			this.clock.jump(Duration.ofMillis(millis));
			Arrival second = next();
			assertThat(second.planned()).isEqualTo(first.plusSeconds(1));
			CronTicks ticks = new CronTicks("* * * * * *", ZoneOffset.UTC);
			assertThat(ticks.ofCallPlannedFor(second.planned(), second.time())).isEqualTo(first.plusSeconds(1));
			assertThat(next().planned()).isEqualTo(first.plusSeconds(2));
		}
		finally {
			scheduler.shutdown();
		}
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void taskThatSpringHasWrappedInAnotherWayIsTold(CapturedOutput output) {
		ScheduledTaskRegistrar registrar = new ScheduledTaskRegistrar();
		registrar.setTaskScheduler(new HandScheduler());
		PlannedTimeScheduler.configurer((method, type) -> null, () -> null).configureTasks(registrar);
		assertThat(output).doesNotContain("Failed to find the method");
		Trigger never = (context) -> null;
		registrar.addTriggerTask(new DelegatingErrorHandlingRunnable(() -> arrive(TIME), (failure) -> {
		}), never);
		registrar.afterPropertiesSet();
		assertThat(output).containsOnlyOnce("Failed to find the method that 'DelegatingErrorHandlingRunnable for ");
	}

	@Test
	void callThatComesTooEarlyHasItsTimeAllTheSame() {
		HandScheduler scheduler = new HandScheduler();
		scheduler.plan(TIME, Clock.fixed(TIME.minusSeconds(3600), ZoneOffset.UTC));
		scheduler.call();
		assertThat(this.arrivals).extracting(Arrival::planned).containsExactly(TIME);
	}

	@Test
	void threadThatIsNotLetRunWhileItPlansDoesNotMakeItLate() {
		HandScheduler scheduler = new HandScheduler();
		scheduler.plan(TIME, Clock.fixed(TIME, ZoneOffset.UTC));
		scheduler.plan(TIME.plusMillis(300), new PausingClock(TIME, Duration.ofMillis(400)));
		scheduler.call();
		assertThat(this.arrivals).extracting(Arrival::planned).containsExactly(TIME.plusMillis(300));
	}

	@Test
	void callsThatAreLateTogetherAreForTheLastThatWasDue() {
		HandScheduler scheduler = new HandScheduler();
		scheduler.plan(TIME, Clock.fixed(TIME, ZoneOffset.UTC));
		scheduler.plan(TIME.plusSeconds(1), Clock.fixed(TIME.plusSeconds(1), ZoneOffset.UTC));
		scheduler.call();
		scheduler.plan(TIME.plusSeconds(3600), Clock.fixed(TIME.plusSeconds(1), ZoneOffset.UTC));
		scheduler.call();
		scheduler.call();
		assertThat(this.arrivals).extracting(Arrival::planned)
			.containsExactly(TIME.plusSeconds(1), TIME.plusSeconds(1), TIME.plusSeconds(3600));
	}

	/**
	 * The clock is asked for the second time once the schedule was looked at.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void changeOfTheScheduleIsFollowedThoughItComesWhileACallIsPlanned(boolean planning) throws InterruptedException {
		CronTicks never = new CronTicks("0 0 4 29 2 *", ZoneOffset.UTC);
		SingleRunnerOperation operation = new SingleRunnerOperation("PlannedTimeSchedulerTests.job", SkippedValue.EMPTY,
				"job", AdvisoryLockKey.of("job"), (arguments) -> AdvisoryLockKey.of("job"), LockScope.SESSION, 1,
				Duration.ZERO, null, false, false,
				new LedgerOperation(true, true, () -> never, false, null, null, 0, null), null, null);
		Thread operator = new Thread(() -> operation.reschedule(new CronTicks.Changes(
				List.of(CronTicks.Change.of(Instant.now(), Instant.now(), "* * * * * *", "UTC")))));
		Runnable change = () -> {
			if (operator.getState() == Thread.State.NEW) {
				operator.start();
				Awaitility.await()
					.until(() -> operator.getState() == Thread.State.BLOCKED
							|| operator.getState() == Thread.State.TERMINATED);
			}
		};
		AtomicInteger looks = new AtomicInteger();
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler() {

			@Override
			public @Nullable ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
				ScheduledFuture<?> future = super.schedule(task, trigger);
				if (!planning) {
					change.run();
				}
				return future;
			}

		};
		scheduler.setClock(new JumpingClock() {

			@Override
			public Instant instant() {
				if (planning && looks.incrementAndGet() == 2) {
					change.run();
				}
				return super.instant();
			}

		});
		scheduler.initialize();
		ScheduledTaskRegistrar registrar = new ScheduledTaskRegistrar();
		registrar.setTaskScheduler(scheduler);
		PlannedTimeScheduler.configurer((method, type) -> operation, () -> null).configureTasks(registrar);
		registrar.addTriggerTask(method(() -> arrive(Instant.now())), new CronTrigger("0 0 4 29 2 *", ZoneOffset.UTC));
		registrar.afterPropertiesSet();
		try (ScheduledTasks tasks = registrar::destroy) {
			assertThat(next().planned()).isBefore(Instant.now());
		}
		finally {
			scheduler.shutdown();
		}
	}

	/**
	 * Timers of the JVM may be a little early by the clock, and calls may be late.
	 */
	@ParameterizedTest
	@ValueSource(longs = { -1, 0, 960_000 })
	void callHasTheIntervalThatItWasPlannedBy(long millis) {
		Instant from = TIME.plusSeconds(1800);
		SingleRunnerOperation operation = new SingleRunnerOperation("PlannedTimeSchedulerTests.job", SkippedValue.EMPTY,
				"job", AdvisoryLockKey.of("job"), (arguments) -> AdvisoryLockKey.of("job"), LockScope.SESSION, 1,
				Duration.ZERO, null, false, false, LedgerOperation.RECORDED, null, null);
		Queue<Instant> times = new ArrayDeque<>();
		AtomicReference<Runnable> call = new AtomicReference<>();
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler() {

			@Override
			public ScheduledFuture<?> schedule(Runnable task, Instant time) {
				times.add(time);
				call.set(task);
				return super.schedule(task, time.plus(Duration.ofDays(1)));
			}

		};
		scheduler.setClock(Clock.fixed(TIME, ZoneOffset.UTC));
		scheduler.initialize();
		List<Duration> intervals = new ArrayList<>();
		ScheduledTaskRegistrar registrar = new ScheduledTaskRegistrar();
		registrar.setTaskScheduler(scheduler);
		PlannedTimeScheduler.configurer((method, type) -> operation, () -> null).configureTasks(registrar);
		registrar.addFixedRateTask(new IntervalTask(method(() -> {
			PlannedTime current = PlannedTime.current();
			intervals.add((current != null && current.plan() instanceof PlannedTime.Plan.Every every)
					? every.interval().length() : Duration.ZERO);
		}), Duration.ofHours(1), Duration.ofHours(1)));
		registrar.afterPropertiesSet();
		try (ScheduledTasks tasks = registrar::destroy) {
			operation.reschedule(new CronTicks.Changes(List.of(CronTicks.Change.of(from, TIME, "PT10M", null),
					CronTicks.Change.of(from.plusSeconds(900), TIME, "PT20M", null))));
			scheduler.setClock(Clock.fixed(from.plusMillis(millis), ZoneOffset.UTC));
			call.get().run();
			assertThat(intervals).containsExactly(Duration.ofMinutes(10));
			assertThat(times).startsWith(from);
		}
		finally {
			scheduler.shutdown();
		}
	}

	@Test
	void planIsThatOfAllThatTheInnermostScheduledCallCalls() {
		PlannedTime.run(Instant.EPOCH, () -> {
			assertThat(this.method.plannedFor()).isEqualTo(Instant.EPOCH);
			PlannedTime.run(TIME, () -> assertThat(this.method.plannedFor()).isEqualTo(TIME));
			assertThat(this.method.plannedFor()).isEqualTo(Instant.EPOCH);
		});
		assertThat(this.method.plannedFor()).isNull();
	}

	private static Runnable method(Runnable work) {
		return new ScheduledMethodRunnable(work, ClassUtils.getMethod(Runnable.class, "run"));
	}

	private void arrive(Instant time) {
		this.arrivals.add(new Arrival(this.method.plannedFor(), time));
	}

	private Arrival next() throws InterruptedException {
		Arrival arrival = this.arrivals.poll(10, TimeUnit.SECONDS);
		assertThat(arrival).isNotNull();
		assertThat(arrival.planned()).isNotNull();
		return arrival;
	}

	/**
	 * Schedule something for each second, and have the clock jump to a little before that
	 * as soon as it is planned.
	 */
	private ScheduledTasks schedule(TaskScheduler scheduler, Duration before) {
		CronTrigger cron = new CronTrigger("* * * * * *", ZoneOffset.UTC);
		ScheduledTaskRegistrar registrar = new ScheduledTaskRegistrar();
		registrar.setTaskScheduler(scheduler);
		PlannedTimeScheduler.configurer((method, type) -> null, () -> null).configureTasks(registrar);
		registrar.addTriggerTask(() -> arrive(this.clock.instant()), (context) -> {
			Instant time = cron.nextExecution(context);
			this.clock.jump(Duration.between(this.clock.instant(), time.minus(before)));
			this.plans.add(time);
			return time;
		});
		registrar.afterPropertiesSet();
		return registrar::destroy;
	}

	private interface ScheduledTasks extends AutoCloseable {

		@Override
		void close();

	}

	private interface GuardedMethod {

		@Nullable Instant plannedFor();

	}

	private record Arrival(@Nullable Instant planned, Instant time) {

	}

	/**
	 * Plans and calls when it is told to.
	 */
	private final class HandScheduler extends ThreadPoolTaskScheduler {

		private final Deque<Instant> times = new ArrayDeque<>();

		private @Nullable Runnable task;

		private @Nullable Trigger trigger;

		private HandScheduler() {
			ScheduledTaskRegistrar registrar = new ScheduledTaskRegistrar();
			registrar.setTaskScheduler(this);
			PlannedTimeScheduler.configurer((method, type) -> null, () -> null).configureTasks(registrar);
			registrar.addTriggerTask(() -> arrive(Instant.now()), (context) -> this.times.remove());
			registrar.afterPropertiesSet();
		}

		@Override
		public @Nullable ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
			this.task = task;
			this.trigger = trigger;
			return null;
		}

		private void plan(Instant time, Clock clock) {
			this.times.add(time);
			assertThat(this.trigger).isNotNull();
			assertThat(this.trigger.nextExecution(new SimpleTriggerContext(clock))).isEqualTo(time);
		}

		private void call() {
			assertThat(this.task).isNotNull();
			this.task.run();
		}

	}

	/**
	 * A clock whose reader is not let run for a while after it has looked.
	 */
	private static final class PausingClock extends Clock {

		private final Instant time;

		private final Duration pause;

		private PausingClock(Instant time, Duration pause) {
			this.time = time;
			this.pause = pause;
		}

		@Override
		public Instant instant() {
			long end = System.nanoTime() + this.pause.toNanos();
			while (System.nanoTime() < end) {
				Thread.onSpinWait();
			}
			return this.time;
		}

		@Override
		public ZoneId getZone() {
			return ZoneOffset.UTC;
		}

		@Override
		public Clock withZone(ZoneId zone) {
			return this;
		}

	}

	private static class JumpingClock extends Clock {

		private Duration shift = Duration.ZERO;

		private synchronized void jump(Duration time) {
			this.shift = this.shift.plus(time);
		}

		@Override
		public synchronized Instant instant() {
			return Instant.now().plus(this.shift);
		}

		@Override
		public ZoneId getZone() {
			return ZoneOffset.UTC;
		}

		@Override
		public Clock withZone(ZoneId zone) {
			return this;
		}

	}

}
