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

package io.github.advisorylock.autoconfigure;

import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.integration.AdvisoryLockIntegrationAutoConfiguration;
import io.github.advisorylock.shedlock.AdvisoryLockShedLockAutoConfiguration;
import io.github.advisorylock.testsupport.FreePort;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.LockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the doctor in applications that use locks without a method of ours.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("gate")
class LockUseTests {

	private static final String READY = "Advisory locks are ready in ";

	private static final String[] NO_TABLES = { "advisory-lock.ledger.table-prefix=lock_use_none_",
			"advisory-lock.ledger.initialize-schema=never" };

	@ParameterizedTest
	@EnumSource
	void loginThatIsRefusedStopsTheStart(Use use) {
		String failure = DoctorContexts.failureOf(use.of(application(nowhere())));
		assertThat(failure).contains("\"nowhere\" does not exist", "spring.datasource.url",
				"advisory-lock.doctor.session-login");
	}

	@ParameterizedTest
	@EnumSource
	void healthyDatabaseIsOneLine(Use use, CapturedOutput output) {
		use.of(application(TestPostgres.url())).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains(READY + use.scopes + ": PostgreSQL").doesNotContain("WARN");
		});
	}

	@ParameterizedTest
	@EnumSource
	void databaseThatIsNotThereIsAWarning(Use use, CapturedOutput output) {
		use.of(application("jdbc:postgresql://127.0.0.1:" + FreePort.find() + "/nobody")).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("WARN", "can't be examined", "advisory-lock.doctor.unreachable");
		});
	}

	@Test
	void applicationThatUsesNoneOfTheBridgesIsNotLookedAt(CapturedOutput output) {
		application("jdbc:postgresql://127.0.0.1:" + FreePort.find() + "/nobody")
			.withUserConfiguration(Configured.class)
			.run((context) -> {
				assertThat(context).hasNotFailed().hasSingleBean(LockProvider.class).hasSingleBean(LockRegistry.class);
				assertThat(output).doesNotContain("LockDoctor", "WARN");
			});
	}

	@Test
	void methodOfShedLockThatNothingGuardsIsNamed(CapturedOutput output) {
		application(TestPostgres.url()).withBean("billing", Billing.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output.getOut().lines().filter((line) -> line.contains("WARN"))).singleElement()
				.asString()
				.contains("Method 'pay' of class '" + Billing.class.getName() + "' on bean 'billing'",
						"@EnableSchedulerLock", "advisory-lock.doctor.scheduler-lock");
		});
	}

	@Test
	void methodOfShedLockThatNothingGuardsStopsTheStartWhereAskedTo() {
		assertThat(DoctorContexts.failureOf(application(TestPostgres.url()).withBean("billing", Billing.class)
			.withPropertyValues("advisory-lock.doctor.scheduler-lock=fail"))).contains("'pay'", "'billing'");
	}

	@Test
	void methodThatSomethingElseGuardsIsNotNamed(CapturedOutput output) {
		application(TestPostgres.url()).withUserConfiguration(Annotated.class)
			.run(LockContextRunner.started(() -> assertThat(output).doesNotContain("scheduler-lock")));
		application(TestPostgres.url()).withBean(Both.class)
			.run(LockContextRunner.started(() -> assertThat(output).doesNotContain("scheduler-lock")));
	}

	@Test
	void timeOfALockWhoseNameDependsOnArgumentsIsKnownAtTheStart() {
		application(TestPostgres.url()).withUserConfiguration(Ordered.class)
			.withPropertyValues(NO_TABLES)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(AdvisoryLockConfigurationException.class)
				.hasMessageContaining("lock_use_none_job"));
		application(TestPostgres.url()).withUserConfiguration(OrderedForNoTime.class)
			.withPropertyValues(NO_TABLES)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void locksOfShedLockInCodeAreToldWithoutTablesAtTheStart(CapturedOutput output) {
		Use.PROVIDER.of(application(TestPostgres.url())).withPropertyValues(NO_TABLES).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce("holds only as long as this instance lives")
				.contains("advisory-lock.ledger.initialize-schema");
		});
	}

	private static ApplicationContextRunner application(String url) {
		return DoctorContexts.create(url)
			.withConfiguration(AutoConfigurations.of(AdvisoryLockLedgerAutoConfiguration.class,
					AdvisoryLockShedLockAutoConfiguration.class, AdvisoryLockIntegrationAutoConfiguration.class))
			.withPropertyValues("spring.datasource.hikari.connection-timeout=1000",
					"advisory-lock.ledger.instances=false", "advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.table-prefix=lock_use_");
	}

	private static String nowhere() {
		return Pattern.compile("(//[^/]+/)[^?]*").matcher(TestPostgres.url()).replaceFirst("$1nowhere");
	}

	/**
	 * Ways to use locks.
	 */
	enum Use {

		OPERATIONS("code", (runner) -> runner.withBean(OperationsUser.class)),

		FIELD("code", (runner) -> runner.withBean(FieldUser.class)),

		ELECTION("scope SESSION", (runner) -> runner.withBean(ElectionUser.class)),

		REGISTRY("scope SESSION", (runner) -> runner.withBean(RegistryUser.class)),

		PROVIDER("scope SESSION", (runner) -> runner.withBean(ProviderUser.class)),

		SCHEDULER_LOCK("scope SESSION", (runner) -> runner.withUserConfiguration(Annotated.class));

		private final String scopes;

		private final UnaryOperator<ApplicationContextRunner> addition;

		Use(String scopes, UnaryOperator<ApplicationContextRunner> addition) {
			this.scopes = scopes;
			this.addition = addition;
		}

		ApplicationContextRunner of(ApplicationContextRunner runner) {
			return this.addition.apply(runner);
		}

	}

	record OperationsUser(AdvisoryLockOperations locks) {

	}

	static class FieldUser {

		@Autowired
		private AdvisoryLockOperations locks;

		AdvisoryLockOperations locks() {
			return this.locks;
		}

	}

	record ElectionUser(LeaderElection election) {

	}

	record RegistryUser(LockRegistry<?> registry) {

	}

	record ProviderUser(LockProvider provider) {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	static class Configured {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	static class Annotated {

		@SchedulerLock(name = "lock-use")
		void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m", defaultLockAtLeastFor = "${test.at-least:1m}")
	static class Ordered {

		@SchedulerLock(name = "lock-use-#{#order.id}")
		void run(String order) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m", defaultLockAtLeastFor = "1m")
	static class OrderedForNoTime {

		@SchedulerLock(name = "lock-use-#{#order.id}", lockAtLeastFor = "PT0S")
		void run(String order) {
		}

	}

	static class Billing {

		@SchedulerLock(name = "lock-use-billing")
		void pay() {
		}

	}

	static class Both {

		@SingleRunner("lock-use-both")
		@SchedulerLock(name = "lock-use-both")
		void pay() {
		}

	}

}
