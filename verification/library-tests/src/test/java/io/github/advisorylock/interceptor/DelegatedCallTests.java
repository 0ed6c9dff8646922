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
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.support.RequestDetail.Interval;
import io.github.advisorylock.support.RequestDetail.Interval.Counted;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.aopalliance.intercept.MethodInterceptor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Lazy;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link PlannedTime}: which of the guarded calls that a scheduled call makes
 * have its plan, with one instance after the other.
 */
@ExtendWith(OutputCaptureExtension.class)
class DelegatedCallTests {

	private static final Instant TICK = Instant.now().truncatedTo(ChronoUnit.DAYS);

	private static final Interval DAY = new Interval(Duration.ofDays(1), Counted.FROM_BEGIN);

	private final ApplicationContextRunner runner = LockContextRunner.create().withBean(Services.class);

	@AfterEach
	void awaitEndOfLocks() {
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	static Stream<Consumer<Services>> orders() {
		return Stream.of((services) -> {
			services.first();
			services.session();
			services.keyed("a");
			services.keyed("b");
		}, (services) -> {
			services.keyed("b");
			services.session();
			services.first();
			services.keyed("a");
		});
	}

	@ParameterizedTest
	@MethodSource("orders")
	void eachKeyIsOncePerTickInWhateverOrder(Consumer<Services> scheduled) {
		inTwoInstances((one, two) -> {
			PlannedTime.run(TICK, () -> scheduled.accept(one));
			PlannedTime.run(TICK, () -> scheduled.accept(two));
			assertThat(one.runs()).hasSize(4).allMatch((run) -> run.endsWith("@" + TICK));
			assertThat(two.runs()).isEmpty();
			PlannedTime.run(TICK.minusSeconds(1), () -> scheduled.accept(two));
			assertThat(two.runs()).hasSize(4).allMatch((run) -> run.endsWith("@" + TICK.minusSeconds(1)));
		});
	}

	@ParameterizedTest
	@MethodSource("orders")
	void eachKeyIsOncePerIntervalInWhateverOrder(Consumer<Services> scheduled) {
		inTwoInstances((one, two) -> {
			PlannedTime.run(DAY, () -> scheduled.accept(one));
			PlannedTime.run(DAY, () -> scheduled.accept(two));
			assertThat(one.runs()).hasSize(4);
			assertThat(two.runs()).isEmpty();
		});
	}

	@Test
	void callAfterAGoodEndHasNoPlanAndIsToldOnce(CapturedOutput output) {
		this.runner.run((context) -> {
			Services services = context.getBean(Services.class);
			PlannedTime.run(TICK, () -> {
				services.first();
				services.keyed("a");
				services.first();
				services.first();
			});
			assertThat(services.runs()).containsExactly("first@" + TICK, "a@" + TICK, "first@", "first@");
			assertThat(StringUtils.countOccurrencesOf(output.getOut(), "again after a run that came to a good end"))
				.isEqualTo(1);
			assertThat(output).contains("method 'Services.first' (key 'first') again")
				.doesNotContain("for no planned time");
		});
	}

	@Test
	void callAfterAGoodEndIsSkippedWhereAnotherInstanceHadThePlan() {
		inTwoInstances((one, two) -> {
			for (Services services : List.of(one, two)) {
				PlannedTime.run(TICK, () -> {
					services.first();
					services.first();
				});
			}
			assertThat(one.runs()).containsExactly("first@" + TICK, "first@");
			assertThat(two.runs()).isEmpty();
		});
	}

	@Test
	void failedRunIsTriedAgainWithThePlan(CapturedOutput output) {
		inTwoInstances((one, two) -> {
			PlannedTime.run(TICK, () -> {
				assertThatIllegalStateException().isThrownBy(one::failing).withMessage("once");
				one.failing();
			});
			PlannedTime.run(TICK, two::failing);
			assertThat(one.runs()).containsExactly("failing@" + TICK, "failing@" + TICK);
			assertThat(two.runs()).isEmpty();
		});
		assertThat(output).doesNotContain("again after a run that came to a good end");
	}

	@Test
	void whatACallersTransactionUndoesIsTriedAgainWithThePlan() {
		this.runner.run((context) -> {
			Services services = context.getBean(Services.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			PlannedTime.run(TICK, () -> {
				transaction.executeWithoutResult((status) -> {
					services.first();
					services.session();
					status.setRollbackOnly();
				});
				transaction.executeWithoutResult((status) -> {
					services.first();
					services.session();
				});
				services.session();
			});
			assertThat(services.runs()).containsExactly("first@" + TICK, "session@" + TICK, "first@" + TICK,
					"session@" + TICK, "session@");
		});
	}

	@Test
	void callsInsideARunThatHasThePlanHaveNone() {
		this.runner.run((context) -> {
			Services services = context.getBean(Services.class);
			PlannedTime.run(TICK, () -> {
				services.outer();
				services.first();
			});
			assertThat(services.runs()).containsExactly("outer@" + TICK, "first@", "first@" + TICK);
		});
	}

	@Test
	void callsInsideARunWithoutPlanHaveIt() {
		inTwoInstances((one, two) -> {
			PlannedTime.run(TICK, one::outerWithoutPlan);
			PlannedTime.run(TICK, two::outerWithoutPlan);
			assertThat(one.runs()).containsExactly("without@", "first@" + TICK);
			assertThat(two.runs()).containsExactly("without@");
		});
	}

	@Test
	void callByHandInNoScheduledCallHasNoPlan() {
		this.runner.run((context) -> {
			Services services = context.getBean(Services.class);
			services.keyed("a");
			services.keyed("a");
			assertThat(services.runs()).containsExactly("a@", "a@");
			assertThat(TestPostgres.locks()).isEmpty();
		});
	}

	@Test
	void ofManyKeysAHundredAreRememberedAndTheOthersAreToldOnce(CapturedOutput output) {
		this.runner.run((context) -> {
			Services services = context.getBean(Services.class);
			PlannedTime.run(TICK, () -> IntStream.range(0, 150).forEach((i) -> services.keyed("tenant-" + i)));
			assertThat(services.runs()).hasSize(150);
			assertThat(TestPostgres.locks()).hasSize(100);
			PlannedTime.run(TICK, () -> IntStream.range(0, 150).forEach((i) -> services.keyed("tenant-" + i)));
			assertThat(services.runs()).hasSize(200);
			assertThat(
					StringUtils.countOccurrencesOf(output.getOut(), "when it had called guarded methods for 100 keys"))
				.isEqualTo(1);
		});
	}

	@Test
	void keyThatHadThePlanBeforeAHundredOthersIsTriedAgainWithIt() {
		this.runner.run((context) -> {
			Services services = context.getBean(Services.class);
			PlannedTime.run(TICK, () -> {
				assertThatIllegalStateException().isThrownBy(services::failing).withMessage("once");
				IntStream.range(0, 100).forEach((i) -> services.keyed("tenant-" + i));
				services.failing();
			});
			assertThat(services.runs()).hasSize(102).endsWith("failing@" + TICK);
		});
	}

	@Test
	void threadThatWorkWasHandedToHasNoPlanAfterThat() {
		ExecutorService pool = Executors.newSingleThreadExecutor();
		MethodInterceptor carrier = PlannedTime.carrier();
		MethodInterceptor async = (invocation) -> pool.submit(() -> {
			try {
				return invocation.proceed();
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		}).get();
		this.runner.run((context) -> {
			Services services = context.getBean(Services.class);
			ProxyFactory handing = new ProxyFactory(Runnable.class, (MethodInterceptor) (invocation) -> {
				services.first();
				return null;
			});
			handing.addAdvice(0, carrier);
			handing.addAdvice(1, async);
			handing.addAdvice(2, carrier);
			PlannedTime.run(TICK, (Runnable) handing.getProxy());
			pool.submit(() -> services.keyed("a")).get();
			assertThat(services.runs()).containsExactly("first@" + TICK, "a@");
		});
		pool.shutdown();
	}

	/**
	 * Two instances whose clocks are an hour apart, so that one takes the second 2:30 of
	 * the night for the same time as the other the first.
	 */
	@Test
	void fixedHourThatComesTwiceIsOneTick() {
		inTwoInstances((one, two) -> {
			callAt("2026-10-25T00:29:59.8Z", one);
			callAt("2026-10-25T01:29:59.8Z", two);
			assertThat(one.runs()).containsExactly("first@2026-10-25T00:30:00Z", "end@");
			assertThat(two.runs()).containsExactly("end@");
		});
	}

	private static void callAt(String time, Services services) {
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setClock(Clock.fixed(Instant.parse(time), ZoneOffset.UTC));
		scheduler.initialize();
		ScheduledTaskRegistrar registrar = new ScheduledTaskRegistrar();
		registrar.setTaskScheduler(scheduler);
		PlannedTimeScheduler.configurer((method, type) -> null, () -> null).configureTasks(registrar);
		registrar.addTriggerTask(() -> {
			services.first();
			services.end();
		}, new CronTrigger("0 30 2 * * *", ZoneId.of("Europe/Berlin")));
		registrar.afterPropertiesSet();
		try {
			Awaitility.await().until(() -> services.runs().contains("end@"));
		}
		finally {
			registrar.destroy();
			scheduler.shutdown();
		}
	}

	private void inTwoInstances(Instances test) {
		this.runner.run((one) -> this.runner
			.run((two) -> test.accept(one.getBean(Services.class), two.getBean(Services.class))));
	}

	@FunctionalInterface
	interface Instances {

		void accept(Services one, Services two);

	}

	static class Services {

		private final Queue<String> runs = new ConcurrentLinkedQueue<>();

		private final Services self;

		Services(@Lazy Services self) {
			this.self = self;
		}

		List<String> runs() {
			return new ArrayList<>(this.runs);
		}

		private void run(String name) {
			this.runs
				.add(name + "@" + LockContext.current().flatMap(LockContext::tick).map(Instant::toString).orElse(""));
		}

		@SingleRunner("first")
		void first() {
			run("first");
		}

		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void session() {
			run("session");
		}

		@SingleRunner("keyed:#{#name}")
		void keyed(String name) {
			run(name);
		}

		@SingleRunner("failing")
		void failing() {
			run("failing");
			if (this.runs.size() == 1) {
				throw new IllegalStateException("once");
			}
		}

		@SingleRunner("outer")
		void outer() {
			run("outer");
			this.self.first();
		}

		@SingleRunner(key = "without", once = Once.NONE)
		void outerWithoutPlan() {
			run("without");
			this.self.first();
		}

		void end() {
			this.runs.add("end@");
		}

	}

}
