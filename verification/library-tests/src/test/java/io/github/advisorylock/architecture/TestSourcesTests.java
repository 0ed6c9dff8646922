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
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import com.sun.source.tree.CatchTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.ForLoopTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the sources of all tests: what would let a test pass whatever the library
 * does is refused, in tests and in what helps them. What no parser sees is left to
 * whoever writes a test, and to see it fail.
 */
@Tag("gate")
class TestSourcesTests {

	private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

	/**
	 * Of each module; what helps tests of several modules is one of its own.
	 */
	private static final List<Path> SOURCES = List.of(Path.of("src/test/java"), Path.of("src/test/kotlin"),
			Path.of("src/own-tests/java"), ROOT.resolve("verification/test-support/src/main/java"));

	private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

	private static final Pattern EXPECTS_EXCEPTION = Pattern
		.compile("assertThat(ThrownBy|(?!No)\\w*Exception(OfType)?)|failsWithin");

	private static final Pattern TELLS_EXCEPTION = Pattern
		.compile("(with|has)(Message|Cause|RootCause|StackTrace)\\w*|isSameAs|isEqualTo|isIn|startsWith|contains\\w*");

	/**
	 * What looks at an exception and at more than its type.
	 */
	private static final Pattern TELLING_LOOK = Pattern.compile("\\.(has|contains|isEqualTo|isSameAs|isIn\\()\\w*");

	private static final Set<String> ANY_EXCEPTION = Set.of("isCompletedExceptionally", "ignoreExceptions");

	/**
	 * Of Java and of others, and with a meaning of their own, which nothing else throws.
	 */
	private static final Set<String> TOLD_BY_TYPE = Set.of("InterruptedException", "TimeoutException",
			"IllegalMonitorStateException", "ConcurrentModificationException", "UnsupportedOperationException",
			"OutOfMemoryError", "NoAlertPresentException", "LockExtender");

	/**
	 * What is written out, or is always some.
	 */
	private static final Pattern NEVER_EMPTY = Pattern.compile(
			"(List|Set|Stream|Map)\\.(<.+>)?of\\([^)]|new [\\w<>?]+\\[\\]\\{.|IntStream\\.range|[\\w.]+\\.values\\(\\)"
					+ "|.+\\.split\\(|(\\w+\\.)?[A-Z_]+(\\.entrySet\\(\\))?$");

	private static final Pattern SIZE = Pattern.compile("([\\w.]+)\\.(size\\(\\)|length)");

	private static final Pattern ADDS = Pattern.compile("(\\w+)\\.(add|put)\\(");

	/**
	 * Drive faults, and are looked at by tests of their own.
	 */
	private static final String HARNESS = "verification/faults";

	/**
	 * There are few tests in Kotlin, and no compiler here that reads them.
	 */
	private static final Pattern PROVES_NOTHING_IN_KOTLIN = Pattern
		.compile("\\bsleep\\(|\\bdelay\\(|isCompletedExceptionally|ignoreExceptions\\(|runCatching|"
				+ "catch \\([^)]*\\) \\{\\s*\\}|(assertThatException|assertThatIllegal\\w+)\\(\\)|"
				+ "assertThrows<(Exception|Throwable|\\w*RuntimeException|Illegal\\w+)>");

	private static final Pattern TELLS_SIZE = Pattern
		.compile("isNotEmpty|hasSize(GreaterThan\\w*)?|contains(Exactly\\w*|OnlyOnce\\w*)?|anySatisfy");

