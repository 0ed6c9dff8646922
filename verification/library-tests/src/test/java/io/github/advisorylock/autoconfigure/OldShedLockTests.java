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

import java.lang.reflect.InvocationTargetException;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

import io.github.advisorylock.testsupport.TestPostgres;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLockShedLockAutoConfiguration} with a ShedLock that is older
 * than what it calls, in a class loader with its jars.
 */
@Tag("slow")
@ExtendWith(OutputCaptureExtension.class)
public class OldShedLockTests {

	private static final String LAST = "4.48.0";

	@ParameterizedTest
	@ValueSource(strings = { LAST, "4.0.0" })
	void startIsRefusedByNameWhereItsLocksAreToBeTakenHere(String version, CapturedOutput output) throws Exception {
		assertThat(start(version, Jobs.class)).isNotNull();
		assertThat(output)
			.contains("APPLICATION FAILED TO START", "'shedlock-core-" + version + ".jar'", "needs ShedLock 7",
					"Set the version of all artifacts of 'net.javacrumbs.shedlock' to 7.0.0 or newer")
			.doesNotContain("NoSuchMethodError", "NoClassDefFoundError");
	}

	@Test
	void startIsRefusedByNameWhereItsLocksAreToBeTakenHereAsWell(CapturedOutput output) throws Exception {
		assertThat(start(LAST, OwnProvider.class, "advisory-lock.shedlock.both-locks=true")).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START", "'shedlock-core-" + LAST + ".jar'",
				"needs ShedLock 7");
	}

	@Test
	void ownProviderOfApplicationGoesOn() throws Exception {
		assertThat(start(LAST, OwnProvider.class)).isNull();
	}

	@Test
	void unusedJarsDoNoHarm() throws Exception {
		assertThat(start(LAST, Nothing.class)).isNull();
		assertThat(start("4.0.0", Nothing.class)).isNull();
	}

	/**
	 * Start an application, and stop it.
	 * @return what its start has failed with, {@code null} if it has not
	 */
	private static @Nullable Throwable start(String version, Class<?> source, String... properties) throws Exception {
		Path core = Path.of("target/shedlock-4/shedlock-core-" + version + ".jar");
		Path spring = Path.of("target/shedlock-4/shedlock-spring-" + version + ".jar");
		assertThat(core).as("made by Maven's phase generate-test-resources").exists();
		assertThat(Files.size(spring)).isPositive();
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		try (URLClassLoader old = ReducedApplication.reduced(Pattern.compile("shedlock"), core, spring)) {
			Thread.currentThread().setContextClassLoader(old);
			old.loadClass(OldShedLockTests.class.getName())
				.getMethod("run", String.class, String.class, String[].class)
				.invoke(null, source.getName(), TestPostgres.url(), properties);
			return null;
		}
		catch (InvocationTargetException ex) {
			return ex.getTargetException();
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
		}
	}

	/**
	 * Run in the class loader that has the old jars.
	 */
	public static void run(String source, String url, String[] properties) throws Exception {
		new SpringApplicationBuilder(Class.forName(source)).web(WebApplicationType.NONE)
			.properties("spring.datasource.url=" + url, "spring.application.name=shop",
					"spring.datasource.hikari.maximum-pool-size=2", "spring.flyway.enabled=false",
					"spring.liquibase.enabled=false", "spring.jmx.enabled=false")
			.properties(properties)
			.run()
			.close();
	}

	/**
	 * Without a provider of its own.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			excludeName = { "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
					"org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration" })
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	static class Jobs {

		@SchedulerLock(name = "pay", lockAtLeastFor = "5m")
		void pay() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnProvider extends Jobs {

		@Bean
		LockProvider lockProvider() {
			return (configuration) -> Optional.empty();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			excludeName = { "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
					"org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration" })
	static class Nothing {

	}

}
