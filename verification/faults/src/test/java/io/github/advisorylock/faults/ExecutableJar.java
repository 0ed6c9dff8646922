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

package io.github.advisorylock.faults;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

import org.springframework.boot.loader.tools.Library;
import org.springframework.boot.loader.tools.LibraryScope;
import org.springframework.boot.loader.tools.Repackager;

/**
 * The class path of the tests as an executable jar, as Spring Boot's plugins make it of
 * an application.
 */
final class ExecutableJar {

	/**
	 * The jar of an {@link Instance}. It is made once, for all instances.
	 */
	static final Path OF_INSTANCE = of(Instance.class);

	private ExecutableJar() {
	}

	private static Path of(Class<?> application) {
		try {
			Path folder = Files.createDirectories(Path.of("target", "executable-jar"));
			Path classes = Path.of(application.getProtectionDomain().getCodeSource().getLocation().toURI());
			List<Library> libraries = new ArrayList<>();
			for (String entry : System.getProperty("java.class.path").split(":")) {
				Path path = Path.of(entry).toAbsolutePath();
				if (Files.isDirectory(path) && !path.equals(classes)) {
					// Classes of a module of this build lie in its 'target/classes'
					path = jar(path, folder.resolve(path.getParent().getParent().getFileName() + ".jar"));
				}
				if (Files.isRegularFile(path)) {
					libraries.add(new Library(path.toFile(), LibraryScope.COMPILE));
				}
			}
			Path source = jar(classes, folder.resolve("classes.jar"));
			Path executable = folder.toAbsolutePath().resolve("instance.jar");
			Repackager repackager = new Repackager(source.toFile());
			repackager.setMainClass(application.getName());
			repackager.repackage(executable.toFile(), (callback) -> {
				for (Library library : libraries) {
					callback.library(library);
				}
			});
			return executable;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Path jar(Path classes, Path jar) throws IOException {
		try (OutputStream file = Files.newOutputStream(jar);
				JarOutputStream entries = new JarOutputStream(file);
				Stream<Path> found = Files.walk(classes)) {
			for (Path path : found.filter(Files::isRegularFile).toList()) {
				entries.putNextEntry(new ZipEntry(classes.relativize(path).toString()));
				Files.copy(path, entries);
			}
		}
		return jar;
	}

}