	@Test
	void nothingLetsATestPassWhateverHappens() throws IOException {
		List<Path> tests = tests(".java");
		assertThat(tests).hasSizeGreaterThan(300);
		try (StandardJavaFileManager files = COMPILER.getStandardFileManager(null, null, null)) {
			assertThat(findings(files.getJavaFileObjectsFromPaths(tests))).isEmpty();
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			assertThatIllegalStateException().isThrownBy(() -> run());                             | 1
			assertThatIllegalStateException().isThrownBy(() -> run()).withMessage("expected");     | 0
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> run());          | 1
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> run());        | 1
			assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> run());         | 0
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> run());            | 0
			assertThatExceptionOfType(OwnException.class).isThrownBy(() -> run());                 | 0
			assertThatException().isThrownBy(() -> run());                                         | 1
			assertThatNoException().isThrownBy(() -> run());                                       | 0
			assertThatThrownBy(() -> run()).isInstanceOf(LockLostException.class);                 | 0
			assertThatThrownBy(() -> run()).isInstanceOf(Exception.class);                         | 1
			assertThatThrownBy(() -> run());                                                       | 1
			assertThatThrownBy(() -> run()).isInstanceOfAny(LockLostException.class, OwnException.class);            | 0
			assertThatThrownBy(() -> run()).isInstanceOfAny(LockLostException.class, DataAccessException.class);     | 1
			assertThatThrownBy(() -> run()).extracting(SqlState::of);                              | 1
			assertThatThrownBy(() -> run()).extracting(SqlState::of).isEqualTo("57014");           | 0
			assertThatThrownBy(() -> run()).satisfies((ex) -> assertThat(ex).isNotNull());         | 1
			assertThatThrownBy(() -> run()).satisfies((ex) -> assertThat(ex).hasMessage("a"));     | 0
			assertThatException().isThrownBy(() -> run()).havingCause().isInstanceOf(Exception.class);              | 1
			assertThat(run).failsWithin(TIME);                                                     | 1
			assertThat(run).failsWithin(TIME).withThrowableOfType(ExecutionException.class);       | 1
			assertThat(run).failsWithin(TIME).withThrowableThat().withMessage("expected");         | 0
			assertThat(run).isCompletedExceptionally();                                            | 1
			await().until(run::isCompletedExceptionally);                                          | 1
			await().ignoreExceptions().until(() -> run());                                         | 1
			for (Call call : calls()) { assertThat(call).isOne(); }                                | 1
			for (Call call : List.of(first, second)) { assertThat(call).isOne(); }                 | 0
			for (Scope scope : Scope.values()) { assertThat(run(scope)).isOne(); }                 | 0
			assertThat(calls).isNotEmpty(); for (Call call : calls) { assertThat(call).isOne(); }  | 0
			calls.add(run()); for (Call call : calls) { assertThat(call).isOne(); }                | 0
			for (Call call : calls()) { run(call); }                                               | 0
			for (int i = 0; i < calls.size(); i++) { assertThat(calls.get(i)).isOne(); }           | 1
			for (int i = 0; i < 5; i++) { assertThat(run()).isOne(); }                             | 0
			calls().forEach((call) -> assertThat(call).isOne());                                   | 1
			try { run(); } catch (LockLostException ex) { }                                        | 1
			try { run(); } catch (LockLostException ex) { losses++; }                              | 0
			Thread.sleep(100);                                                                     | 1
			TimeUnit.SECONDS.sleep(1);                                                             | 1
			assertThat(calls.isEmpty());                                                           | 1
			assertThat(calls).hasSize(2).allSatisfy((call) -> assertThat(call).as("call"));        | 1
			assertThat(calls).allSatisfy((call) -> assertThat(call).isOne());                      | 1
			assertThat(calls).hasSize(2).allMatch(Call::executed);                                 | 0
			template.execute(request, (lock) -> assertThat(lock.isHeld()).isTrue());               | 1
			template.execute(request, (lock) -> assertThat(lock.isHeld()).isTrue()).orElseThrow(); | 0
			threads.submit(() -> assertThat(held.isHeld()).isTrue());                              | 1
			runner.run((first) -> runner.run((second) -> first.call()));                           | 1
			runner.run((first) -> runner.run((second) -> first.call(second)));                     | 0
			runner.run((first) -> assertThat(first).hasNotFailed());                               | 0
			runner.run(LockContextRunner.started(() -> call()));                                   | 0
			run((jobs, context) -> jobs.call());                                                   | 0
			""")
	void sourceThatProvesNothingIsFound(String statement, int findings) throws IOException {
		assertThat(findings(List.of(new Source(statement)))).hasSize(findings);
	}

	@Test
	void nothingLetsATestInKotlinPassWhateverHappens() throws IOException {
		List<Path> tests = tests(".kt");
		assertThat(tests).isNotEmpty();
		for (Path test : tests) {
			assertThat(Files.readString(test)).as(test.toString()).doesNotContainPattern(PROVES_NOTHING_IN_KOTLIN);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "Thread.sleep(100)", "try { run() } catch (ex: IllegalStateException) { }",
			"assertThrows<IllegalStateException> { run() }", "await().ignoreExceptions().until { done() }" })
	void sourceInKotlinThatProvesNothingIsFound(String statement) {
		assertThat(statement).containsPattern(PROVES_NOTHING_IN_KOTLIN);
	}

	private static List<Path> tests(String language) throws IOException {
		List<Path> tests = new ArrayList<>();
		try (Stream<Path> modules = Files.walk(ROOT, 2)) {
			for (Path sources : modules.flatMap((module) -> SOURCES.stream().map(module::resolve))
				.filter(Files::exists)
				.toList()) {
				try (Stream<Path> files = Files.walk(sources)) {
					files.filter((file) -> file.toString().endsWith(language))
						.filter((file) -> !sources.startsWith(ROOT.resolve(HARNESS))
								|| file.toString().endsWith("Tests" + language))
						.forEach(tests::add);
				}
			}
		}
		return tests;
	}

	private static List<String> findings(Iterable<? extends JavaFileObject> sources) throws IOException {
		JavacTask task = (JavacTask) COMPILER.getTask(null, null, null, List.of("-proc:none"), null, sources);
		List<String> findings = new ArrayList<>();
		for (CompilationUnitTree unit : task.parse()) {
			new Reader(unit, Trees.instance(task), findings).scan(unit, null);
		}
		return findings;
	}

	/**
	 * Reads one source.
	 */
	private static final class Reader extends TreePathScanner<Void, Void> {

		private final CompilationUnitTree unit;

		private final Trees trees;

		private final List<String> findings;

		Reader(CompilationUnitTree unit, Trees trees, List<String> findings) {
			this.unit = unit;
			this.trees = trees;
			this.findings = findings;
		}

		@Override
		public Void visitCatch(CatchTree tree, Void unused) {
			check(!tree.getBlock().getStatements().isEmpty(), tree, "swallows what it catches");
			return super.visitCatch(tree, unused);
		}

		@Override
		public Void visitMethodInvocation(MethodInvocationTree tree, Void unused) {
			Tree parent = getCurrentPath().getParentPath().getLeaf();
			if (!(parent instanceof MemberSelectTree)) {
				checkChain(tree, parent);
			}
			return super.visitMethodInvocation(tree, unused);
		}

		@Override
		public Void visitMemberReference(MemberReferenceTree tree, Void unused) {
			check(!ANY_EXCEPTION.contains(tree.getName().toString()), tree, "may mean any exception");
			return super.visitMemberReference(tree, unused);
		}

		@Override
		public Void visitEnhancedForLoop(EnhancedForLoopTree tree, Void unused) {
			checkLoop(tree.getExpression().toString(), tree.getStatement(), tree);
			return super.visitEnhancedForLoop(tree, unused);
		}

		@Override
		public Void visitForLoop(ForLoopTree tree, Void unused) {
			Matcher size = SIZE.matcher(String.valueOf(tree.getCondition()));
			if (size.find()) {
				checkLoop(size.group(1), tree.getStatement(), tree);
			}
			return super.visitForLoop(tree, unused);
		}

		/**
		 * A loop with assertions goes over what is never empty, was filled or looked at,
		 * or counts something that is looked at.
		 */
		private void checkLoop(String elements, Tree body, Tree loop) {
			String method = method();
			String whole = elements.replaceFirst("\\.(values|entrySet|keySet|subList)\\(.*", "");
			Matcher initializer = Pattern.compile("\\b" + Pattern.quote(elements) + " = ([^;]*)").matcher(method);
			check(!body.toString().contains("assertThat") || NEVER_EMPTY.matcher(elements).lookingAt()
					|| initializer.find() && NEVER_EMPTY.matcher(initializer.group(1)).lookingAt()
					|| Stream.of("assertThat(" + elements + ").", whole + ".add(", whole + ".put(")
						.anyMatch(method::contains)
					|| ADDS.matcher(body.toString())
						.results()
						.anyMatch((added) -> method.contains("assertThat(" + added.group(1) + ").")),
					loop, "may not be run through");
		}

		private String method() {
			TreePath path = getCurrentPath();
			while (!(path.getLeaf() instanceof MethodTree) && path.getParentPath() != null) {
				path = path.getParentPath();
			}
			return path.getLeaf().toString();
		}

		private void checkChain(MethodInvocationTree last, Tree parent) {
			List<MethodInvocationTree> chain = chain(last);
			List<String> names = chain.stream().map(Reader::name).toList();
			check(!matches(names, EXPECTS_EXCEPTION) || matches(names, TELLS_EXCEPTION)
					|| chain.stream().anyMatch(this::tellsException), last, "may mean any exception");
			check(Collections.disjoint(names, ANY_EXCEPTION), last, "may mean any exception");
			if (name(last).equals("forEach")) {
				checkLoop(receiver(last), last, last);
			}
			check(!names.contains("sleep"), last, "sleeps");
			check(!names.get(0).equals("assertThat") || Collections.disjoint(names, Set.of("allSatisfy", "allMatch"))
					|| matches(names, TELLS_SIZE) || arguments(chain.get(0)).startsWith("List.of("), last,
					"may look at nothing");
			check(!Set.of("assertThat", "as", "extracting", "filteredOn").contains(name(last))
					|| !names.get(0).equals("assertThat")
					|| !(parent instanceof ExpressionStatementTree || parent instanceof LambdaExpressionTree), last,
					"asserts nothing");
			check(!(parent instanceof ExpressionStatementTree)
					|| !Set.of("execute", "submit", "runAsync").contains(name(last))
					|| !arguments(last).contains("assertThat"), last,
					"has assertions that may not be come to, or not be heard");
			check(!name(last).equals("run") || receiver(last).isEmpty()
					|| last.getArguments().stream().allMatch(Reader::looksAtItsContext), last,
					"may have a context that has not started");
		}

		/**
		 * A context that could not start says so to who looks at it.
		 */
		private static boolean looksAtItsContext(ExpressionTree argument) {
			return !(argument instanceof LambdaExpressionTree lambda) || lambda.getParameters()
				.stream()
				.allMatch((parameter) -> Pattern.compile("\\b" + parameter.getName() + "\\b")
					.matcher(lambda.getBody().toString())
					.find());
		}

		private boolean tellsException(MethodInvocationTree call) {
			return switch (name(call)) {
				case "assertThatExceptionOfType", "isInstanceOf", "isInstanceOfAny", "withThrowableOfType" ->
					Stream.of(arguments(call).split(", ?")).allMatch(this::tellsExceptionByType);
				case "satisfies" -> TELLING_LOOK.matcher(arguments(call)).find();
				default -> false;
			};
		}

		/**
		 * Ours say what has happened by their type.
		 */
		private boolean tellsExceptionByType(String classLiteral) {
			String type = classLiteral.replaceFirst("\\W.*", "");
			return TOLD_BY_TYPE.contains(type) || this.unit.getImports()
				.stream()
				.map((imported) -> imported.getQualifiedIdentifier().toString())
				.filter((imported) -> imported.endsWith("." + type))
				.findAny()
				.map((imported) -> imported.startsWith("io.github.advisorylock."))
				.orElse(Object.class.getResource(type + ".class") == null);
		}

		private static boolean matches(List<String> names, Pattern pattern) {
			return names.stream().anyMatch(pattern.asMatchPredicate());
		}

		private static List<MethodInvocationTree> chain(MethodInvocationTree last) {
			LinkedList<MethodInvocationTree> chain = new LinkedList<>();
			ExpressionTree tree = last;
			while (tree instanceof MethodInvocationTree || tree instanceof MemberSelectTree) {
				if (tree instanceof MethodInvocationTree call) {
					chain.addFirst(call);
				}
				tree = (tree instanceof MemberSelectTree select) ? select.getExpression()
						: ((MethodInvocationTree) tree).getMethodSelect();
			}
			return chain;
		}

		private static String name(MethodInvocationTree call) {
			return (call.getMethodSelect() instanceof MemberSelectTree select) ? select.getIdentifier().toString()
					: call.getMethodSelect().toString();
		}

		private static String receiver(MethodInvocationTree call) {
			return (call.getMethodSelect() instanceof MemberSelectTree select) ? select.getExpression().toString() : "";
		}

		private static String arguments(MethodInvocationTree call) {
			return call.getArguments().toString();
		}

		private void check(boolean holds, Tree tree, String finding) {
			if (!holds) {
				long start = this.trees.getSourcePositions().getStartPosition(this.unit, tree);
				this.findings.add(Path.of(this.unit.getSourceFile().getName()).getFileName() + ":"
						+ this.unit.getLineMap().getLineNumber(start) + " " + finding);
			}
		}

	}

	/**
	 * A source that is no file.
	 */
	private static final class Source extends SimpleJavaFileObject {

		private final String text;

		Source(String statement) {
			super(URI.create("memory:/ATests.java"), Kind.SOURCE);
			this.text = "import io.github.advisorylock.LockLostException; "
					+ "import org.springframework.dao.DataAccessException; "
					+ "import java.util.concurrent.ExecutionException; class A { void a() { " + statement + " } }";
		}

		@Override
		public CharSequence getCharContent(boolean ignoreEncodingErrors) {
			return this.text;
		}

	}

}
