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
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import io.github.advisorylock.testsupport.TestPostgres;
import org.assertj.core.api.Assertions;
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
 * An application that the recipe has moved and that was compiled since, by hand of
 * nobody.
 */
final class MovedApplication {

	private final Path before;

	private final Path target;

	private final boolean shedLock;

	/**
	 * Move an application.
	 * @param before its sources
	 * @param target a folder for what comes of them
	 * @param shedLock whether ShedLock is still on its class path, without its providers
	 */
	MovedApplication(Path before, Path target, boolean shedLock) throws IOException {
		this.before = before;
		this.target = target;
		this.shedLock = shedLock;
		move();
		compile();
	}

	/**
	 * Start the application and do something with it.
	 */
	void run(String main, Use use) throws Exception {
		// The server is started by classes of this class loader
		String url = TestPostgres.url();
		try (URLClassLoader classes = new URLClassLoader(urls(), ClassLoader.getPlatformClassLoader())) {
			Thread.currentThread().setContextClassLoader(classes);
			try (AutoCloseable application = start(classes, main, url)) {
				use.of(classes, application);
			}
		}
		finally {
			Thread.currentThread().setContextClassLoader(MovedApplication.class.getClassLoader());
		}
	}

	private void move() throws IOException {
		ExecutionContext context = new InMemoryExecutionContext((ex) -> Assertions.fail(ex));
		List<SourceFile> sources = new ArrayList<>();
		parse(JavaParser.fromJavaVersion().classpath(jars((jar) -> !jar.contains("advisory-lock"))).build(), ".java",
				sources, context);
		parse(new XmlParser(), ".xml", sources, context);
		parse(new YamlParser(), ".yml", sources, context);
		for (SourceFile source : sources) {
			write(this.target, source);
		}
		for (Result result : MigrationRecipe.load()
			.run(new InMemoryLargeSourceSet(sources), context)
			.getChangeset()
			.getAllResults()) {
			if (result.getAfter() != null) {
				write(this.target, result.getAfter());
			}
			else {
				Files.delete(this.target.resolve(result.getBefore().getSourcePath()));
			}
		}
	}

	private void parse(Parser parser, String extension, List<SourceFile> sources, ExecutionContext context) {
		parser
			.parse(files(this.before).stream().filter((file) -> file.toString().endsWith(extension)).toList(),
					this.before, context)
			.forEach(sources::add);
	}

	private static void write(Path target, SourceFile source) throws IOException {
		Path file = target.resolve(source.getSourcePath());
		Files.createDirectories(file.getParent());
		Files.writeString(file, source.printAll());
	}

	private void compile() throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
			List<Path> sources = files(this.target).stream()
				.filter((file) -> file.toString().endsWith(".java"))
				.toList();
			List<String> options = List.of("-proc:none", "-parameters", "-d", this.target.resolve("target").toString(),
					"-cp", String.join(File.pathSeparator, applicationJars().stream().map(Path::toString).toList()));
			Assertions
				.assertThat(compiler
					.getTask(null, manager, null, options, null, manager.getJavaFileObjectsFromPaths(sources))
					.call())
				.isTrue();
		}
	}

	private List<Path> applicationJars() {
		return jars((jar) -> !jar.contains("openrewrite") && !jar.contains("advisory-lock-rewrite")
				&& (this.shedLock ? !jar.contains("shedlock-provider") : !jar.contains("shedlock")));
	}

	private static List<Path> jars(Predicate<String> wanted) {
		return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter(wanted)
			.map(Path::of)
			.toList();
	}

	private URL[] urls() {
		return Stream
			.concat(Stream.of(this.target.resolve("target"), this.target.resolve("src/main/resources")),
					applicationJars().stream())
			.map(MovedApplication::url)
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

	private static AutoCloseable start(ClassLoader classes, String main, String url) throws Exception {
		Class<?> application = classes.loadClass("org.springframework.boot.SpringApplication");
		String[] arguments = { "--spring.datasource.url=" + url, "--spring.main.banner-mode=off" };
		return (AutoCloseable) application.getMethod("run", Class.class, String[].class)
			.invoke(null, classes.loadClass(main), arguments);
	}

	static List<Path> files(Path folder) {
		try (Stream<Path> files = Files.walk(folder)) {
			return files.filter(Files::isRegularFile).toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * What is done with a running application.
	 */
	interface Use {

		void of(ClassLoader classes, Object application) throws Exception;

	}

}
