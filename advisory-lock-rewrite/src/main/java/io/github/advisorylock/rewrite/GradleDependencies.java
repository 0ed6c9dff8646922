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

package io.github.advisorylock.rewrite;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.Tree;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.Statement;

/**
 * Replaces ShedLock's dependencies in one Gradle script, in Groovy or Kotlin.
 */
final class GradleDependencies extends JavaIsoVisitor<ExecutionContext> {

	private static final String GROUP = "net.javacrumbs.shedlock";

	private static final String STARTER = "advisory-lock-starter";

	private static final Pattern CONFIGURATION = Pattern
		.compile("implementation|api|compileOnly|runtimeOnly|\\w+(Implementation|Api|CompileOnly|RuntimeOnly)");

	private final String version;

	private final boolean keep;

	private final boolean bridge;

	GradleDependencies(String version, ShedLockProject project) {
		this.version = version;
		this.keep = project.keepsShedLock();
		this.bridge = project.bridges();
	}

	@Override
	public J.Block visitBlock(J.Block block, ExecutionContext context) {
		J.Block visited = super.visitBlock(block, context);
		List<Statement> statements = new ArrayList<>();
		boolean changed = false;
		boolean added = has(visited, STARTER);
		boolean bridged = has(visited, ShedLock.BRIDGE);
		// Without them ShedLock's interfaces come with the provider, which then stays
		boolean core = has(visited, "shedlock-spring") || has(visited, "shedlock-core");
		for (Statement statement : visited.getStatements()) {
			J.MethodInvocation call = dependency(statement);
			if (call == null) {
				statements.add(statement);
				continue;
			}
			if (!added && CONFIGURATION.matcher(call.getSimpleName()).matches()
					&& !text(call).contains("shedlock-bom")) {
				statements.add(ours(STARTER, statement, call));
				added = true;
				changed = true;
			}
			boolean replaced = this.bridge && isProvider(call);
			if (replaced && !bridged) {
				statements.add(ours(ShedLock.BRIDGE, statement, call));
				bridged = true;
				changed = true;
			}
			if (this.keep && !(replaced && core)) {
				statements.add(statement);
			}
			else {
				changed = true;
			}
		}
		return changed ? visited.withStatements(statements) : visited;
	}

	/**
	 * Return the call that declares a dependency on ShedLock.
	 * @return the call, {@code null} if the statement declares none
	 */
	private J.@Nullable MethodInvocation dependency(Statement statement) {
		J expression = (statement instanceof J.Return last) ? last.getExpression() : statement;
		return (expression instanceof J.MethodInvocation call && !call.getArguments().isEmpty()
				&& !(call.getArguments().get(0) instanceof J.Lambda)
				&& text(call.getArguments().get(0)).contains(GROUP)) ? call : null;
	}

	private boolean isProvider(J.MethodInvocation call) {
		return CONFIGURATION.matcher(call.getSimpleName()).matches() && !call.getSimpleName().startsWith("test")
				&& text(call).contains("shedlock-provider-");
	}

	private boolean has(J.Block block, String artifact) {
		return block.getStatements().stream().anyMatch((statement) -> text(statement).contains(artifact));
	}

	private Statement ours(String artifact, Statement statement, J.MethodInvocation call) {
		String quote = text(call).contains("\"") ? "\"" : "'";
		String dependency = "io.github.advisorylock:" + artifact + ":" + this.version;
		Expression first = call.getArguments().get(0);
		// With its markers, which say whether there are parentheses around it
		J.Literal literal = new J.Literal(Tree.randomId(), first.getPrefix(), first.getMarkers(), dependency,
				quote + dependency + quote, null, JavaType.Primitive.String);
		J.MethodInvocation starter = call.withId(Tree.randomId()).withArguments(List.of(literal));
		return (statement instanceof J.Return last) ? last.withId(Tree.randomId()).withExpression(starter) : starter;
	}

	private String text(J tree) {
		return tree.print(getCursor());
	}

}
