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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import edu.mit.csail.sdg.alloy4.A4Reporter;
import edu.mit.csail.sdg.ast.Command;
import edu.mit.csail.sdg.parser.CompModule;
import edu.mit.csail.sdg.parser.CompUtil;
import edu.mit.csail.sdg.translator.A4Options;
import edu.mit.csail.sdg.translator.A4Solution;
import edu.mit.csail.sdg.translator.TranslateAlloyToKodkod;
import kodkod.engine.satlab.SATFactory;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what is promised against models: each promise holds in every history of so many
 * instances and steps, each mutant breaks it, and each action of a model names the code
 * that does it and the tests that try it.
 */
class ModelTests {

	private static final Path MODELS = Path.of("src/test/resources/models");

	/**
	 * A line of the table on top of a model: action, code, tests.
	 */
	private static final Pattern ACTION = Pattern.compile("(?m)^ \\* (\\w+) {2,}(\\S.*?) {2,}(\\S.*)$");

	/**
	 * Code is named as package and class, perhaps with a method or a field.
	 */
	private static final Pattern CODE = Pattern.compile("\\b([a-z]+)\\.([A-Z]\\w+)(?:\\.(\\w+))?");

	static Stream<Path> models() throws IOException {
		try (Stream<Path> files = Files.list(MODELS)) {
			return files.sorted().toList().stream();
		}
	}

	@TestFactory
	List<DynamicTest> promisesHoldAndMutantsBreakThem() throws IOException {
		List<DynamicTest> tests = new ArrayList<>();
		for (Path model : models().toList()) {
			CompModule module = CompUtil.parseEverything_fromFile(A4Reporter.NOP, null, model.toString());
			for (Command command : module.getAllCommands()) {
				tests.add(DynamicTest.dynamicTest(model.getFileName() + ": " + command.label,
						() -> assertThat(find(module, command).satisfiable()).isEqualTo(command.expects == 1)));
			}
		}
		assertThat(tests).hasSizeGreaterThan(20);
		return tests;
	}

	private static A4Solution find(CompModule module, Command command) {
		A4Options options = new A4Options();
		options.solver = SATFactory.get("glucose");
		return TranslateAlloyToKodkod.execute_command(A4Reporter.NOP, module.getAllReachableSigs(), command, options);
	}

	@ParameterizedTest
	@MethodSource("models")
	void eachModelHasThreeInstancesTwelveStepsAMutantAndAWitness(Path model) throws IOException {
		CompModule module = CompUtil.parseEverything_fromFile(A4Reporter.NOP, null, model.toString());
		assertThat(module.getAllCommands()).allSatisfy((command) -> {
			assertThat(command.toString()).contains("exactly 3 Instance");
			assertThat(command.maxprefix).isGreaterThanOrEqualTo(12);
			assertThat(command.expects).isIn(0, 1);
		})
			.anySatisfy((promise) -> assertThat(promise.check && promise.expects == 0).isTrue())
			.anySatisfy((mutant) -> assertThat(mutant.check && mutant.expects == 1).isTrue())
			.anySatisfy((witness) -> assertThat(!witness.check && witness.expects == 1).isTrue());
	}

	@ParameterizedTest
	@MethodSource("models")
	void eachActionNamesTheCodeAndTheTestsThatThereAre(Path model) throws IOException {
		String text = Files.readString(model);
		Matcher action = ACTION.matcher(text);
		int actions = 0;
		while (action.find()) {
			actions++;
			assertThat(text).contains("pred " + action.group(1));
			Matcher code = CODE.matcher(action.group(2));
			while (code.find()) {
				assertThat(source(code.group(1), code.group(2))).as(action.group()).content().contains(part(code));
			}
			for (String test : action.group(3).split(", ")) {
				assertThat(tests()).as(action.group()).contains(test + ".java");
			}
		}
		assertThat(actions).as(model.toString()).isGreaterThanOrEqualTo(5);
	}

	private static String part(Matcher code) {
		return (code.group(3) != null) ? code.group(3) : code.group(2);
	}

	private static Path source(String directory, String type) {
		return Path.of("../advisory-lock-autoconfigure/src/main/java/io/github/advisorylock", directory,
				type + ".java");
	}

	private static List<String> tests() throws IOException {
		try (Stream<Path> files = Files.walk(Path.of("../advisory-lock-autoconfigure/src/test/java"))) {
			return files.map((file) -> file.getFileName().toString()).toList();
		}
	}

}
