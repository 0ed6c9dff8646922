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

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.PropertyMapping;
import org.springframework.boot.test.context.filter.annotation.TypeExcludeFilters;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * For a test of guarded methods alone, as Spring Boot's other slices are: the application
 * context has the components with {@code @SingleRunner} or {@code @LeaderOnly} methods,
 * or those {@linkplain #value() that it names}, their advice, {@linkplain InMemoryLocks
 * locks in memory} and a transaction manager that has no database; or, with
 * {@link #postgres()}, locks, ledger and transactions of PostgreSQL. Other components of
 * the application are not there: what the guarded ones need is to be added by
 * {@code @Import} or {@code @MockitoBean}.
 * <p>
 * A test that leaves a lock behind {@linkplain LockLeakDetector fails}.
 *
 * @since 0.1.0
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@BootstrapWith(SliceComponents.ContextBootstrapper.class)
@ExtendWith({ SpringExtension.class, LockLeakDetector.class })
@OverrideAutoConfiguration(enabled = false)
@TypeExcludeFilters(SliceComponents.Filter.class)
@ImportAutoConfiguration
public @interface AdvisoryLockTest {

	/**
	 * The components to start. By default all with guarded methods are started.
	 * @return the classes
	 */
	Class<?>[] value() default {};

	/**
	 * Whether PostgreSQL has the locks, that of {@code spring.datasource.url} or of
	 * {@link PostgresContainerConfiguration}, and not the memory of the test. It has all
	 * of the ledger, and nothing is refused that {@link InMemoryLocks} refuse.
	 * <p>
	 * By default locks are in memory.
	 * @return whether locks are those of PostgreSQL
	 */
	@PropertyMapping("advisory-lock.enabled")
	boolean postgres() default false;

	/**
	 * Properties in the form {@code key=value} for the environment of the application.
	 * @return the properties
	 */
	String[] properties() default {};

	/**
	 * Whether components with guarded methods are found by the scan of the application.
	 * <p>
	 * By default they are.
	 * @return whether to use the filter of this annotation
	 */
	boolean useDefaultFilters() default true;

	/**
	 * Components that are to be found too.
	 * @return the filters
	 */
	Filter[] includeFilters() default {};

	/**
	 * Components that are not to be found.
	 * @return the filters
	 */
	Filter[] excludeFilters() default {};

	/**
	 * Auto-configurations that are not to be applied.
	 * @return the classes
	 */
	@AliasFor(annotation = ImportAutoConfiguration.class, attribute = "exclude")
	Class<?>[] excludeAutoConfiguration() default {};

}
