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

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLockProperties}: wrong values and metadata.
 */
class AdvisoryLockPropertiesTests {

	private final ApplicationContextRunner runner = LockContextRunner.create().withBean("jobs", Jobs.class);

	@ParameterizedTest
	@CsvSource({ "advisory-lock.wait-for, -1s, zero or more", "advisory-lock.doctor.long-hold, -1s, zero",
			"advisory-lock.doctor.long-hold, soon, java.time.Duration",
			"advisory-lock.jobs.job.wait-for, -1s, zero or more", "advisory-lock.jobs.job.max-run, 0s, more than zero",
			"advisory-lock.jobs.job.permits, 0, from 1 to 64", "advisory-lock.jobs.job.permits, 65, from 1 to 64",
			"advisory-lock.jobs.job.permits, many, Integer", "advisory-lock.jobs.job.max-retries, -1, from 0 to",
			"advisory-lock.leader.terms-above, -1, from 0 to 4611686018427387904",
			"advisory-lock.leader.terms-above, 4611686018427387905, from 0 to 4611686018427387904",
			"advisory-lock.leader.terms-above, many, long", "advisory-lock.namespace, a/b, slash",
			"spring.application.name, a/b, slash", "advisory-lock.transaction-manager, missing, transactionManager",
			"advisory-lock.wait-for, soon, java.time.Duration",
			"advisory-lock.jobs.job.wait-for, soon, java.time.Duration",
			"advisory-lock.jobs.job.scope, forever, LockScope", "advisory-lock.key-format, md5, KeyFormat" })
	void wrongValueIsToldByFullNameOfProperty(String property, String value, String reason) {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withPropertyValues(property + "=" + value));
		assertThat(analysis.getDescription()).contains(property, value);
		assertThat(analysis.getDescription() + analysis.getAction()).contains(reason);
	}

	@Test
	void applicationWithoutPropertiesHasTheDefaults() {
		AdvisoryLockProperties defaults = new Binder(new MapConfigurationPropertySource()).bindOrCreate("advisory-lock",
				AdvisoryLockProperties.class);
		assertThat(AdvisoryLockProperties.NONE_SET).isEqualTo(defaults);
		assertThat(AdvisoryLockProperties.Session.of(new MockEnvironment())).isEqualTo(defaults.session());
		assertThat(AdvisoryLockProperties.Session
			.of(new MockEnvironment().withProperty("advisory-lock.session.heartbeat", "3s"))
			.heartbeat()).hasSeconds(3);
	}

	@ParameterizedTest
	@ValueSource(strings = { "wait-for", "remember-ticks", "jobs[job].wait-for", "jobs[job].min-interval",
			"jobs[job].catch-up", "jobs[job].max-run", "session.heartbeat", "session.dead-client-timeout",
			"ledger.remember-keys", "ledger.keep-runs.age", "doctor.long-hold" })
	void numberAloneIsNoTime(String name) {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(
				this.runner.withPropertyValues("of.a.property=5", "advisory-lock." + name + "=${of.a.property}"));
		assertThat(analysis.getDescription() + analysis.getAction()).contains("advisory-lock." + name, "no unit",
				"'5s'");
	}

	@Test
	void zeroNeedsNoUnit() {
		this.runner.withPropertyValues("advisory-lock.wait-for=0", "advisory-lock.remember-ticks=0")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void numberAloneIsATimeElsewhere() {
		this.runner.withPropertyValues("spring.transaction.default-timeout=5")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void wrongValueOfJobWithSpecialCharactersIsToldByFullName() {
		String name = "advisory-lock.jobs[export:#{#user}].wait-for";
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("test", Map.of(name, "-1s")))));
		assertThat(analysis.getDescription()).contains(name);
	}

	@Test
	void slashInApplicationNameTellsWhatToSet() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withPropertyValues("spring.application.name=a/b"));
		assertThat(analysis.getDescription()).contains("set 'advisory-lock.namespace' to one without");
	}

	@Test
	void missingDataSourceIsToldByBeanAndMethod() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(LockContextRunner.withoutDatabase().withBean("jobs", Report.class));
		assertThat(analysis.getDescription()).contains("method 'report'", "on bean 'jobs'", "needs a DataSource");
		assertThat(analysis.getAction()).contains("'spring.datasource.url'", "'advisory-lock.enabled'");
	}

	@Test
	void missingTransactionManagerIsToldByBeanMethodAndAttribute() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(LockContextRunner.withoutDatabase()
			.withBean("dataSource", HikariDataSource.class, () -> TestPostgres.pool(1))
			.withBean("jobs", Report.class));
		assertThat(analysis.getDescription()).contains("method 'report'", "on bean 'jobs'", "transaction manager",
				"attribute 'scope'");
		assertThat(analysis.getAction()).contains("'advisory-lock.transaction-manager'", "SESSION");
	}

	@Test
	void otherDatabaseIsRefusedAndNamed() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withPropertyValues("spring.datasource.url=jdbc:h2:mem:other"));
		assertThat(analysis.getDescription()).contains("'H2'", "PostgreSQL");
		assertThat(analysis.getAction()).contains("'spring.datasource.url'", "'advisory-lock.enabled'");
	}

	@Test
	void everyPropertyHasDescription() {
		assertThat(metadata()).isNotEmpty()
			.allSatisfy((property) -> assertThat((String) property.get("description")).endsWith("."));
	}

	@Test
	void propertiesOfOtherJarsAreTheirs() {
		assertThat(metadata().map((property) -> (String) property.get("name"))).contains("advisory-lock.scope")
			.noneMatch((name) -> name.matches("advisory-lock\\.(page|shedlock|test)\\b.*"));
	}

	@Test
	void defaultsOfMetadataAreThoseOfTheClass() {
		AdvisoryLockProperties properties = new Binder(new MapConfigurationPropertySource())
			.bindOrCreate("advisory-lock", AdvisoryLockProperties.class);
		assertThat(defaultOf("advisory-lock.enabled")).isEqualTo(properties.enabled());
		assertThat(defaultOf("advisory-lock.key-format"))
			.isEqualTo(properties.keyFormat().name().toLowerCase(Locale.ROOT));
		assertThat(defaultOf("advisory-lock.scope")).isEqualTo(properties.scope().name().toLowerCase(Locale.ROOT));
		assertThat(defaultOf("advisory-lock.wait-for")).isEqualTo(Long.toString(properties.waitFor().toSeconds()));
		assertThat(((Number) defaultOf("advisory-lock.max-held-locks")).intValue())
			.isEqualTo(properties.maxHeldLocks());
		assertThat(((Number) defaultOf("advisory-lock.leader.terms-above")).longValue())
			.isEqualTo(properties.leader().termsAbove());
		AdvisoryLockProperties.Session session = properties.session();
		assertThat(defaultOf("advisory-lock.session.heartbeat")).isEqualTo(session.heartbeat().toSeconds() + "s");
		assertThat(defaultOf("advisory-lock.session.dead-client-timeout"))
			.isEqualTo(session.deadClientTimeout().toSeconds() + "s");
		assertThat(defaultOf("advisory-lock.session.when-lost"))
			.isEqualTo(session.whenLost().name().toLowerCase(Locale.ROOT));
		assertThat(session.toSettings()).isEqualTo(LockSessionSettings.DEFAULT);
		assertThat(defaultOf("advisory-lock.remember-ticks")).isEqualTo(properties.rememberTicks().toMinutes() + "m");
		assertThat(defaultOf("advisory-lock.spread")).isEqualTo(properties.spread().toMillis() + "ms");
		AdvisoryLockProperties.Ledger ledger = properties.ledger();
		assertThat(defaultOf("advisory-lock.ledger.initialize-schema"))
			.isEqualTo(ledger.initializeSchema().name().toLowerCase(Locale.ROOT));
		assertThat(defaultOf("advisory-lock.ledger.table-prefix")).isEqualTo(ledger.tablePrefix());
		assertThat(defaultOf("advisory-lock.ledger.remember-keys")).isEqualTo(ledger.rememberKeys().toDays() + "d");
		assertThat(defaultOf("advisory-lock.ledger.keep-runs.age")).isEqualTo(ledger.keepRuns().age().toDays() + "d");
		assertThat(((Number) defaultOf("advisory-lock.ledger.keep-runs.count")).intValue())
			.isEqualTo(ledger.keepRuns().count());
		assertThat(defaultOf("advisory-lock.ledger.instances")).isEqualTo(ledger.instances());
		assertThat(metadata().filter((property) -> property.containsKey("defaultValue"))
			.map((property) -> (String) property.get("name"))
			.filter((name) -> !name.matches("advisory-lock\\.doctor\\..*|management\\..*"))).hasSize(17);
	}

	static Object defaultOf(String name) {
		return metadata().filter((property) -> property.get("name").equals(name))
			.findFirst()
			.orElseThrow()
			.get("defaultValue");
	}

	static Stream<Map<String, Object>> metadata() {
		try (InputStream json = AdvisoryLockProperties.class.getClassLoader()
			.getResourceAsStream("META-INF/spring-configuration-metadata.json")) {
			List<Map<String, Object>> properties = JsonPath.read(json, "$.properties");
			return properties.stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static class Report {

		@SingleRunner("report")
		void report() {
		}

	}

	static class Jobs {

		@SingleRunner("job")
		void run() {
		}

		@SingleRunner("export:#{#user}")
		void export(String user) {
		}

	}

}
