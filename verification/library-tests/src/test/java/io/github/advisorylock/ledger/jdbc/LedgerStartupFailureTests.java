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

import java.time.Duration;
import java.util.stream.Stream;

import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.WhenBusy;
import io.github.advisorylock.interceptor.LedgerOperation;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LedgerOperation}: what a developer reads when a method asks the ledger
 * for something that can't be had, and what properties override.
 */
@Tag("gate")
class LedgerStartupFailureTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withUserConfiguration(Scheduling.class)
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=startup_tests_", "long-key=" + "k".repeat(513),
				"long-namespace=" + "n".repeat(256), "many-bytes=" + "\uD83D\uDD12".repeat(512),
				"more-bytes=" + "\u20ac".repeat(171));

	@ParameterizedTest(name = "{0}")
	@MethodSource
	void failureNamesBeanMethodAttributeAndWhatToChange(Class<?> type, String problem, String action) {
		assertFailure(this.runner.withBean("jobs", type), type, problem, action);
	}

	static Stream<Arguments> failureNamesBeanMethodAttributeAndWhatToChange() {
		String noCron = "attribute 'once' is PER_TICK, and the method does not have exactly one cron schedule";
		return Stream.of(Arguments.of(TickWithoutSchedule.class, noCron, "Put one @Scheduled with 'cron'"),
				Arguments.of(TickWithDelay.class, noCron, "set 'once' to NONE"),
				Arguments.of(TickWithTwoCrons.class, noCron, "Put one @Scheduled with 'cron'"),
				Arguments.of(TickWithBadCron.class, "attribute 'once' is PER_TICK, and the schedule",
						"Correct 'cron' and 'zone' of @Scheduled"),
				Arguments.of(TickWithBadZone.class, "Mars/Olympus", "Correct 'cron' and 'zone' of @Scheduled"),
				Arguments.of(TickWithArgument.class,
						"attribute 'once' must not be PER_TICK with an expression in 'key' or 'namespace'",
						"without '#{...}'"),
				Arguments.of(ZeroInterval.class, "attribute 'minInterval' is no duration of more than zero: '0s'",
						"\"5s\" or \"PT5S\""),
				Arguments.of(NegativeInterval.class, "attribute 'minInterval' is no duration of more than zero: '-5s'",
						"\"5s\" or \"PT5S\""),
				Arguments.of(BadInterval.class, "attribute 'minInterval' is no duration of more than zero: 'often'",
						"\"5s\" or \"PT5S\""),
				Arguments.of(MissingInterval.class, "attribute 'minInterval' can't be resolved", "Set the property"),
				Arguments.of(ZeroCatchUp.class, "attribute 'catchUp' is no duration of more than zero: '0s'",
						"\"5s\" or \"PT5S\""),
				Arguments.of(CatchUpWithoutTick.class, "attribute 'catchUp' needs attribute 'once' to be PER_TICK",
						"Set 'once' to PER_TICK, or remove 'catchUp'. Where a @Scheduled method calls this one, that is the method"),
				Arguments.of(CatchUpOfKey.class, "attribute 'catchUp' needs attribute 'once' to be PER_TICK",
						"Set 'once' to PER_TICK, or remove 'catchUp'"),
				Arguments.of(RetriesWithoutCatchUp.class, "attribute 'maxRetries' needs attribute 'catchUp'",
						"Set 'catchUp', or remove 'maxRetries'"),
				Arguments.of(RetriesOfPlainMethod.class, "attribute 'maxRetries' needs attribute 'catchUp'",
						"Set 'catchUp', or remove 'maxRetries'. Where a @Scheduled method calls this one"),
				Arguments.of(NegativeRetries.class, "attribute 'maxRetries' is less than zero: -1",
						"how often a tick that failed is tried again"),
				Arguments.of(ScheduledKey.class,
						"attribute 'once' is PER_KEY on a @Scheduled method, whose key is always the same",
						"Set 'once' to PER_TICK"),
				Arguments.of(SharedKey.class, "attribute 'once' must not be set together with 'allowSharedKey'",
						"a key of its own"),
				Arguments.of(SharedKeyWithInterval.class,
						"attribute 'minInterval' must not be set together with 'allowSharedKey'", "a key of its own"),
				Arguments.of(PermitsPerTick.class, "attribute 'once' must not be set together with 'permits'",
						"Remove 'permits'"),
				Arguments.of(PermitsPerKey.class, "attribute 'once' must not be set together with 'permits'",
						"Remove 'permits'"),
				Arguments.of(PermitsWithInterval.class,
						"attribute 'minInterval' must not be set together with 'permits'", "Remove 'permits'"),
				Arguments.of(PrimitiveReturn.class, "the primitive type 'int' with attribute 'whenBusy' set to SKIP",
						"Optional or a LockResult"),
				Arguments.of(PrimitiveThatFails.class,
						"the primitive type 'boolean' with attribute 'once' or 'minInterval'",
						"Optional or a LockResult"),
				Arguments.of(ReadOnly.class, "attribute 'readOnly' of its @Transactional",
						"Remove 'readOnly', or set 'scope' to SESSION"),
				Arguments.of(LongKey.class, "attribute 'key' has 513 characters, and the ledger has room for 512",
						"Shorten the key"),
				Arguments.of(LongNamespace.class,
						"attribute 'namespace' has 256 characters, and the ledger has room for 255",
						"Shorten the key or its namespace"),
				Arguments.of(KeyOfManyBytes.class,
						"attribute 'key' and its namespace have 2561 bytes in UTF-8, and the ledger has room for 2560",
						"Shorten the key or its namespace"));
	}

	@ParameterizedTest
	@ValueSource(classes = { Tick.class, OncePerKey.class, Interval.class })
	void attributeIsRefusedWhenLedgerIsSwitchedOff(Class<?> type) {
		assertFailure(this.runner.withBean("jobs", type).withPropertyValues("advisory-lock.ledger.enabled=false"), type,
				"needs the ledger, which is switched off", "Remove 'advisory-lock.ledger.enabled'");
	}

	@Test
	void overrideIsRefusedWhenLedgerIsSwitchedOff() {
		assertFailure(
				this.runner.withBean("jobs", Plain.class)
					.withPropertyValues("advisory-lock.ledger.enabled=false", "advisory-lock.jobs.job.min-interval=5s"),
				Plain.class,
				"attribute 'minInterval' is set by 'advisory-lock.jobs.<key>.min-interval' and needs the ledger",
				"Remove 'advisory-lock.ledger.enabled'");
	}

	@ParameterizedTest
	@MethodSource
	void numberThatDoesNotFitTheAnnotationIsNamed(Class<?> type, String property, String problem) {
		assertFailure(this.runner.withBean("jobs", type).withPropertyValues("advisory-lock.jobs.job." + property), type,
				problem, "emove ");
	}

	static Stream<Arguments> numberThatDoesNotFitTheAnnotationIsNamed() {
		String permits = " must not be set together with 'permits', which 'advisory-lock.jobs.<key>.permits' sets";
		return Stream.of(Arguments.of(Tick.class, "permits=2", "attribute 'once'" + permits),
				Arguments.of(OncePerKey.class, "permits=64", "attribute 'once'" + permits),
				Arguments.of(Interval.class, "permits=2", "attribute 'minInterval'" + permits),
				Arguments.of(PerTick.class, "max-retries=1",
						"attribute 'maxRetries' is set by 'advisory-lock.jobs.<key>.max-retries' and needs attribute "
								+ "'catchUp'"),
				Arguments.of(Plain.class, "max-retries=1",
						"attribute 'maxRetries' is set by 'advisory-lock.jobs.<key>.max-retries' and needs attribute "
								+ "'catchUp'"));
	}

	@Test
	void numbersThatMakeAnAnnotationFitAreTaken() {
		this.runner.withBean("jobs", PermitsPerTick.class)
			.withPropertyValues("advisory-lock.jobs.job.permits=1", "advisory-lock.jobs.job.catch-up=1h",
					"advisory-lock.jobs.job.max-retries=2")
			.run((context) -> assertThat(context.getBean(SingleRunnerAnnotationBeanPostProcessor.class).getMethods())
				.singleElement()
				.satisfies((method) -> {
					assertThat(method.operation().permits()).isOne();
					assertThat(method.operation().ledger().maxRetries()).isEqualTo(2);
				}));
		this.runner.withBean("jobs", RetriesWithoutCatchUp.class)
			.withPropertyValues("advisory-lock.jobs.job.max-retries=0")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void overrideThatDoesNotFitTheAnnotationIsNamed() {
		assertFailure(
				this.runner.withBean("jobs", Plain.class).withPropertyValues("advisory-lock.jobs.job.catch-up=1h"),
				Plain.class,
				"attribute 'catchUp' is set by 'advisory-lock.jobs.<key>.catch-up' and needs attribute 'once' to be "
						+ "PER_TICK",
				"or remove 'catchUp'");
	}

	@ParameterizedTest
	@CsvSource({ "ledger.remember-keys, 0s, more than zero", "ledger.keep-runs.count, 0, At least one run",
			"ledger.keep-runs.age, -1d, more than zero", "ledger.table-prefix, a;b, letters",
			"ledger.table-prefix, '', letters", "jobs.job.min-interval, -1s, more than zero",
			"jobs.job.catch-up, 0s, more than zero", "ledger.initialize-schema, perhaps, DatabaseInitializationMode" })
	void wrongValueIsToldByFullNameOfProperty(String property, String value, String reason) {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(this.runner.withBean("jobs", Plain.class)
			.withPropertyValues("advisory-lock." + property + "=" + value));
		assertThat(analysis.getDescription()).contains("advisory-lock." + property, value);
		assertThat(analysis.getDescription() + analysis.getAction()).contains(reason);
	}

	@Test
	void propertiesOverrideIntervalAndCatchUp() {
		this.runner.withBean("jobs", Tick.class)
			.withPropertyValues("advisory-lock.jobs.job.min-interval=10s", "advisory-lock.jobs.job.catch-up=2h")
			.run((context) -> {
				LedgerOperation ledger = context.getBean(SingleRunnerAnnotationBeanPostProcessor.class)
					.getMethods()
					.get(0)
					.operation()
					.ledger();
				assertThat(ledger.minInterval()).isEqualTo(Duration.ofSeconds(10));
				assertThat(ledger.catchUp()).isEqualTo(Duration.ofHours(2));
			});
	}

	@ParameterizedTest
	@ValueSource(classes = { Tick.class, TickSwitchedOff.class, OncePerKey.class, Interval.class })
	void whatOnlyLooksWrongStarts(Class<?> type) {
		this.runner.withBean("jobs", type).run((context) -> assertThat(context).hasNotFailed());
	}

	private static void assertFailure(ApplicationContextRunner runner, Class<?> type, String problem, String action) {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(runner);
		assertThat(analysis.getDescription()).contains("on bean 'jobs'", "method 'run'", type.getName(), "attribute '")
			.contains(problem)
			.endsWith(".");
		assertThat(analysis.getAction()).contains(action).endsWith(".");
		assertThat(analysis.getCause()).isInstanceOf(InvalidSingleRunnerException.class);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

	}

	static class Plain {

		@SingleRunner("job")
		void run() {
		}

	}

	static class Tick {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRunner(key = "job", once = Once.PER_TICK, catchUp = "1h")
		void run() {
		}

	}

	static class TickSwitchedOff {

		@Scheduled(cron = "-")
		@SingleRunner(key = "job", once = Once.PER_TICK)
		void run() {
		}

	}

	static class OncePerKey {

		@SingleRunner(key = "job", once = Once.PER_KEY)
		void run() {
		}

	}

	static class Interval {

		@SingleRunner(key = "job", minInterval = "5s")
		void run() {
		}

	}

	static class PerTick {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRunner(key = "job", once = Once.PER_TICK)
		void run() {
		}

	}

	static class TickWithoutSchedule {

		@SingleRunner(key = "job", once = Once.PER_TICK)
		void run() {
		}

	}

	static class TickWithDelay {

		@Scheduled(fixedDelay = 100000)
		@SingleRunner(key = "job", once = Once.PER_TICK)
		void run() {
		}

	}

	static class TickWithTwoCrons {

		@Scheduled(cron = "0 0 0 1 1 *")
		@Scheduled(cron = "0 0 0 2 1 *")
		@SingleRunner(key = "job", once = Once.PER_TICK)
		void run() {
		}

	}

	static class TickWithBadCron {

		@Scheduled(cron = "0 0 25 1 1 *")
		@SingleRunner(key = "job", once = Once.PER_TICK)
		void run() {
		}

	}

	static class TickWithBadZone {

		@Scheduled(cron = "0 0 0 1 1 *", zone = "Mars/Olympus")
		@SingleRunner(key = "job", once = Once.PER_TICK)
		void run() {
		}

	}

	static class ZeroInterval {

		@SingleRunner(key = "job", minInterval = "0s")
		void run() {
		}

	}

	static class NegativeInterval {

		@SingleRunner(key = "job", minInterval = "-5s")
		void run() {
		}

	}

	static class BadInterval {

		@SingleRunner(key = "job", minInterval = "often")
		void run() {
		}

	}

	static class MissingInterval {

		@SingleRunner(key = "job", minInterval = "${missing}")
		void run() {
		}

	}

	static class ZeroCatchUp {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRunner(key = "job", once = Once.PER_TICK, catchUp = "0s")
		void run() {
		}

	}

	static class CatchUpWithoutTick {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRunner(key = "job", catchUp = "1h")
		void run() {
		}

	}

	static class CatchUpOfKey {

		@SingleRunner(key = "job", once = Once.PER_KEY, catchUp = "1h")
		void run() {
		}

	}

	static class RetriesWithoutCatchUp {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRunner(key = "job", once = Once.PER_TICK, maxRetries = 1)
		void run() {
		}

	}

	static class RetriesOfPlainMethod {

		@SingleRunner(key = "job", maxRetries = 1)
		void run() {
		}

	}

	static class NegativeRetries {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRunner(key = "job", once = Once.PER_TICK, catchUp = "1h", maxRetries = -1)
		void run() {
		}

	}

	static class ScheduledKey {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRunner(key = "job", once = Once.PER_KEY)
		void run() {
		}

	}

	static class SharedKey {

		@SingleRunner(key = "job", once = Once.PER_KEY, allowSharedKey = true)
		void run() {
		}

	}

	static class PermitsPerTick {

		@Scheduled(cron = "0 0 3 * * *")
		@SingleRunner(key = "job", once = Once.PER_TICK, permits = 2)
		void run() {
		}

	}

	static class PermitsPerKey {

		@SingleRunner(key = "job", once = Once.PER_KEY, permits = 2)
		void run() {
		}

	}

	static class PermitsWithInterval {

		@SingleRunner(key = "job", minInterval = "5s", permits = 2)
		void run() {
		}

	}

	static class SharedKeyWithInterval {

		@SingleRunner(key = "job", minInterval = "5s", allowSharedKey = true)
		void run() {
		}

	}

	static class ReadOnly {

		@Transactional(readOnly = true)
		@SingleRunner(key = "job", once = Once.PER_KEY)
		void run() {
		}

	}

	static class LongKey {

		@SingleRunner(key = "${long-key}", once = Once.PER_KEY)
		void run() {
		}

	}

	static class LongNamespace {

		@SingleRunner(key = "job", namespace = "${long-namespace}", once = Once.PER_KEY)
		void run() {
		}

	}

	static class KeyOfManyBytes {

		@SingleRunner(key = "${many-bytes}", namespace = "${more-bytes}", once = Once.PER_KEY)
		void run() {
		}

	}

	static class TickWithArgument {

		@SingleRunner(key = "job:#{#id}", once = Once.PER_TICK)
		void run(String id) {
		}

	}

	static class PrimitiveReturn {

		@SingleRunner(key = "job", once = Once.PER_KEY)
		int run() {
			return 1;
		}

	}

	static class PrimitiveThatFails {

		@SingleRunner(key = "job", once = Once.PER_KEY, whenBusy = WhenBusy.FAIL)
		boolean run() {
			return true;
		}

	}

}
