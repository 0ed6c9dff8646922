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

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.autoconfigure.AdvisoryLockProperties.Job;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link JobOverrides}.
 */
@ExtendWith(OutputCaptureExtension.class)
class JobOverridesTests {

	@Tag("slow")
	@Test
	void environmentVariablesReachJobsWhoseKeysTheyCannotSpell(@TempDir Path directory) throws Exception {
		File log = directory.resolve("log").toFile();
		ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
				EnvironmentInstance.class.getName(), TestPostgres.url());
		builder.environment()
			.putAll(Map.of("ADVISORYLOCK_JOBS_NIGHTLYREPORT_PAUSED", "true",
					"ADVISORY_LOCK_JOBS_ORDERS_EXPORT_WAIT_FOR", "7s", "ADVISORYLOCK_JOBS_CLEANUP_PAUSED", "true",
					"ADVISORYLOCK_JOBS_NIGHTLYREPROT_PAUSED", "true"));
		Process process = builder.redirectErrorStream(true).redirectOutput(log).start();
		try {
			assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
			assertThat(Files.readString(log.toPath()))
				.contains("JOB nightly-report paused=true", "RUN PAUSED", "JOB orders.export paused=false waitFor=PT7S",
						"JOB cleanUp paused=true", "JOB import paused=false")
				.contains("ADVISORYLOCK_JOBS_NIGHTLYREPROT_PAUSED", "has no effect: no method has that key");
		}
		finally {
			process.destroyForcibly();
		}
	}

	@Tag("slow")
	@ParameterizedTest
	@CsvSource({ "advisory-lock.jobs[orders.export].paused, orders.export",
			"advisory-lock.jobs[reports/daily].paused, reports/daily", "advisory-lock.jobs.cleanUp.paused, cleanUp",
			"advisory-lock.jobs[cleanUp].paused, cleanUp", "advisory-lock.jobs.nightly-report.paused, nightly-report",
			"advisory-lock.jobs[nightly-report].paused, nightly-report",
			"advisory-lock.jobs.nightlyReport.paused, nightly-report",
			"advisory-lock.jobs.[payment:#{#id}].paused, payment:#{#id}" })
	void propertyReachesJobHoweverItsKeyIsWritten(String property, String key, CapturedOutput output) {
		runner(Map.of(property, "true")).run((context) -> {
			assertThat(operation(context, key).paused()).isTrue();
			assertThat(context.getBean(SingleRunnerAnnotationBeanPostProcessor.class).getMethods())
				.filteredOn((method) -> method.operation().paused())
				.hasSize(1);
			assertThat(output).doesNotContain("has no effect");
		});
	}

	@Tag("slow")
	@Test
	void keyInBracketsIsMeantLetterByLetter(CapturedOutput output) {
		runner(Map.of("advisory-lock.jobs[Nightly-Report].paused", "true")).run((context) -> {
			assertThat(operation(context, "nightly-report").paused()).isFalse();
			assertThat(output).contains("has no effect: no method has that key", "nightly-report");
		});
	}

	@Tag("slow")
	@Test
	void environmentTakesPrecedenceOverFile() {
		runner(Map.of("advisory-lock.jobs.nightly-report.paused", "false", "advisory-lock.jobs.nightly-report.wait-for",
				"3s"))
			.withInitializer((context) -> addVariables(context.getEnvironment(),
					Map.of("ADVISORYLOCK_JOBS_NIGHTLY_REPORT_PAUSED", "${pause}", "pause", "true")))
			.run((context) -> {
				assertThat(operation(context, "nightly-report").paused()).isTrue();
				assertThat(operation(context, "nightly-report").waitFor()).hasSeconds(3);
			});
	}

	@Tag("slow")
	@Test
	void settingThatDoesNotExistIsToldOfAVariable(CapturedOutput output) {
		runner(Map.of())
			.withInitializer((context) -> addVariables(context.getEnvironment(),
					Map.of("ADVISORYLOCK_JOBS_NIGHTLY_REPORT_PAUSE", "true")))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("ADVISORYLOCK_JOBS_NIGHTLY_REPORT_PAUSE", "has no effect",
						"the settings [paused, scope, wait-for");
			});
	}

	@Tag("slow")
	@ParameterizedTest
	@CsvSource({ "WAITFOR", "WAIT_FOR" })
	void wrongValueOfAVariableIsToldByItsName(String setting) {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(runner(Map.of()).withInitializer((context) -> addVariables(context.getEnvironment(),
					Map.of("ADVISORYLOCK_JOBS_NIGHTLY_REPORT_" + setting, "soon"))));
		assertThat(analysis.getDescription()).contains("ADVISORYLOCK_JOBS_NIGHTLY_REPORT_" + setting, "\"soon\"");
	}

	@Tag("slow")
	@Test
	void variableIsForEachJobThatItSpells() {
		runner(Map.of()).withBean(OtherJobs.class)
			.withInitializer((context) -> addVariables(context.getEnvironment(),
					Map.of("ADVISORYLOCK_JOBS_ORDERS_EXPORT_PAUSED", "true")))
			.run((context) -> {
				assertThat(operation(context, "orders-export").paused()).isTrue();
				assertThat(operation(context, "orders.export").paused()).isTrue();
			});
	}

	@Tag("slow")
	@Test
	void keyInBracketsTellsTwoJobsApart() {
		runner(Map.of("advisory-lock.jobs[orders-export].paused", "true")).withBean(OtherJobs.class).run((context) -> {
			assertThat(operation(context, "orders-export").paused()).isTrue();
			assertThat(operation(context, "orders.export").paused()).isFalse();
		});
	}

	/**
	 * Without an application: what it makes of these is tested above.
	 */
	@ParameterizedTest
	@CsvSource({ "advisory-lock.jobs.nightly-report.paused, nightly-report, true",
			"advisory-lock.jobs.nightlyReport.paused, nightly-report, true",
			"advisory-lock.jobs[nightly-report].paused, nightly-report, true",
			"advisory-lock.jobs[Nightly-Report].paused, nightly-report, false",
			"advisory-lock.jobs[nightly.report].paused, nightly-report, false",
			"advisory-lock.jobs[orders.export].paused, orders.export, true",
			"advisory-lock.jobs[orders.export].paused, orders-export, false",
			"advisory-lock.jobs.orders-export.paused, orders.export, false",
			"ADVISORYLOCK_JOBS_NIGHTLY_REPORT_PAUSED, nightly-report, true",
			"ADVISORYLOCK_JOBS_NIGHTLYREPORT_PAUSED, nightly-report, true",
			"ADVISORY_LOCK_JOBS_NIGHTLY_REPORT_PAUSED, nightly-report, true",
			"ADVISORYLOCK_JOBS_ORDERS_EXPORT_PAUSED, orders.export, true",
			"ADVISORYLOCK_JOBS_REPORTS_DAILY_PAUSED, reports/daily, true",
			"ADVISORYLOCK_JOBS_PAYMENT_ID_PAUSED, payment:#{#id}, true", "ADVISORYLOCK_JOBS_A_B_PAUSED, a]b, true",
			"ADVISORYLOCK_JOBS_NIGHTLY_PAUSED, nightly-report, false",
			"advisory-lock.jobs.nightly.paused, nightly-report, false" })
	void propertyIsForTheKeyThatItSpells(String property, String key, boolean meant) {
		Job job = new JobOverrides(environment(Map.of(property, "true"))).of(key);
		assertThat(job).isEqualTo(meant ? new Job(true, null, null, null, null, null, null, null) : null);
	}

	@Test
	void eachSettingIsThatOfTheFirstSourceWhichHasIt() {
		StandardEnvironment environment = environment(
				Map.of("advisory-lock.jobs.report.paused", "false", "advisory-lock.jobs[report].wait-for", "3s"));
		environment.getPropertySources()
			.addFirst(new MapPropertySource("first",
					Map.of("advisory-lock.jobs.report.paused", "${pause}", "pause", "true")));
		assertThat(new JobOverrides(environment).of("report"))
			.isEqualTo(new Job(true, null, Duration.ofSeconds(3), null, null, null, null, null));
	}

	private static StandardEnvironment environment(Map<String, Object> properties) {
		StandardEnvironment environment = new StandardEnvironment();
		if (properties.keySet().iterator().next().startsWith("ADVISORY")) {
			addVariables(environment, properties);
		}
		else {
			environment.getPropertySources().addFirst(new MapPropertySource("file", properties));
		}
		ConfigurationPropertySources.attach(environment);
		return environment;
	}

	private static void addVariables(ConfigurableEnvironment environment, Map<String, Object> variables) {
		environment.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
					variables));
	}

	private static ApplicationContextRunner runner(Map<String, Object> properties) {
		return LockContextRunner.create()
			.withBean(Jobs.class)
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("file", properties)));
	}

	private static SingleRunnerOperation operation(ApplicationContext context, String key) {
		return context.getBean(SingleRunnerAnnotationBeanPostProcessor.class)
			.getMethods()
			.stream()
			.filter((method) -> method.operation().keyTemplate().equals(key))
			.findFirst()
			.orElseThrow()
			.operation();
	}

	static class Jobs {

		@SingleRunner("nightly-report")
		void report() {
		}

		@SingleRunner("orders.export")
		void export() {
		}

		@SingleRunner("cleanUp")
		void cleanUp() {
		}

		@SingleRunner("reports/daily")
		void daily() {
		}

		@SingleRunner("payment:#{#id}")
		void pay(String id) {
		}

	}

	static class OtherJobs {

		@SingleRunner("orders-export")
		void export() {
		}

	}

}
