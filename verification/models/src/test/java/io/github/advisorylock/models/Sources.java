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

package io.github.advisorylock.models;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;

/**
 * What the sources of the other modules declare.
 */
final class Sources {

	private static final Path ROOT = Path.of("../..");

	private Sources() {
	}

	/**
	 * Return the methods of a class of the library and of those in it.
	 * @param type the name of its package, a point, and its own
	 */
	static Set<String> methods(String type) {
		return methods(file("src/main/java", "io/github/advisorylock/" + type.replace('.', '/') + ".java"),
				(method) -> true);
	}

	/**
	 * Return the tests of a test class of any module.
	 */
	static Set<String> tests(String type) {
		return methods(file("src/test/java", type + ".java"), Sources::isTest);
	}

	private static Path file(String sources, String name) {
		try (Stream<Path> modules = Files.walk(ROOT, 2)) {
			return modules.map((module) -> module.resolve(sources))
				.filter(Files::isDirectory)
				.flatMap(Sources::walk)
				.filter((path) -> path.endsWith(name))
				.findFirst()
				.orElseThrow(() -> new IllegalArgumentException("There is no " + name));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Stream<Path> walk(Path directory) {
		try {
			return Files.walk(directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static boolean isTest(MethodTree method) {
		return method.getModifiers()
			.getAnnotations()
			.stream()
			.anyMatch((annotation) -> annotation.getAnnotationType().toString().endsWith("Test"));
	}

	private static Set<String> methods(Path file, Predicate<MethodTree> filter) {
		Set<String> methods = new TreeSet<>();
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
			JavacTask task = (JavacTask) compiler.getTask(null, files, null, List.of("-proc:none"), null,
					files.getJavaFileObjects(file));
			for (CompilationUnitTree unit : task.parse()) {
				unit.accept(new TreeScanner<Void, Void>() {

					@Override
					public Void visitMethod(MethodTree method, Void parameter) {
						if (filter.test(method)) {
							methods.add(method.getName().toString());
						}
						return super.visitMethod(method, parameter);
					}

				}, null);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return methods;
	}

}
