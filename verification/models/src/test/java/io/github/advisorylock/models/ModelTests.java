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
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import edu.mit.csail.sdg.ast.Command;
import edu.mit.csail.sdg.ast.Expr;
import edu.mit.csail.sdg.ast.Func;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that models are about something: each action of a model happens in some history,
 * and names the code that does it and the tests that try it; whatever a model says that
 * it changes does; each assertion is broken by a mutant.
 */
class ModelTests {

	/**
	 * What no code of the library does: time, the server, the network, whoever kills.
	 */
	private static final String ENVIRONMENT = "environment";

	/**
	 * What only a mutant does.
	 */
	private static final String MUTANT = "mutant";

	static List<Model> models() throws IOException {
		return Model.all();
	}

	@TestFactory
	List<DynamicTest> actionsHappenAndThoseOfMutantsInMutantsOnly() throws IOException {
		List<DynamicTest> tests = new ArrayList<>();
		for (Model model : models()) {
			Map<String, List<String>> table = model.table();
			model.actions().forEach((name, action) -> tests.add(DynamicTest.dynamicTest(model + ": " + name, () -> {
				boolean mutant = table.getOrDefault(name, List.of()).contains(MUTANT);
				Expr happens = Model.happens(action);
				assertThat(model.find(model.sometime(happens, false))).isEqualTo(!mutant);
				assertThat(!mutant || model.find(model.sometime(happens, true))).isTrue();
			})));
		}
		assertThat(tests).hasSizeGreaterThan(30);
		return tests;
	}

	@TestFactory
	List<DynamicTest> whatIsVariableChanges() throws IOException {
		List<DynamicTest> tests = new ArrayList<>();
		for (Model model : models()) {
			model.changes()
				.forEach((name, change) -> tests.add(DynamicTest.dynamicTest(model + ": " + name,
						() -> assertThat(model.find(model.sometime(change, true))).isTrue())));
		}
		assertThat(tests).hasSizeGreaterThan(30);
		return tests;
	}

	@ParameterizedTest
	@MethodSource("models")
	void commandsAreAboutThreeInstancesAndTwelveSteps(Model model) {
		assertThat(model.commands()).isNotEmpty().allSatisfy((command) -> {
			assertThat(command.toString()).contains("exactly 3 Instance");
			assertThat(command.maxprefix).isGreaterThanOrEqualTo(12);
			assertThat(command.expects).isIn(0, 1);
			assertThat(Model.isWithoutMutants(command)).isEqualTo(Model.mutant(command) == null);
		}).anySatisfy((witness) -> {
			assertThat(witness.check).isFalse();
			assertThat(witness.expects).isOne();
			assertThat(Model.isWithoutMutants(witness)).isTrue();
		});
	}

	@ParameterizedTest
	@MethodSource("models")
	void eachAssertionHoldsAndIsBrokenByAMutantAndEachMutantBreaksOne(Model model) {
		List<Command> checks = model.commands().stream().filter((command) -> command.check).toList();
		assertThat(checks).isNotEmpty()
			.allSatisfy((check) -> assertThat(check.expects == 1).isEqualTo(Model.mutant(check) != null));
		assertThat(labels(checks, 0)).containsExactlyInAnyOrderElementsOf(model.assertions());
		assertThat(labels(checks, 1)).containsExactlyInAnyOrderElementsOf(model.assertions());
		assertThat(checks.stream().map(Model::mutant).filter((mutant) -> mutant != null).collect(Collectors.toSet()))
			.isEqualTo(model.mutants());
	}

	private static Set<String> labels(List<Command> checks, int expects) {
		return checks.stream()
			.filter((check) -> check.expects == expects)
			.map((check) -> check.label)
			.collect(Collectors.toSet());
	}

	@ParameterizedTest
	@MethodSource("models")
	void eachActionNamesTheCodeAndTheTestsThatThereAre(Model model) throws IOException {
		Map<String, List<String>> table = model.table();
		Map<String, Func> actions = model.actions();
		assertThat(table).isNotEmpty();
		assertThat(table.keySet()).isEqualTo(actions.keySet());
		table.forEach((action, names) -> {
			String first = names.get(0);
			List<String> tests = names.stream().filter((name) -> name.matches("\\w+Tests\\.\\w+")).toList();
			List<String> code = names.stream().filter((name) -> name.matches("([a-z]+\\.)+[A-Z]\\w*\\.\\w+")).toList();
			boolean byWord = Set.of(ENVIRONMENT, MUTANT).contains(first);
			assertThat(code.isEmpty()).as(action + " names its code, or a word").isEqualTo(byWord);
			assertThat(names).as(action).hasSize(tests.size() + code.size() + (byWord ? 1 : 0));
			assertThat(tests.isEmpty()).as(action + " names its test").isEqualTo(first.equals(MUTANT));
			assertThat(code).as(action)
				.filteredOn((name) -> !Sources.methods(owner(name)).contains(member(name)))
				.isEmpty();
			assertThat(tests).as(action)
				.filteredOn((name) -> !Sources.tests(owner(name)).contains(member(name)))
				.isEmpty();
		});
	}

	private static String owner(String name) {
		return name.substring(0, name.lastIndexOf('.'));
	}

	private static String member(String name) {
		return name.substring(name.lastIndexOf('.') + 1);
	}

}
