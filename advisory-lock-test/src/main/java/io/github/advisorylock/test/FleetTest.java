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

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.core.annotation.AliasFor;
import org.springframework.test.context.TestPropertySource;

/**
 * For a test of guarded methods on several instances of an application, in virtual time:
 * what happens in the night in which clocks change, when the runner is killed, when the
 * database was away. Each instance is an application context of its own, with the
 * components and the locks in memory of an {@link AdvisoryLockTest}, a clock and a
 * scheduler whose time passes only when the test says so, by {@link Fleet}, which is a
 * parameter of test methods.
 * <p>
 * Mocks of the test class are shared by all instances; other beans are each instance's
 * own. One thread at a time runs. A {@code Thread.sleep} in a job takes real time and no
 * virtual time.
 *
 * @since 0.1.0
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@AdvisoryLockTest
@ExtendWith(FleetExtension.class)
@TestPropertySource(properties = { "logging.level.io.github.advisorylock.run=warn", "spring.main.banner-mode=off",
		"spring.main.log-startup-info=false" })
public @interface FleetTest {

	/**
	 * The components to start on each instance. By default all with guarded methods are
	 * started.
	 * @return the classes
	 */
	@AliasFor(annotation = AdvisoryLockTest.class)
	Class<?>[] value() default {};

	/**
	 * How many instances there are at the beginning of each test, 3 by default.
	 * @return the number
	 */
	int instances() default 3;

	/**
	 * When each test begins, such as {@code 2026-10-24T00:00:00Z}.
	 * @return the time, with an offset or a zone
	 */
	String from() default "2026-01-01T00:00:00Z";

	/**
	 * What decides which instance is first where several are due at the same time. The
	 * same number has the same things happen.
	 * @return any number
	 */
	long seed() default 0;

	/**
	 * Properties in the form {@code key=value} for the environment of the application.
	 * @return the properties
	 */
	@AliasFor(annotation = AdvisoryLockTest.class)
	String[] properties() default {};

}
