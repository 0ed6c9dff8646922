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

import java.util.List;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;

/**
 * The packages whose types users may name, in all versions.
 */
public final class PromisedPackages {

	static final String ROOT = "io.github.advisorylock";

	static final List<String> NAMES = List.of(ROOT, ROOT + ".annotation", ROOT + ".ledger", ROOT + ".test",
			ROOT + ".shedlock", ROOT + ".integration");

	/**
	 * Is true of the types of the library that users may not name.
	 */
	public static final DescribedPredicate<JavaClass> UNPROMISED = JavaClass.Predicates.resideInAPackage(ROOT + "..")
		.and(JavaClass.Predicates.resideOutsideOfPackages(NAMES.toArray(String[]::new)))
		.as("are of the library and not promised");

	private PromisedPackages() {
	}

}
