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

import java.time.Duration;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.interceptor.UnguardedLockOperations;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.MapPropertySource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLockAutoConfiguration}.
 */
@ExtendWith(OutputCaptureExtension.class)
class AdvisoryLockAutoConfigurationTests {

	private final ApplicationContextRunner runner = LockContextRunner.create();

	@Test
	void beansArePresentByDefault() {
		this.runner.run((context) -> assertThat(context).hasSingleBean(AdvisoryLockKeyFactory.class)
			.hasSingleBean(SingleRunnerSettings.class)
			.hasSingleBean(SingleRunnerAnnotationBeanPostProcessor.class));
	}

	@Test
	void operationsPickTheDatabase() {
		this.runner.run((context) -> assertThat(context.getBean(AdvisoryLockOperations.class))
			.isInstanceOf(LockDatabases.Router.class)
			.isSameAs(context.getBean("advisoryLockOperations")));
	}

	@Test
	void operationsBackOffWhenApplicationHasItsOwn() {
		AdvisoryLockOperations own = new UnguardedLockOperations("own", AdvisoryLockKeyFactory.sha256());
		this.runner.withBean(AdvisoryLockOperations.class, () -> own)
			.withBean(Jobs.class)
			.run((context) -> assertThat(context).hasSingleBean(AdvisoryLockOperations.class)
				.getBean(AdvisoryLockOperations.class)
				.isSameAs(own));
	}

	@Test
	void keyFactoryBacksOffAndIsUsedForEveryKey() {
		this.runner
			.withBean(AdvisoryLockKeyFactory.class, () -> (namespace, name) -> AdvisoryLockKey.ofTag("OWN", "key"))
			.withBean(Jobs.class)
			.run((context) -> {
				assertThat(context.getBean(Jobs.class).run().key()).hasToString("OWN-key");
				assertThat(keyOf(context.getBean(AdvisoryLockOperations.class))).hasToString("OWN-key");
			});
	}

	@Test
	void settingsBackOffWhenApplicationHasItsOwn() {
		SingleRunnerSettings own = new SingleRunnerSettings("own", AdvisoryLockKeyFactory.sha256(), Duration.ZERO,
				Duration.ZERO, SingleRunnerSettings.LedgerUse.ON_DEMAND, (type) -> null, (key) -> null);
		this.runner.withBean(SingleRunnerSettings.class, () -> own)
			.withBean(Jobs.class)
			.run((context) -> assertThat(context.getBean(Jobs.class).run().key()).hasToString("own/job"));
	}

	@Test
	void namespaceIsApplicationNameUnlessItIsSet() {
		this.runner
			.run((context) -> assertThat(keyOf(context.getBean(AdvisoryLockOperations.class))).hasToString("test/any"));
		this.runner.withPropertyValues("advisory-lock.namespace=other")
			.run((context) -> assertThat(keyOf(context.getBean(AdvisoryLockOperations.class)))
				.hasToString("other/any"));
		this.runner.withPropertyValues("spring.application.name=")
			.run((context) -> assertThat(keyOf(context.getBean(AdvisoryLockOperations.class))).hasToString("any"));
	}

	@Test
	void keyFormatPairLocksPairs() {
		this.runner.withPropertyValues("advisory-lock.key-format=pair").withBean(Jobs.class).run((context) -> {
			assertThat(context.getBean(Jobs.class).run().key().isPair()).isTrue();
			assertThat(keyOf(context.getBean(AdvisoryLockOperations.class)).isPair()).isTrue();
		});
	}

	@Test
	void switchedOffRunsEverythingWithoutDatabaseAndSaysSoOnce(CapturedOutput output) {
		LockContextRunner.withoutDatabase()
			.withPropertyValues("advisory-lock.enabled=false", "advisory-lock.jobs.job.paused=true")
			.withBean(Jobs.class)
			.run((context) -> {
				assertThat(context.getBean(Jobs.class).run().scope()).isEqualTo(LockScope.TRANSACTION);
				assertThat(keyOf(context.getBean(AdvisoryLockOperations.class))).hasToString("test/any");
				assertThat(context.getBean(AdvisoryLockOperations.class).tryAcquire(LockRequest.of("any"))).isPresent();
			});
		assertThat(output).containsOnlyOnce("Advisory locks are switched off by 'advisory-lock.enabled'");
	}

