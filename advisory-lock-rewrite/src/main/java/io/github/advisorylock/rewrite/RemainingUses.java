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

import org.openrewrite.Cursor;
import org.openrewrite.ExecutionContext;
import org.openrewrite.InMemoryExecutionContext;
import org.openrewrite.SourceFile;
import org.openrewrite.internal.ListUtils;
import org.openrewrite.java.JavaVisitor;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.TypeUtils;
import org.openrewrite.marker.SearchResult;

/**
 * Marks the statements that use what only ShedLock has: everything of it but its
 * annotations, the beans that provide locks in a database, and what is asked of the lock
 * that the method has.
 */
final class RemainingUses extends JavaVisitor<ExecutionContext> {

	static final String MESSAGE = "Only ShedLock has this: translate it by hand, see " + ShedLock.GUIDE;

	private boolean found;

	/**
	 * Return whether there is such a use in a file.
	 */
	static boolean in(SourceFile file) {
		RemainingUses uses = new RemainingUses();
		uses.visit(file, new InMemoryExecutionContext());
		return uses.found;
	}

	@Override
	public J visitCompilationUnit(J.CompilationUnit unit, ExecutionContext context) {
		J.CompilationUnit visited = (J.CompilationUnit) super.visitCompilationUnit(unit, context);
		return visited.withClasses(ListUtils.map(visited.getClasses(), this::mark));
	}

	@Override
	public J visitBlock(J.Block block, ExecutionContext context) {
		J.Block visited = (J.Block) super.visitBlock(block, context);
		return visited.withStatements(ListUtils.map(visited.getStatements(), this::mark));
	}

	@Override
	public J visitMethodDeclaration(J.MethodDeclaration method, ExecutionContext context) {
		return isProvider(method) ? method : super.visitMethodDeclaration(method, context);
	}

	private <T extends J> T mark(T statement) {
		if (!Use.in(statement, getCursor())) {
			return statement;
		}
		this.found = true;
		return SearchResult.found(statement, MESSAGE);
	}

	/**
	 * Return whether a method is a bean that provides locks in a database.
	 */
	static boolean isProvider(J.MethodDeclaration method) {
		if (method.getMethodType() == null
				|| method.getLeadingAnnotations().stream().noneMatch(ShedLock.BEAN::matches)) {
			return false;
		}
		JavaType returned = method.getMethodType().getReturnType();
		return ShedLock.owns(returned) && TypeUtils.isAssignableTo(ShedLock.LOCK_PROVIDER, returned)
				&& !OtherProviders.in(method);
	}

	/**
	 * Return whether a call means the lock that the running method has, and has a
	 * translation.
	 */
	static boolean isTranslated(J.MethodInvocation call, Cursor cursor) {
		return isStatement(cursor) && (ShedLock.ASSERT_LOCKED.matches(call)
				|| (ShedLock.EXTEND.matches(call) && isZero(call.getArguments().get(1))));
	}

	private static boolean isStatement(Cursor cursor) {
		return cursor.getParentTreeCursor().getValue() instanceof J.Block;
	}

	private static boolean isZero(Expression time) {
		String text = time.toString();
		return text.equals("ZERO") || text.endsWith("Duration.ZERO");
	}

	/**
	 * Looks for a use in a statement, but not in those inside it.
	 */
	private static final class Use extends JavaVisitor<ExecutionContext> {

		private boolean found;

		static boolean in(J statement, Cursor around) {
			Use use = new Use();
			use.visit(statement, new InMemoryExecutionContext(), around);
			return use.found;
		}

		@Override
		public J visitBlock(J.Block block, ExecutionContext context) {
			return block;
		}

		@Override
		public J visitAnnotation(J.Annotation annotation, ExecutionContext context) {
			if (ShedLock.LOCKED.matches(annotation) || ShedLock.ENABLED.matches(annotation)
					|| ShedLock.ALIAS.matches(annotation)) {
				return annotation;
			}
			return super.visitAnnotation(annotation, context);
		}

		@Override
		public J visitMethodDeclaration(J.MethodDeclaration method, ExecutionContext context) {
			return isProvider(method) ? method : super.visitMethodDeclaration(method, context);
		}

		@Override
		public J visitMethodInvocation(J.MethodInvocation call, ExecutionContext context) {
			if (isTranslated(call, getCursor())) {
				return call;
			}
			JavaType.Method type = call.getMethodType();
			this.found |= ShedLock.owns((type != null) ? type.getDeclaringType() : null);
			return super.visitMethodInvocation(call, context);
		}

		@Override
		public J visitIdentifier(J.Identifier identifier, ExecutionContext context) {
			this.found |= identifier.getFieldType() == null && ShedLock.owns(identifier.getType());
			return identifier;
		}

	}

	/**
	 * Looks for lock providers that do not speak SQL.
	 */
	private static final class OtherProviders extends JavaVisitor<ExecutionContext> {

		private boolean found;

		static boolean in(J tree) {
			OtherProviders providers = new OtherProviders();
			providers.visit(tree, new InMemoryExecutionContext());
			return providers.found;
		}

		@Override
		public J visitIdentifier(J.Identifier identifier, ExecutionContext context) {
			this.found |= ShedLock.isOtherProvider(identifier.getType());
			return identifier;
		}

	}

}
