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

package io.github.advisorylock.testsupport;

import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.assertj.ApplicationContextAssertProvider;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications with the auto-configuration of advisory locks, named {@code test}.
 */
public final class LockContextRunner {

	private LockContextRunner() {
	}

	/**
	 * Create an application on {@link TestPostgres}.
	 */
	public static ApplicationContextRunner create() {
		return onDatabase(withoutDatabase());
	}

	/**
	 * Create an application on {@link TestPostgres} that sets no property of the library.
	 */
	public static ApplicationContextRunner withoutProperties() {
		return onDatabase(bare());
	}

	/**
	 * Create an application that has everything but a DataSource. Its instance does not
	 * say that it is there: many tests count connections and statements.
	 */
	public static ApplicationContextRunner withoutDatabase() {
		return bare().withPropertyValues("advisory-lock.ledger.instances=false");
	}

	/**
	 * Return what does something while an application runs that must have started: a
	 * runner tells a failure only to who asks the context.
	 * @param action what to do
	 */
	public static <C extends ApplicationContextAssertProvider<?>> ContextConsumer<C> started(ThrowingCallable action) {
		return (context) -> {
			assertThat(context).hasNotFailed();
			action.call();
		};
	}

	private static ApplicationContextRunner bare() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class,
					AopAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
					TransactionAutoConfiguration.class, AdvisoryLockAutoConfiguration.class))
			.withConfiguration(AutoConfigurations.of(ledger()))
			.withPropertyValues("spring.application.name=test");
	}

	private static ApplicationContextRunner onDatabase(ApplicationContextRunner runner) {
		return runner
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=" + TestPostgres.url(),
					"spring.datasource.hikari.maximum-pool-size=4", "spring.datasource.hikari.minimum-idle=0",
					"spring.datasource.hikari.connection-timeout=5000");
	}

	/**
	 * Find the auto-configuration of the ledger by its name: the library can do without.
	 */
	private static Class<?>[] ledger() {
		return ImportCandidates.load(AutoConfiguration.class, LockContextRunner.class.getClassLoader())
			.getCandidates()
			.stream()
			.filter((name) -> name.endsWith(".AdvisoryLockLedgerAutoConfiguration"))
			.map((name) -> ClassUtils.resolveClassName(name, LockContextRunner.class.getClassLoader()))
			.toArray(Class<?>[]::new);
	}

	/**
	 * Start an application that can't, and return what Spring Boot tells its developer.
	 */
	public static FailureAnalysis analyzeFailure(ApplicationContextRunner runner) {
		AtomicReference<ConfigurableApplicationContext> started = new AtomicReference<>();
		AtomicReference<FailureAnalysis> analysis = new AtomicReference<>();
		runner.withInitializer(started::set)
			.withInitializer((context) -> ConfigurationPropertySources.attach(context.getEnvironment()))
			.run((context) -> {
				assertThat(context).hasFailed();
				analysis.set(analyze(started.get(), context.getStartupFailure()));
			});
		return analysis.get();
	}

	private static FailureAnalysis analyze(ConfigurableApplicationContext context, Throwable startupFailure) {
		ArgumentResolver arguments = ArgumentResolver.of(BeanFactory.class, context.getBeanFactory())
			.and(Environment.class, context.getEnvironment());
		for (FailureAnalyzer analyzer : SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class, arguments, (type, name, failure) -> {
				// needs a library that is not there
			})) {
			FailureAnalysis analysis = analyzer.analyze(startupFailure);
			if (analysis != null) {
				return analysis;
			}
		}
		throw new AssertionError("No analyzer knows the failure", startupFailure);
	}

}
