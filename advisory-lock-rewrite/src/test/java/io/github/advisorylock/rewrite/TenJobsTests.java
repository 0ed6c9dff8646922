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

package io.github.advisorylock.rewrite;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import io.github.advisorylock.testsupport.TestPostgres;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openrewrite.ExecutionContext;
import org.openrewrite.InMemoryExecutionContext;
import org.openrewrite.Parser;
import org.openrewrite.Result;
import org.openrewrite.SourceFile;
import org.openrewrite.internal.InMemoryLargeSourceSet;
import org.openrewrite.java.JavaParser;
import org.openrewrite.xml.XmlParser;
import org.openrewrite.yaml.YamlParser;

/**
 * Tests that an application of ten jobs, moved by the recipe alone, compiles without
 * ShedLock, starts, and takes a lock for each of its jobs.
 */
class TenJobsTests {

	private static final Path BEFORE = Path.of("src/test/resources/shop");

	private static final String LOCK = """
			SELECT pg_advisory_lock(('x' || left(encode(sha256(convert_to(?, 'UTF8')), 'hex'), 16))::bit(64)::bigint)""";

	@Test
	@Tag("chaos")
	void applicationRunsItsJobsUnderLocksWithoutAHandEdit(@TempDir Path shop) throws Exception {
		move(shop);
		Assertions.assertThat(files(shop)).noneMatch((file) -> read(file).toLowerCase().contains("shedlock"));
		compile(shop);
		TestPostgres.execute("CREATE TABLE journal (job text)");
		try (URLClassLoader classes = new URLClassLoader(urls(shop), ClassLoader.getPlatformClassLoader())) {
			Thread.currentThread().setContextClassLoader(classes);
			try (AutoCloseable application = start(classes)) {
				checkJobs(classes, application);
			}
		}
		finally {
			Thread.currentThread().setContextClassLoader(TenJobsTests.class.getClassLoader());
		}
	}

	private static void checkJobs(ClassLoader classes, Object application) throws Exception {
		Jobs billing = new Jobs(application, classes.loadClass("shop.BillingJobs"));
		billing.check("invoices", "invoices", null);
		billing.check("reminders", "reminders", null);
		billing.check("closeLedger", "ledger-close", null);
		billing.check("exportLedger", "ledger-export", null);
		Jobs stock = new Jobs(application, classes.loadClass("shop.StockJobs"));
		stock.check("count", "stock-count", null);
		stock.check("prices", "stock-prices", null);
		stock.check("reorder", "stock-reorder", null);
		Jobs partners = new Jobs(application, classes.loadClass("shop.PartnerJobs"));
		partners.check("load", "partner-north-7", Optional.empty(), "north", 7);
		partners.check("publish", "partners", null);
		partners.check("withdraw", "partners", null);
		// Within five minutes of its last run
		stock.call("prices");
		Assertions.assertThat(journal("prices")).isEqualTo(1);
	}

	private static void move(Path target) throws IOException {
		ExecutionContext context = new InMemoryExecutionContext((ex) -> Assertions.fail(ex));
		List<SourceFile> sources = new ArrayList<>();
		parse(JavaParser.fromJavaVersion().classpath(jars((jar) -> !jar.contains("advisory-lock"))).build(), ".java",
				sources, context);
		parse(new XmlParser(), ".xml", sources, context);
		parse(new YamlParser(), ".yml", sources, context);
		for (SourceFile source : sources) {
			write(target, source);
		}
		for (Result result : MigrationRecipe.load()
			.run(new InMemoryLargeSourceSet(sources), context)
			.getChangeset()
			.getAllResults()) {
			if (result.getAfter() != null) {
				write(target, result.getAfter());
			}
			else {
				Files.delete(target.resolve(result.getBefore().getSourcePath()));
			}
		}
	}

	private static void parse(Parser parser, String extension, List<SourceFile> sources, ExecutionContext context) {
		parser
			.parse(files(BEFORE).stream().filter((file) -> file.toString().endsWith(extension)).toList(), BEFORE,
					context)
			.forEach(sources::add);
	}

	private static void write(Path target, SourceFile source) throws IOException {
		Path file = target.resolve(source.getSourcePath());
		Files.createDirectories(file.getParent());
		Files.writeString(file, source.printAll());
	}

	private static void compile(Path shop) throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
			List<Path> sources = files(shop).stream().filter((file) -> file.toString().endsWith(".java")).toList();
			List<String> options = List.of("-proc:none", "-parameters", "-d", shop.resolve("target").toString(), "-cp",
					String.join(File.pathSeparator, applicationJars().stream().map(Path::toString).toList()));
			Assertions
				.assertThat(compiler
					.getTask(null, manager, null, options, null, manager.getJavaFileObjectsFromPaths(sources))
					.call())
				.isTrue();
		}
	}

	private static List<Path> applicationJars() {
		return jars((jar) -> !jar.contains("shedlock") && !jar.contains("openrewrite")
				&& !jar.contains("advisory-lock-rewrite"));
	}

	private static List<Path> jars(Predicate<String> wanted) {
		return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter(wanted)
			.map(Path::of)
			.toList();
	}

	private static URL[] urls(Path shop) {
		return Stream
			.concat(Stream.of(shop.resolve("target"), shop.resolve("src/main/resources")), applicationJars().stream())
			.map(TenJobsTests::url)
			.toArray(URL[]::new);
	}

	private static URL url(Path path) {
		try {
			return path.toUri().toURL();
		}
		catch (MalformedURLException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static AutoCloseable start(ClassLoader classes) throws Exception {
		Class<?> application = classes.loadClass("org.springframework.boot.SpringApplication");
		String[] arguments = { "--spring.datasource.url=" + TestPostgres.url(), "--spring.main.banner-mode=off" };
		return (AutoCloseable) application.getMethod("run", Class.class, String[].class)
			.invoke(null, classes.loadClass("shop.Shop"), arguments);
	}

	private static int journal(String job) {
		return TestPostgres.query("SELECT 1 FROM journal WHERE job = '" + job + "'").size();
	}

	private static List<Path> files(Path folder) {
		try (Stream<Path> files = Files.walk(folder)) {
			return files.filter(Files::isRegularFile).toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The jobs of one bean of the application.
	 */
	private static final class Jobs {

		private final Object bean;

		Jobs(Object application, Class<?> type) throws Exception {
			this.bean = application.getClass().getMethod("getBean", Class.class).invoke(application, type);
		}

		/**
		 * Check that a job is skipped while somebody else has its lock, and runs when
		 * nobody has.
		 */
		void check(String job, String key, @Nullable Object skipped, Object... arguments) throws Exception {
			try (Connection other = TestPostgres.open()) {
				lock(other, "shop/" + key);
				Assertions.assertThat(call(job, arguments)).as(job).isEqualTo(skipped);
				Assertions.assertThat(journal(job)).as(job).isZero();
				other.createStatement().execute("SELECT pg_advisory_unlock_all()");
			}
			call(job, arguments);
			Assertions.assertThat(journal(job)).as(job).isEqualTo(1);
		}

		@Nullable Object call(String job, Object... arguments) throws Exception {
			Method method = Arrays.stream(this.bean.getClass().getMethods())
				.filter((candidate) -> candidate.getName().equals(job))
				.findFirst()
				.orElseThrow();
			return method.invoke(this.bean, arguments);
		}

		private static void lock(Connection connection, String key) throws SQLException {
			try (PreparedStatement statement = connection.prepareStatement(LOCK)) {
				statement.setString(1, key);
				statement.execute();
			}
		}

	}

}
