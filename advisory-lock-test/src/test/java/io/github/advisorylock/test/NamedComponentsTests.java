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

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.test.pay.PayApplication;
import io.github.advisorylock.test.pay.PaymentService;
import io.github.advisorylock.test.pay.Reminders;
import io.github.advisorylock.test.shop.Greeter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.FilterType;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link AdvisoryLockTest} that names what to start, in an application with a
 * guarded component that a slice can't start.
 */
@ExtendWith(OutputCaptureExtension.class)
@AdvisoryLockTest(Reminders.class)
@ContextConfiguration(classes = PayApplication.class)
class NamedComponentsTests {

	@Autowired
	private Reminders reminders;

	@Test
	void onlyWhatIsNamedIsStarted(@Autowired ObjectProvider<PaymentService> payments) {
		assertThat(this.reminders).isNotNull();
		assertThat(payments.getIfAvailable()).isNull();
	}

	@Test
	void callOfTheTestIsRefusedUnlessItDecides(@Autowired InMemoryLocks locks) {
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(this.reminders::send)
			.withMessageContaining("'minInterval'");
		locks.answer("reminders", LockOutcome.EXECUTED);
		this.reminders.send();
		assertThatLock("reminders").hasRunOnce();
	}

	@ParameterizedTest
	@ValueSource(classes = { AllComponents.class, AllOfFleet.class })
	void failureOfAComponentSaysWhyItIsThere(Class<?> test) {
		String annotation = (test == AllOfFleet.class) ? "@FleetTest" : "@AdvisoryLockTest";
		TestContext context = new TestContextManager(test).getTestContext();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(context::getApplicationContext)
			.havingCause()
			.withMessageContainingAll("paymentService",
					annotation + " starts it because it has methods with @SingleRunner",
					annotation + "(OrderCleanup.class)", "JdbcTemplate");
	}

	@ParameterizedTest
	@ValueSource(classes = { NotFound.class, NotFoundInFleet.class })
	void componentThatIsNamedAndNotFoundIsRefused(Class<?> test) {
		String annotation = (test == NotFoundInFleet.class) ? "@FleetTest" : "@AdvisoryLockTest";
		TestContext context = new TestContextManager(test).getTestContext();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(context::getApplicationContext)
			.havingCause()
			.isInstanceOf(AdvisoryLockConfigurationException.class)
			.withMessageContainingAll(annotation + " names", "no bean of it");
	}

	@ParameterizedTest
	@ValueSource(classes = { Imported.class, Mocked.class, ByAnnotation.class })
	void componentThatIsNamedMayComeFromElsewhere(Class<?> test) {
		assertThat(new TestContextManager(test).getTestContext().getApplicationContext().getBeansOfType(Greeter.class))
			.hasSize(1);
	}

	@Test
	void schedulerIsToldInOneLineWhatIsNotKnownInMemory(CapturedOutput output) throws Exception {
		new TestContextManager(Scheduled.class).getTestContext().getApplicationContext();
		await().untilAsserted(() -> assertThat(output).contains("Skipped a call by the scheduler", "'minInterval'"));
		assertThat(output).doesNotContain("ERROR", "UnsupportedOperationException");
	}

	/**
	 * A test that names nothing.
	 */
	@AdvisoryLockTest
	@ContextConfiguration(classes = PayApplication.class)
	static class AllComponents {

	}

	/**
	 * A test of a fleet that names nothing.
	 */
	@FleetTest
	@ContextConfiguration(classes = PayApplication.class)
	static class AllOfFleet {

	}

	/**
	 * A test that names a component of another application.
	 */
	@AdvisoryLockTest({ Reminders.class, Greeter.class })
	@ContextConfiguration(classes = PayApplication.class)
	static class NotFound {

	}

	/**
	 * A test of a fleet that names a component of another application.
	 */
	@FleetTest({ Reminders.class, Greeter.class })
	@ContextConfiguration(classes = PayApplication.class)
	static class NotFoundInFleet {

	}

	/**
	 * A test that names what it adds.
	 */
	@AdvisoryLockTest({ Reminders.class, Greeter.class })
	@ContextConfiguration(classes = PayApplication.class)
	@Import(Greeter.class)
	static class Imported {

	}

	/**
	 * A test that names what it mocks.
	 */
	@AdvisoryLockTest({ Reminders.class, Greeter.class })
	@ContextConfiguration(classes = PayApplication.class)
	static class Mocked {

		@MockitoBean
		private Greeter greeter;

	}

	/**
	 * A test that names an annotation of its components.
	 */
	@AdvisoryLockTest(value = Component.class,
			excludeFilters = @Filter(type = FilterType.ASSIGNABLE_TYPE, classes = PaymentService.class))
	@ContextConfiguration(classes = PayApplication.class)
	@Import(Greeter.class)
	static class ByAnnotation {

	}

	/**
	 * A test with a context of its own.
	 */
	@AdvisoryLockTest(value = Reminders.class, properties = "of=its own")
	@ContextConfiguration(classes = PayApplication.class)
	static class Scheduled {

	}

}
