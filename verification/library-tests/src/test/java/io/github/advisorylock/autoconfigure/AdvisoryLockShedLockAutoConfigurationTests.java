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

import java.util.Optional;
import java.util.regex.Pattern;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import io.github.advisorylock.shedlock.AdvisoryLockProvider;
import io.github.advisorylock.shedlock.AdvisoryLockShedLockAutoConfiguration;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.LogRecorder;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link AdvisoryLockShedLockAutoConfiguration}.
 */
@ExtendWith(OutputCaptureExtension.class)
class AdvisoryLockShedLockAutoConfigurationTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(AdvisoryLockShedLockAutoConfiguration.class))
		.withPropertyValues("advisory-lock.ledger.table-prefix=shedlock_none_");

	@Test
	void providerIsThereWhereApplicationHasNone() {
		this.runner.run((context) -> assertThat(context).hasSingleBean(AdvisoryLockProvider.class)
			.doesNotHaveBean("advisoryLockAtLeastForCheck"));
	}

	@Test
	void providerBacksOff() {
		LockProvider own = (configuration) -> Optional.empty();
		this.runner.withBean(LockProvider.class, () -> own)
			.run((context) -> assertThat(context.getBean(LockProvider.class)).isSameAs(own));
		this.runner.withPropertyValues("advisory-lock.shedlock.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(LockProvider.class));
	}

	@Test
	@Tag("slow")
	void applicationStartsWithoutJarsOfShedLock() throws Exception {
		assertThat(ReducedApplication.runWithout(Pattern.compile("shedlock")))
			.noneMatch((name) -> name.contains("ShedLock"));
	}

	@Test
	void bothLocksNeedProviderOfApplication() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withPropertyValues("advisory-lock.shedlock.both-locks=true"));
		assertThat(analysis.getDescription()).contains("no LockProvider of its own");
		assertThat(analysis.getAction()).contains("advisory-lock.shedlock.both-locks");
		this.runner.withBean(LockProvider.class, () -> (configuration) -> Optional.empty())
			.withPropertyValues("advisory-lock.shedlock.both-locks=true")
			.run((context) -> assertThat(context.getBeanFactory().getBean(LockProvider.class).getClass().getName())
				.contains("BothLocks"));
	}

	@Test
	void lockAtLeastForThatCanNotBeKeptStopsStart() {
		for (Class<?> jobs : new Class<?>[] { Jobs.class, DefaultJobs.class }) {
			FailureAnalysis analysis = LockContextRunner.analyzeFailure(this.runner.withUserConfiguration(jobs));
			assertThat(analysis.getDescription()).contains("'lockAtLeastFor' of [", ".pay]", "shedlock_none_job");
			assertThat(analysis.getAction()).contains("advisory-lock.ledger.initialize-schema",
					"advisory-lock.ledger.enabled");
		}
	}

	@Test
	void lockAtLeastForWithoutLedgerIsToldAtStart(CapturedOutput output) {
		this.runner.withUserConfiguration(Jobs.class)
			.withPropertyValues("advisory-lock.ledger.enabled=false")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains(".pay] holds only as long as this instance lives");
			});
	}

	@Test
	void lockAtLeastForOfOtherProvidersIsNoneOfOurs() {
		this.runner.withUserConfiguration(Jobs.class)
			.withBean(LockProvider.class, () -> (configuration) -> Optional.empty())
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void annotatedMethodsRunOnH2WhereLocksAreOff() {
		ApplicationContextRunner h2 = this.runner.withUserConfiguration(CheckedJobs.class)
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:shedlock",
					"advisory-lock.doctor.not-postgresql=off");
		h2.withPropertyValues("advisory-lock.enabled=false").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(CheckedJobs.class).pay()).isTrue();
		});
		h2.run((context) -> assertThatExceptionOfType(UnsupportedDatabaseException.class)
			.isThrownBy(context.getBean(CheckedJobs.class)::pay)
			.withMessageContaining("'H2' and not PostgreSQL"));
	}

	@Test
	void methodsWithoutLockAtLeastForNeedNoLedger() {
		try (LogRecorder log = LogRecorder.of(AdvisoryLockProvider.class.getPackageName() + ".KeptKeys", "DEBUG")) {
			this.runner.withUserConfiguration(PlainJobs.class).run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(PlainJobs.class).pay()).isTrue();
				assertThat(log.messages()).isNotEmpty()
					.anyMatch((line) -> line.startsWith("There is no ledger to keep locks in: "))
					.allMatch((line) -> line.lines().count() == 1);
				assertThat(log.events()).extracting(ILoggingEvent::getThrowableProxy).containsOnlyNulls();
			});
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	static class Jobs {

		@SchedulerLock(name = "pay-#{#order.id}", lockAtLeastFor = "PT5M")
		void pay(String order) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m", defaultLockAtLeastFor = "1m")
	static class DefaultJobs {

		@SchedulerLock(name = "pay")
		void pay() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	static class PlainJobs {

		@SchedulerLock(name = "pay", lockAtLeastFor = "0s")
		@Nullable Boolean pay() {
			return true;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	static class CheckedJobs {

		@SchedulerLock(name = "pay")
		@Nullable Boolean pay() {
			LockAssert.assertLocked();
			return true;
		}

	}

}
