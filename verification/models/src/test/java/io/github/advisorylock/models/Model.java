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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import edu.mit.csail.sdg.alloy4.A4Reporter;
import edu.mit.csail.sdg.alloy4.ConstList;
import edu.mit.csail.sdg.alloy4.Pair;
import edu.mit.csail.sdg.ast.Command;
import edu.mit.csail.sdg.ast.CommandScope;
import edu.mit.csail.sdg.ast.Expr;
import edu.mit.csail.sdg.ast.ExprCall;
import edu.mit.csail.sdg.ast.ExprQt;
import edu.mit.csail.sdg.ast.ExprUnary;
import edu.mit.csail.sdg.ast.Func;
import edu.mit.csail.sdg.ast.Sig;
import edu.mit.csail.sdg.ast.VisitQuery;
import edu.mit.csail.sdg.parser.CompModule;
import edu.mit.csail.sdg.parser.CompUtil;
import edu.mit.csail.sdg.translator.A4Options;
import edu.mit.csail.sdg.translator.TranslateAlloyToKodkod;
import kodkod.engine.satlab.SATFactory;
import org.jspecify.annotations.Nullable;

/**
 * A model of what is promised: actions, each with its line in the table on top of the
 * file, assertions, and mutants that must break them.
 */
final class Model {

	private static final Pattern ROW = Pattern.compile("^ \\* (\\w+) {2,}(\\S.*)$");

	private static final Pattern CONTINUED = Pattern.compile("^ \\* {3,}(\\S.*)$");

	private static final String REST = "rest";

	private final Path file;

	private final CompModule module;

	private Model(Path file) {
		this.file = file;
		this.module = CompUtil.parseEverything_fromFile(A4Reporter.NOP, null, file.toString());
	}

	static List<Model> all() throws IOException {
		try (Stream<Path> files = Files.list(Path.of(""))) {
			return files.filter((file) -> file.toString().endsWith(".als")).sorted().map(Model::new).toList();
		}
	}

	List<Command> commands() {
		return this.module.getAllCommands();
	}

	List<String> assertions() {
		return this.module.getAllAssertions().stream().map((assertion) -> name(assertion.label)).toList();
	}

	Set<String> mutants() {
		return sigs().filter((sig) -> isMutant(sig) && sig.isAbstract == null)
			.map((sig) -> name(sig.label))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	/**
	 * Return which mutant a command is about, {@code null} if it is about the model.
	 */
	static @Nullable String mutant(Command command) {
		return command.scope.stream()
			.filter((scope) -> isMutant(scope.sig) && scope.isExact && scope.endingScope == 1)
			.map((scope) -> name(scope.sig.label))
			.findAny()
			.orElse(null);
	}

	/**
	 * Return whether a command excludes all mutants.
	 */
	static boolean isWithoutMutants(Command command) {
		return command.scope.stream()
			.anyMatch((scope) -> name(scope.sig.label).equals("Mutant") && scope.endingScope == 0);
	}

	private static boolean isMutant(Sig sig) {
		return name(sig.label).equals("Mutant")
				|| (sig instanceof Sig.PrimSig type && type.parent != null && isMutant(type.parent));
	}

	/**
	 * Return the predicates that the behaviour is made of, by their names. Nothing may
	 * happen at any time, so that what holds in so many steps holds in fewer.
	 */
	Map<String, Func> actions() {
		Map<String, Func> actions = new TreeMap<>();
		VisitQuery<Object> query = new VisitQuery<>() {

			@Override
			public @Nullable Object visit(ExprCall call) {
				actions.put(name(call.fun.label), call.fun);
				return null;
			}

		};
		for (Pair<String, Expr> fact : this.module.getAllFacts()) {
			if (fact.a.equals("behaviour")) {
				fact.b.accept(query);
			}
		}
		Objects.requireNonNull(actions.remove(REST), () -> this + " can't rest");
		return actions;
	}

	/**
	 * Return the table of actions: what stands in a line, and in those that go on with
	 * it.
	 */
	Map<String, List<String>> table() throws IOException {
		Map<String, List<String>> table = new TreeMap<>();
		String action = "";
		for (String line : Files.readAllLines(this.file)) {
			Matcher row = ROW.matcher(line);
			Matcher continued = CONTINUED.matcher(line);
			if (row.matches()) {
				action = row.group(1);
				table.put(action, List.of(row.group(2).split(", ")));
			}
			else if (continued.matches()) {
				table.merge(action, List.of(continued.group(1).split(", ")),
						(one, other) -> Stream.concat(one.stream(), other.stream()).toList());
			}
			else if (line.equals(" */")) {
				break;
			}
		}
		return table;
	}

	/**
	 * Return what changes, with the expression that says so.
	 */
	Map<String, Expr> changes() {
		Map<String, Expr> changes = new TreeMap<>();
		sigs().forEach((sig) -> {
			if (sig.isVariable != null) {
				changes.put(name(sig.label), change(sig));
			}
			sig.getFields()
				.makeConstList()
				.stream()
				.filter((field) -> field.isVariable != null)
				.forEach((field) -> changes.put(field.label, change(field)));
		});
		return changes;
	}

	private static Expr change(Expr variable) {
		return ExprUnary.Op.PRIME.make(null, variable).equal(variable).not();
	}

	static Expr happens(Func action) {
		Expr call = action.call(action.params().toArray(Expr[]::new));
		return action.decls.isEmpty() ? call : ExprQt.Op.SOME.make(null, null, action.decls, call);
	}

	/**
	 * Make a command that looks for a history in which something is so at some time.
	 * @param mutants whether a mutant may be it
	 */
	Command sometime(Expr what, boolean mutants) {
		Command like = commands().stream()
			.filter((command) -> (mutants ? mutant(command) != null : isWithoutMutants(command) && !command.check))
			.findFirst()
			.orElseThrow();
		List<CommandScope> scopes = like.scope.stream()
			.filter((scope) -> !isMutant(scope.sig) || name(scope.sig.label).equals("Mutant"))
			.toList();
		Expr formula = ExprUnary.Op.EVENTUALLY.make(null, what).and(this.module.getAllReachableFacts());
		return like.change(ConstList.make(scopes)).change(formula);
	}

	/**
	 * Return whether there is a history as a command looks for one.
	 */
	boolean find(Command command) {
		A4Options options = new A4Options();
		options.solver = SATFactory.get("glucose");
		return TranslateAlloyToKodkod
			.execute_command(A4Reporter.NOP, this.module.getAllReachableSigs(), command, options)
			.satisfiable();
	}

	private Stream<Sig> sigs() {
		return this.module.getAllSigs().makeConstList().stream();
	}

	private static String name(String label) {
		return label.substring(label.indexOf('/') + 1);
	}

	@Override
	public String toString() {
		return this.file.toString();
	}

}
