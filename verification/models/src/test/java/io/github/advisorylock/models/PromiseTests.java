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
import java.util.ArrayList;
import java.util.List;

import edu.mit.csail.sdg.ast.Command;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what is promised against models: each promise holds in every history of so many
 * instances and steps, and each mutant breaks one.
 */
class PromiseTests {

	@TestFactory
	List<DynamicTest> promisesHoldAndMutantsBreakThem() throws IOException {
		List<DynamicTest> tests = new ArrayList<>();
		for (Model model : Model.all()) {
			for (Command command : model.commands()) {
				tests.add(DynamicTest.dynamicTest(model + ": " + command,
						() -> assertThat(model.find(command)).isEqualTo(command.expects == 1)));
			}
		}
		assertThat(tests).hasSizeGreaterThan(30);
		return tests;
	}

}
