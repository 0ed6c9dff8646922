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
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import com.sun.source.tree.CatchTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the sources of all tests: what would let a test pass whatever the library
 * does is refused. What no parser sees is left to whoever writes a test, and to see it
 * fail.
 */
class TestSourcesTests {

	private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

	private static final Pattern EXPECTS_EXCEPTION = Pattern
		.compile("assertThat(ThrownBy|(?!No)\\w*Exception(OfType)?)");

	private static final Pattern TELLS_EXCEPTION = Pattern.compile(
			"(with|has)(Message|Cause|RootCause|StackTrace)\\w*|having\\w+|satisfies|extracting|isSameAs|isEqualTo|isInstanceOfAny");

	/**
	 * Of Java and of others, and with a meaning of their own, which nothing else throws.
	 */
	private static final Set<String> TOLD_BY_TYPE = Set.of("InterruptedException", "TimeoutException",
			"IllegalMonitorStateException", "ConcurrentModificationException", "UnsupportedOperationException",
			"OutOfMemoryError", "NoAlertPresentException", "LockExtender");

	private static final Pattern TELLS_SIZE = Pattern
		.compile("isNotEmpty|hasSize(GreaterThan\\w*)?|contains(Exactly\\w*|OnlyOnce\\w*)?|anySatisfy");

	@Test
	void nothingLetsATestPassWhateverHappens() throws IOException {
		List<Path> tests = tests();
		assertThat(tests).hasSizeGreaterThan(200);
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
			""")
	void sourceThatProvesNothingIsFound(String statement, int findings) throws IOException {
		assertThat(findings(List.of(new Source(statement)))).hasSize(findings);
	}

	private static List<Path> tests() throws IOException {
		List<Path> tests = new ArrayList<>();
		try (Stream<Path> modules = Files.list(Path.of("").toAbsolutePath().getParent())) {
			for (Path sources : modules.map((module) -> module.resolve("src/test/java"))
				.filter(Files::exists)
				.toList()) {
				try (Stream<Path> files = Files.walk(sources)) {
					files.filter((file) -> file.toString().endsWith("Tests.java")).forEach(tests::add);
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

		private void checkChain(MethodInvocationTree last, Tree parent) {
			List<MethodInvocationTree> chain = chain(last);
			List<String> names = chain.stream().map(Reader::name).toList();
			check(!matches(names, EXPECTS_EXCEPTION) || matches(names, TELLS_EXCEPTION)
					|| chain.stream().anyMatch(this::tellsExceptionByType), last, "may mean any exception");
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
		}

		/**
		 * Ours say what has happened by their type.
		 */
		private boolean tellsExceptionByType(MethodInvocationTree call) {
			if (!Set.of("assertThatExceptionOfType", "isInstanceOf").contains(name(call))) {
				return false;
			}
			String type = arguments(call).replaceFirst("\\W.*", "");
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
					+ "import org.springframework.dao.DataAccessException; class A { void a() { " + statement + " } }";
		}

		@Override
		public CharSequence getCharContent(boolean ignoreEncodingErrors) {
			return this.text;
		}

	}

}
