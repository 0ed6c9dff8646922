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

package io.github.advisorylock.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for how large the library is: the files of a package and the public types.
 */
class LibrarySizeTests {

	/**
	 * Gets smaller, but for what a new feature adds.
	 */
	private static final int FILES_IN_PACKAGE = 38;

	private static final int PUBLIC_TYPES = 138;

	private static final int PROMISED_TYPES = 55;

	private static final Path ROOT = Path.of("../..");

	/**
	 * All that are published; the starter has no code.
	 */
	private static final List<String> JARS = List.of("core", "ledger", "autoconfigure", "page", "shedlock",
			"spring-integration", "test", "rewrite");

	private static final Pattern PUBLIC_TYPE = Pattern
		.compile("(?m)^public (?:final |sealed |non-sealed |abstract )*(?:class|interface|@interface|enum|record) ");

	@Test
	void packagesAreSmall() throws IOException {
		Map<Path, List<Path>> packages = files().stream().collect(Collectors.groupingBy(Path::getParent));
		assertThat(packages).hasSizeGreaterThan(10);
		packages
			.forEach((name, files) -> Bar.keep("Files of " + ROOT.relativize(name), files.size(), FILES_IN_PACKAGE));
	}

	@Test
	void fewTypesArePublic() throws IOException {
		long types = 0;
		long promised = 0;
		for (Path file : files()) {
			long count = PUBLIC_TYPE.matcher(Files.readString(file)).results().count();
			types += count;
			promised += PromisedPackages.NAMES.contains(packageOf(file)) ? count : 0;
		}
		assertThat(promised).isPositive().isLessThan(types);
		Bar.keep("Public types", types, PUBLIC_TYPES);
		Bar.keep("Public types of promised packages", promised, PROMISED_TYPES);
	}

	@Test
	void eachPackageSaysWhetherItIsPromised() throws IOException {
		String compatibility = Files.readString(ROOT.resolve("docs/compatibility.md"));
		assertThat(PromisedPackages.NAMES).isNotEmpty()
			.allSatisfy((name) -> assertThat(compatibility)
				.contains("`" + name.replace(PromisedPackages.ROOT + ".", "") + "`"));
		assertThat(files().stream().map((file) -> file.resolveSibling("package-info.java")).distinct()).isNotEmpty()
			.allSatisfy((file) -> assertThat(Files.readString(file).contains("Not promised"))
				.isNotEqualTo(PromisedPackages.NAMES.contains(packageOf(file))));
	}

	private static String packageOf(Path file) {
		return ROOT.relativize(file.getParent()).toString().replaceFirst(".*/java/", "").replace('/', '.');
	}

	private static List<Path> files() throws IOException {
		List<Path> all = new ArrayList<>();
		for (String jar : JARS) {
			try (Stream<Path> files = Files.walk(ROOT.resolve("advisory-lock-" + jar + "/src/main/java"))) {
				files.filter((file) -> file.toString().endsWith(".java") && !file.endsWith("package-info.java"))
					.forEach(all::add);
			}
		}
		return all;
	}

}
