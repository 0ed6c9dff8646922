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

package io.github.advisorylock.test;

import java.time.Duration;

import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.test.fleet.FleetApplication;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.stereotype.Component;
import org.springframework.test.context.ContextConfiguration;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for guarded methods that other methods call, in a {@link FleetTest}.
 */
@FleetTest(FleetCallTests.Caller.class)
@ContextConfiguration(classes = FleetApplication.class)
@Import({ FleetCallTests.Caller.class, FleetCallTests.Called.class, FleetCallTests.OwnConfiguration.class })
class FleetCallTests {

	@Autowired
	private Called called;

	@Test
	void methodThatIsCalledRunsOncePerTick(Fleet fleet) {
		fleet.advanceBy(Duration.ofDays(3));
		assertThatLock("direct").hasRunOncePerTick().hasRun(3);
	}

	@Test
	void tickForWhichACallFailedIsMissed(Fleet fleet) {
		fleet.advanceBy(Duration.ofDays(1));
		fleet.databaseDown();
		fleet.advanceBy(Duration.ofDays(1));
		fleet.databaseUp();
		fleet.advanceBy(Duration.ofDays(1));
		assertThatLock("direct").hasMissed("2026-01-02T03:00:00Z");
	}

	@Test
	void rateThatBeginsLateRunsOncePerInterval(Fleet fleet) {
		fleet.advanceBy(Duration.ofHours(3));
		assertThatLock("late").hasRunOncePerInterval().hasRun(13);
	}

	@Test
	void schedulerOfTheApplicationIsNotUsed(Fleet fleet) {
		fleet.advanceBy(Duration.ofDays(1));
		assertThat(fleet.bean(0, OwnConfiguration.class).calls).isEqualTo(25);
	}

	@Test
	void asynchronousRunLastsInVirtualTime(Fleet fleet) {
		fleet.takes("asynchronous", Duration.ofMinutes(20));
		fleet.advanceTo("2026-01-01T03:10:00Z");
		fleet.kill(fleet.runnerOf("asynchronous"));
		fleet.advanceTo("2026-01-02T03:30:00Z");
		assertThatLock("asynchronous").hasMissed("2026-01-01T03:00:00Z").hasRun(1);
	}

	@Test
	void resultIsKeptForAllInstances(Fleet fleet) {
		Receipt first = fleet.bean(0, Called.class).pay("4711");
		fleet.kill(0);
		assertThat(fleet.bean(1, Called.class).pay("4711")).isEqualTo(first).isNotSameAs(first);
	}

	@Test
	void callOfTheTestItselfIsToldAsSuch() {
		this.called.pay("4711");
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThatLock("payment:4711").hasRunOncePerTick())
			.withMessageContaining("the test | 2026-01-01T00:00:00Z DONE");
	}

	/**
	 * Calls guarded methods, and has none.
	 */
	@Component
	static class Caller {

		private final Called called;

		Caller(Called called) {
			this.called = called;
		}

		@Scheduled(cron = "0 0 3 * * *", zone = "UTC")
		void call() {
			this.called.inTheBackground();
			this.called.direct();
		}

	}

	/**
	 * Has guarded methods, most of which are not scheduled.
	 */
	@Component
	static class Called {

		@Scheduled(fixedRateString = "PT10M", initialDelayString = "PT1H")
		@SingleRunner("late")
		void late() {
		}

		@SingleRunner("direct")
		void direct() {
		}

		@Async
		@SingleRunner("asynchronous")
		void inTheBackground() {
		}

		@SingleRunner(key = "payment:#{#id}", once = Once.PER_KEY, keepResult = true)
		Receipt pay(String id) {
			return new Receipt(id);
		}

	}

	/**
	 * What is kept.
	 *
	 * @param id of the payment
	 */
	record Receipt(String id) {

	}

	/**
	 * As applications have it.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class OwnConfiguration implements SchedulingConfigurer {

		private int calls;

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			registrar.setScheduler(new ThreadPoolTaskScheduler());
			registrar.addFixedRateTask(() -> this.calls++, Duration.ofHours(1));
		}

	}

}
