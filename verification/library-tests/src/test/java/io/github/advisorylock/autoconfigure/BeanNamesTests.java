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

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.type.MethodMetadata;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the names and roles of the beans of all auto-configurations, in an
 * application that has each feature.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("gate")
class BeanNamesTests {

	private static final String LIBRARY = "io.github.advisorylock.";

	private static final String PREFIX = "advisoryLock";

	@ParameterizedTest
	@ValueSource(strings = { "advisory-lock.enabled=true", "advisory-lock.enabled=false",
			"advisory-lock.shedlock.both-locks=true" })
	void eachBeanOfTheLibraryHasItsPrefix(String property) {
		List<String> names = new ArrayList<>();
		start(application(property, "test.own-locks=" + property.contains("both-locks")), (context) -> {
			ConfigurableListableBeanFactory beans = context.getBeanFactory();
			Stream.of(beans.getBeanDefinitionNames())
				.filter((name) -> isOurs(name, beans.getBeanDefinition(name)))
				.forEach(names::add);
		});
		assertThat(names).hasSizeGreaterThan(10).allMatch((name) -> name.startsWith(PREFIX));
	}

	/**
	 * As a component that is found by a scan, with the name of its class.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "advisory-lock.enabled=true", "advisory-lock.enabled=false" })
	void applicationMayHaveBeansOfAnyNameWithoutThePrefix(String property) {
		Stream<String> names = Stream.of("applicationDoctor", "bothLocksPostProcessor", "callCounter", "databaseClock",
				"databaseClocks", "instancePresence", "leaderElection", "leaderOnlyAdviceArrangement",
				"leaderOnlyAnnotationBeanPostProcessor", "leaderRoles", "leadershipGainedListener",
				"leadershipLostListener", "ledgerJobRegistries", "ledgerJobRegistry", "ledgerLifecycle",
				"lockAtLeastForCheck", "lockDatabase", "lockDatabaseParts", "lockDatabases", "lockDoctor",
				"lockDoctors", "lockLedgers", "lockMonitor", "lockSession", "lockTransactionManagers",
				"lockWaitLifecycle", "longHolds", "lostLockCounter", "missedTickListener",
				"plannedTimeSchedulingConfigurer", "pooledConnectionPreparation", "postgresAdvisoryLockTemplate",
				"propertyNamesStartupCheck", "serverJudge", "singleRunnerAdviceArrangement",
				"singleRunnerAnnotationBeanPostProcessor", "singleRunnerMeters", "singleRunnerObserver",
				"singleRunnerSettings", "singleRunnerStartupCheck");
		List<String> own = names.toList();
		SpringApplicationBuilder application = application(property).initializers(
				(GenericApplicationContext context) -> own.forEach((name) -> context.registerBean(name, Own.class)));
		List<String> started = new ArrayList<>();
		start(application, (context) -> {
			context.getBean(Jobs.class).report();
			started.addAll(List.of(context.getBeanNamesForType(Own.class)));
		});
		assertThat(started).containsExactlyInAnyOrderElementsOf(own);
	}

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, EarlyProperties.class, EarlyDataSource.class, EarlyJobs.class })
	void noBeanOfTheLibraryIsCalledUneligibleForPostProcessing(Class<?> configuration, CapturedOutput output) {
		start(application().sources(configuration), (context) -> context.getBean(Jobs.class).report());
		assertThat(uneligible(output)).filteredOn((line) -> !line.contains(BeanNamesTests.class.getName()))
			.noneMatch((line) -> line.contains(PREFIX) || line.contains(LIBRARY));
	}

	@Test
	void beansThatTheApplicationCreatesEarlyAreCalledUneligible(CapturedOutput output) {
		start(application().sources(EarlyJobs.class), (context) -> context.getBean(Jobs.class).report());
		assertThat(uneligible(output)).anyMatch((line) -> line.contains("'earlyJobs'"));
	}

	private static Stream<String> uneligible(CapturedOutput output) {
		return output.getAll().lines().filter((line) -> line.contains("is not eligible for getting processed"));
	}

	/**
	 * What has the name of its class, after a prefix or not, can't be in the way.
	 */
	private static boolean isOurs(String name, BeanDefinition definition) {
		MethodMetadata method = (definition instanceof AnnotatedBeanDefinition annotated)
				? annotated.getFactoryMethodMetadata() : null;
		String declaring = (method != null) ? method.getDeclaringClassName() : definition.getBeanClassName();
		return declaring != null && declaring.startsWith(LIBRARY)
				&& !declaring.startsWith(BeanNamesTests.class.getName()) && !name.endsWith(declaring);
	}

	private static SpringApplicationBuilder application(String... properties) {
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.SERVLET)
			.properties("spring.datasource.url=" + TestPostgres.url(), "spring.application.name=names", "server.port=0",
					"spring.datasource.hikari.maximum-pool-size=3", "spring.flyway.enabled=false",
					"spring.liquibase.enabled=false", "management.endpoints.web.exposure.include=*",
					"advisory-lock.ledger.table-prefix=bean_names_", "advisory-lock.ledger.initialize-schema=always")
			.properties(properties);
	}

	private static void start(SpringApplicationBuilder application, Consumer<ConfigurableApplicationContext> test) {
		try (ConfigurableApplicationContext context = application.run()) {
			test.accept(context);
		}
	}

	/**
	 * What an application calls as it likes.
	 */
	static class Own {

	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("bean-names")
		void report() {
		}

	}

	/**
	 * Properties of the application.
	 */
	@ConfigurationProperties("own")
	record OwnProperties(boolean used) {

	}

	/**
	 * A post-processor that needs a bean.
	 */
	record OwnPostProcessor(Object needed) implements BeanPostProcessor {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	@EnableConfigurationProperties(OwnProperties.class)
	static class Application {

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

		@Bean
		@ConditionalOnBooleanProperty("test.own-locks")
		LockProvider ownLocks(DataSource dataSource) {
			return new JdbcTemplateLockProvider(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Plain {

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyProperties {

		@Bean
		static OwnPostProcessor ownPostProcessor(OwnProperties properties) {
			return new OwnPostProcessor(properties);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyDataSource {

		@Bean
		static OwnPostProcessor ownPostProcessor(DataSource dataSource) {
			return new OwnPostProcessor(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyJobs {

		@Bean
		static OwnPostProcessor ownPostProcessor(Other earlyJobs) {
			return new OwnPostProcessor(earlyJobs);
		}

		@Bean
		static Other earlyJobs() {
			return new Other();
		}

		/**
		 * Another guarded method.
		 */
		static class Other {

			@SingleRunner(key = "early-job", scope = LockScope.SESSION, waitFor = "1s")
			void run() {
			}

			@LeaderOnly("early-role")
			void lead() {
			}

		}

	}

}