	@Test
	void switchedOffTakesNoLockOnDatabaseThatIsThere() {
		this.runner.withPropertyValues("advisory-lock.enabled=false").withBean(Jobs.class).run((context) -> {
			try (ForeignSession lock = ForeignSession.holding(AdvisoryLockKey.of("test", "job"))) {
				assertThat(context.getBean(Jobs.class).run()).isNotNull();
			}
		});
	}

	@Test
	void jobPropertiesOverrideTheAnnotation() {
		this.runner.withBean(Jobs.class)
			.withPropertyValues("advisory-lock.jobs.job.scope=session", "advisory-lock.jobs.job.wait-for=5s")
			.withInitializer(property("advisory-lock.jobs[export:#{#user}].scope", "session"))
			.run((context) -> {
				assertThat(context.getBean(Jobs.class).run().scope()).isEqualTo(LockScope.SESSION);
				assertThat(context.getBean(Jobs.class).export("u1").scope()).isEqualTo(LockScope.SESSION);
				assertThat(waitOf(context.getBean(SingleRunnerAnnotationBeanPostProcessor.class)))
					.contains(Duration.ofSeconds(5));
			});
	}

	@Test
	void pausedJobIsSkipped() {
		this.runner.withBean(Jobs.class)
			.withInitializer(property("advisory-lock.jobs[export:#{#user}].paused", "true"))
			.run((context) -> {
				assertThat(context.getBean(Jobs.class).export("u1")).isNull();
				assertThat(context.getBean(Jobs.class).run()).isNotNull();
			});
	}

	@Test
	void propertiesOfUnknownJobAreWarnedOf(CapturedOutput output) {
		this.runner.withBean(Jobs.class)
			.withPropertyValues("advisory-lock.jobs.jbo.paused=true")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("'advisory-lock.jobs.jbo.paused'", "has no effect",
				"the keys are [export:#{#user}, job]");
	}

	@Test
	void connectionDetailsBeatTheUrlProperty() {
		this.runner.withPropertyValues("spring.datasource.url=jdbc:postgresql://localhost:1/none")
			.withBean(JdbcConnectionDetails.class, Details::new)
			.withBean(Jobs.class)
			.run((context) -> assertSessionLockIsTaken(context.getBean(AdvisoryLockOperations.class)));
	}

	@Test
	void ownDataSourceTellsWhereToConnectTo() {
		LockContextRunner.create()
			.withPropertyValues("spring.datasource.url=jdbc:postgresql://localhost:1/none")
			.withBean(DataSource.class, () -> TestPostgres.pool(1))
			.run((context) -> assertSessionLockIsTaken(context.getBean(AdvisoryLockOperations.class)));
	}

	@Test
	void sessionPropertiesBeatTheDataSource() {
		TestPostgres.execute("DROP ROLE IF EXISTS lock_session; CREATE ROLE lock_session LOGIN PASSWORD 'secret'");
		this.runner
			.withPropertyValues("advisory-lock.session.url=" + TestPostgres.url().replaceAll("\\?.*", ""),
					"advisory-lock.session.username=lock_session", "advisory-lock.session.password=secret")
			.run((context) -> context.getBean(AdvisoryLockOperations.class)
				.execute(LockRequest.of("any").scope(LockScope.SESSION), (lock) -> {
					String pid = ForeignSession.holders(lock.key()).get(0);
					assertThat(TestPostgres.query("SELECT usename FROM pg_stat_activity WHERE pid = " + pid))
						.containsExactly("lock_session");
					return null;
				}));
	}

	@Test
	void transactionManagerPropertyChoosesAmongSeveral() {
		this.runner.withUserConfiguration(TwoDatabases.class)
			.withPropertyValues("advisory-lock.transaction-manager=secondManager")
			.withBean(Jobs.class)
			.run((context) -> {
				JdbcTemplate second = new JdbcTemplate(context.getBean("second", DataSource.class));
				List<String> pids = context.getBean(AdvisoryLockOperations.class)
					.execute(LockRequest.of("any"),
							(lock) -> List.of(ForeignSession.holders(lock.key()).get(0),
									String.valueOf(second.queryForObject("SELECT pg_backend_pid()", Integer.class))))
					.value();
				assertThat(pids.get(0)).isEqualTo(pids.get(1));
			});
	}

