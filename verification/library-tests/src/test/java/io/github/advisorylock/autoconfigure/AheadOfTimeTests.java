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

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.github.advisorylock.actuate.AdvisoryLockEndpointAutoConfiguration;
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.Compiled;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for applications whose beans are defined by what was generated ahead of time.
 * Compiles what is generated, which takes its time.
 */
@Tag("aot")
class AheadOfTimeTests {

	@Test
	@CompileWithForkedClassLoader
	void methodsAreGuardedAndTimedButNotObservedWhereOnlyMetersListen() {
		run(Jobs.class, (context) -> {
			AtomicReference<Observation> current = new AtomicReference<>();
			context.getBean(Jobs.class).export("ada", () -> {
				assertThat(TestPostgres.locks()).hasSize(1);
				current.set(context.getBean(ObservationRegistry.class).getCurrentObservation());
			});
			assertThat(context.getBean(MeterRegistry.class).get("advisory.lock.execution").timer().count()).isOne();
			assertThat(current).hasNullValue();
		});
	}

	@Test
	@CompileWithForkedClassLoader
	void methodThatNoProxyCanOverrideIsRefused() {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> run(FinalJobs.class, (context) -> {
		})).withRootCauseInstanceOf(InvalidSingleRunnerException.class).withMessageContaining("must not be final");
	}

	private static void run(Class<?> jobs, Consumer<ApplicationContext> test) {
		try (AnnotationConfigApplicationContext source = new AnnotationConfigApplicationContext()) {
			setProperties(source);
			source.register(Application.class, jobs);
			TestGenerationContext generated = new TestGenerationContext();
			ClassName initializer = new ApplicationContextAotGenerator().processAheadOfTime(source, generated);
			generated.writeGeneratedContent();
			TestCompiler.forSystem().with(generated).compile((compiled) -> start(compiled, initializer, test));
		}
	}

	@SuppressWarnings("unchecked")
	private static void start(Compiled compiled, ClassName initializer, Consumer<ApplicationContext> test) {
		try (GenericApplicationContext context = new GenericApplicationContext()) {
			setProperties(context);
			compiled.getInstance(ApplicationContextInitializer.class, initializer.toString()).initialize(context);
			context.refresh();
			test.accept(context);
		}
	}

	private static void setProperties(GenericApplicationContext context) {
		TestPropertyValues
			.of("spring.application.name=test", "spring.datasource.url=" + TestPostgres.url(),
					"spring.datasource.hikari.maximum-pool-size=2")
			.applyTo(context);
	}

	/**
	 * Locks, features and what they need.
	 */
	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, AopAutoConfiguration.class,
			DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			TransactionAutoConfiguration.class, MetricsAutoConfiguration.class, ObservationAutoConfiguration.class,
			AdvisoryLockAutoConfiguration.class, AdvisoryLockLedgerAutoConfiguration.class,
			AdvisoryLockMetricsAutoConfiguration.class, AdvisoryLockEndpointAutoConfiguration.class })
	static class Application {

		@Bean
		SimpleMeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

	}

	/**
	 * A method with a key of its arguments.
	 */
	static class Jobs {

		@SingleRunner(key = "export:#{#user}")
		void export(String user, Runnable work) {
			work.run();
		}

	}

	/**
	 * A method that a proxy can't get in front of.
	 */
	static class FinalJobs {

		@SingleRunner("final")
		final void run() {
			// without a lock
		}

	}

}
