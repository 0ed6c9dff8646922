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
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * An application that really has fewer jars on its class path than the tests, or all of
 * them.
 */
public final class ReducedApplication {

	private ReducedApplication() {
	}

	/**
	 * Start it with all jars, call its guarded method, and stop it.
	 * @return the names of its beans
	 */
	static List<String> runWithAll(String... properties) {
		return List.of(run(TestPostgres.url(), properties));
	}

	/**
	 * Start it without some jars, call its guarded method, and stop it.
	 * @return the names of its beans
	 */
	static List<String> runWithout(Pattern jars, String... properties) throws Exception {
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		try (URLClassLoader reduced = reduced(jars)) {
			Thread.currentThread().setContextClassLoader(reduced);
			return List.of((String[]) reduced.loadClass(ReducedApplication.class.getName())
				.getMethod("run", String.class, String[].class)
				.invoke(null, TestPostgres.url(), properties));
		}
		catch (InvocationTargetException ex) {
			throw new IllegalStateException(ex.getTargetException());
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
		}
	}

	/**
	 * Run in the class loader that has fewer jars.
	 */
	public static String[] run(String url, String[] properties) {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.properties("spring.datasource.url=" + url, "spring.application.name=shop",
					"spring.datasource.hikari.maximum-pool-size=2", "spring.flyway.enabled=false",
					"spring.liquibase.enabled=false", "spring.jmx.enabled=false")
			.properties(properties)
			.run()) {
			context.getBean(Jobs.class).report();
			return context.getBeanDefinitionNames();
		}
	}

	/**
	 * Make a class loader that has fewer jars than the class path, and others instead.
	 */
	static URLClassLoader reduced(Pattern jars, Path... others) {
		URL[] urls = Stream
			.concat(Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
				.map((entry) -> Path.of(entry).toAbsolutePath())
				.filter((entry) -> !jars.matcher(nameOf(entry)).lookingAt()), Stream.of(others))
			.map(ReducedApplication::url)
			.toArray(URL[]::new);
		return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
	}

	/**
	 * Return the name of a jar, or of the module whose classes are in a folder.
	 */
	private static String nameOf(Path entry) {
		return (entry.endsWith("target/classes") ? entry.getParent().getParent() : entry).getFileName().toString();
	}

	private static URL url(Path entry) {
		try {
			return entry.toUri().toURL();
		}
		catch (MalformedURLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		private final boolean guarded;

		Jobs(boolean guarded) {
			this.guarded = guarded;
		}

		@SingleRunner("report")
		void report() {
			if (this.guarded) {
				LockContext.current().orElseThrow().checkHeld();
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			excludeName = { "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
					"org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration" })
	static class Application {

		@Bean
		Jobs jobs(Environment environment) {
			return new Jobs(environment.getProperty("advisory-lock.enabled", Boolean.class, true));
		}

	}

}