	@Test
	void sessionLockIsInTheDatabaseOfTheChosenTransactionManager() {
		if (TestPostgres.query("SELECT 1 FROM pg_database WHERE datname = 'chosen'").isEmpty()) {
			TestPostgres.execute("CREATE DATABASE chosen");
		}
		this.runner.withUserConfiguration(ChosenDatabase.class)
			.withBean(JdbcConnectionDetails.class, Details::new)
			.withPropertyValues("advisory-lock.transaction-manager=secondManager")
			.run((context) -> context.getBean(AdvisoryLockOperations.class)
				.execute(LockRequest.of("any").scope(LockScope.SESSION), (lock) -> {
					String pid = ForeignSession.holders(lock.key()).get(0);
					assertThat(TestPostgres.query("SELECT datname FROM pg_stat_activity WHERE pid = " + pid))
						.containsExactly("chosen");
					return null;
				}));
	}

	@Test
	void severalDataSourcesAreRefusedWithTheirNames() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withUserConfiguration(TwoDatabases.class).withBean(Jobs.class));
		assertThat(analysis.getDescription()).contains("can't choose between the DataSources", "first", "second");
		assertThat(analysis.getAction()).contains("'advisory-lock.transaction-manager'", "@Primary");
	}

	@Test
	void lockIsInTransactionOfJpa() {
		this.runner.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("org.aspectj"))
			.run((context) -> {
				assertThat(context.getBean(PlatformTransactionManager.class)).isInstanceOf(JpaTransactionManager.class);
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				LockResult<Boolean> same = context.getBean(AdvisoryLockOperations.class)
					.execute(LockRequest.of("any"), (lock) -> ForeignSession.holders(lock.key())
						.equals(jdbc.queryForList("SELECT pg_backend_pid()::text", String.class)));
				assertThat(same.value()).isTrue();
			});
	}

	@Test
	void startsWithoutOptionalLibraries() {
		this.runner
			.withClassLoader(new FilteredClassLoader("org.hibernate", "jakarta.persistence", "reactor", "kotlin",
					"com.zaxxer.hikari", "io.micrometer.core", "org.springframework.orm", "org.aspectj"))
			.withPropertyValues("spring.datasource.type=org.springframework.jdbc.datasource.SimpleDriverDataSource")
			.run((context) -> assertSessionLockIsTaken(context.getBean(AdvisoryLockOperations.class)));
	}

	/**
	 * For names with characters that end the name where properties are written as text.
	 */
	private static ApplicationContextInitializer<ConfigurableApplicationContext> property(String name, String value) {
		return (context) -> context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource(name, Map.of(name, value)));
	}

	private static AdvisoryLockKey keyOf(AdvisoryLockOperations operations) {
		return operations.execute(LockRequest.of("any"), LockContext::key).value();
	}

	private static List<Duration> waitOf(SingleRunnerAnnotationBeanPostProcessor postProcessor) {
		return postProcessor.getMethods().stream().map((method) -> method.operation().waitFor()).toList();
	}

	private static void assertSessionLockIsTaken(AdvisoryLockOperations operations) {
		assertThat(operations
			.execute(LockRequest.of("any").scope(LockScope.SESSION), (lock) -> ForeignSession.isHeld(lock.key()))
			.value()).isTrue();
	}

	static class Jobs {

		@SingleRunner("job")
		LockContext run() {
			return LockContext.current().orElseThrow();
		}

		@SingleRunner("export:#{#user}")
		LockContext export(String user) {
			return LockContext.current().orElseThrow();
		}

	}

	static class Details implements JdbcConnectionDetails {

		@Override
		public String getUsername() {
			return null;
		}

		@Override
		public String getPassword() {
			return null;
		}

		@Override
		public String getJdbcUrl() {
			return TestPostgres.url();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ChosenDatabase {

		@Bean
		@Primary
		HikariDataSource first() {
			return TestPostgres.pool(1);
		}

		@Bean
		HikariDataSource second() {
			return TestPostgres.pool(TestPostgres.url().replaceFirst("(//[^/]+)/[^?]*", "$1/chosen"), 1);
		}

		@Bean
		JdbcTransactionManager firstManager(DataSource first) {
			return new JdbcTransactionManager(first);
		}

		@Bean
		JdbcTransactionManager secondManager(@Qualifier("second") DataSource second) {
			return new JdbcTransactionManager(second);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDatabases {

		@Bean
		HikariDataSource first() {
			return TestPostgres.pool(1);
		}

		@Bean
		HikariDataSource second() {
			return TestPostgres.pool(1);
		}

		@Bean
		JdbcTransactionManager firstManager(DataSource first) {
			return new JdbcTransactionManager(first);
		}

		@Bean
		JdbcTransactionManager secondManager(DataSource second) {
			return new JdbcTransactionManager(second);
		}

	}

}
