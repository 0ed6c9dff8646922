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

package io.github.advisorylock.sample;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * Tests for what the sample application may know of the library, and its packages of each
 * other.
 */
@Tag("gate")
class ArchitectureTests {

	private static final JavaClasses CLASSES = new ClassFileImporter()
		.withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
		.importPackages("io.github.advisorylock.sample");

	/**
	 * As {@code docs/compatibility.md} lists them.
	 */
	@Test
	void sampleUsesThePromisedPackagesOfTheLibraryOnly() {
		ArchRule rule = noClasses().should()
			.dependOnClassesThat(JavaClass.Predicates.resideInAPackage("io.github.advisorylock..")
				.and(JavaClass.Predicates.resideOutsideOfPackages("io.github.advisorylock",
						"io.github.advisorylock.annotation", "io.github.advisorylock.ledger",
						"io.github.advisorylock.sample..")));
		rule.check(CLASSES);
	}

	@Test
	void scenariosDoNotKnowEachOther() {
		slices().matching("io.github.advisorylock.sample.(*)..").should().notDependOnEachOther().check(CLASSES);
	}

}
