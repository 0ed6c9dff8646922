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

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggerConfiguration;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.junit.jupiter.SpringExtension;
import org.springframework.test.context.support.TestConstructorUtils;
import org.springframework.util.Assert;

/**
 * Starts the instances of a {@link FleetTest} before each test, and ends them after it. A
 * test that fails tells what happened, and how to have it happen again.
 */
final class FleetExtension
		implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback, ParameterResolver {

	/**
	 * Of a year of runs each would be a line.
	 */
	private static final String RUNS = "io.github.advisorylock.run";

	private final LoggingSystem logging = LoggingSystem.get(FleetExtension.class.getClassLoader());

	private @Nullable LogLevel level;

	@Override
	public void beforeAll(ExtensionContext context) {
		LoggerConfiguration before = this.logging.getLoggerConfiguration(RUNS);
		this.level = (before != null) ? before.getConfiguredLevel() : null;
	}

	/**
	 * What a context sets holds for the whole process, also for other tests.
	 */
	@Override
	public void afterAll(ExtensionContext context) {
		this.logging.setLogLevel(RUNS, this.level);
	}

	@Override
	public void beforeEach(ExtensionContext context) {
		FleetTest test = TestContextAnnotationUtils.findMergedAnnotation(context.getRequiredTestClass(),
				FleetTest.class);
		Assert.state(test != null, "'@FleetTest' must be there");
		fleet(context).begin(test.instances(), VirtualTime.instant(test.from()), test.seed());
	}

	@Override
	public void afterEach(ExtensionContext context) {
		Fleet fleet = fleet(context);
		context.getExecutionException().ifPresent((failure) -> failure.addSuppressed(new Played(fleet.describe())));
		fleet.end();
	}

	/**
	 * What Spring injects is left to it.
	 */
	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
		return parameter.getParameter().getType() == Fleet.class && !parameter.isAnnotated(Autowired.class)
				&& !TestConstructorUtils.isAutowirableConstructor(parameter.getDeclaringExecutable(),
						(name) -> context.getConfigurationParameter(name).orElse(null));
	}

	@Override
	public @Nullable Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
		return fleet(context);
	}

	private static Fleet fleet(ExtensionContext context) {
		return SpringExtension.getApplicationContext(context).getBean(Fleet.class);
	}

	/**
	 * What happened in a test that has failed.
	 */
	private static final class Played extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private Played(String message) {
			super(message, null, false, false);
		}

	}

}
