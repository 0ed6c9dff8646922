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

package io.github.advisorylock.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The project's files, as tests that run in a module see them.
 */
final class Documentation {

	static final Path ROOT = Path.of("").toAbsolutePath().getParent();

	private Documentation() {
	}

	static List<CodeBlock> codeBlocks() {
		return files().flatMap((file) -> CodeBlock.parse(ROOT.relativize(file).toString(), read(file)).stream())
			.toList();
	}

	static String read(Path file) {
		try {
			return Files.readString(ROOT.resolve(file));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Stream<Path> files() {
		return Stream.concat(Stream.of(ROOT.resolve("README.md"), ROOT.resolve("CONTRIBUTING.md")),
				list(ROOT.resolve("docs")).filter((file) -> file.toString().endsWith(".md")));
	}

	private static Stream<Path> list(Path directory) {
		if (!Files.isDirectory(directory)) {
			return Stream.empty();
		}
		try (Stream<Path> files = Files.walk(directory)) {
			return files.sorted().toList().stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
