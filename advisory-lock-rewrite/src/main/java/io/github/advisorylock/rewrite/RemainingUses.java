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

import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.openrewrite.Cursor;
import org.openrewrite.ExecutionContext;
import org.openrewrite.InMemoryExecutionContext;
import org.openrewrite.SourceFile;
import org.openrewrite.internal.ListUtils;
import org.openrewrite.java.JavaVisitor;
import org.openrewrite.java.marker.JavaSourceSet;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.TypeUtils;
import org.openrewrite.marker.SearchResult;

/**
 * Looks for what needs ShedLock: everything of it but its annotations, the beans that
 * provide locks in a database, and what is asked of the lock that the method has. Marks
 * the statements that take a lock, and those that have no counterpart here.
 */
final class RemainingUses extends JavaVisitor<ExecutionContext> {

	private static final String LOCKS = "With advisory-lock-shedlock this takes the lock that @SingleRunner takes with the "
			+ "same name as key; to go without ShedLock, use AdvisoryLockOperations; see " + ShedLock.GUIDE;

	private static final String PROVIDES = "Only ShedLock takes locks from this; see " + ShedLock.GUIDE;

	private static final String ASKS = "Asks ShedLock, which knows no lock of @SingleRunner: use LockContext.current(); see "
			+ ShedLock.GUIDE;

	private static final String EXTENDS = "Only ShedLock calls this: translate it by hand; see " + ShedLock.GUIDE;

	private boolean found;

	private boolean test;

	/**
	 * Return whether there is such a use in a file.
	 */
	static boolean in(SourceFile file) {
		RemainingUses uses = new RemainingUses();
		uses.visit(file, new InMemoryExecutionContext());
		return uses.found;
	}

	/**
	 * Return whether a file is a test, whose mocks take no locks.
	 */
	static boolean isTest(J.CompilationUnit unit) {
		return unit.getMarkers()
			.findFirst(JavaSourceSet.class)
			.filter((set) -> set.getName().endsWith("est"))
			.isPresent()
				|| unit.getSourcePath().toString().replace('\\', '/').contains("src/test/")
				|| unit.getImports()
					.stream()
					.anyMatch((imported) -> imported.getTypeName().startsWith("org.mockito.")
							|| imported.getTypeName().startsWith("org.junit."));
	}

	@Override
	public J visitCompilationUnit(J.CompilationUnit unit, ExecutionContext context) {
		this.test = isTest(unit);
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
		Use use = new Use(this.test);
		use.visit(statement, new InMemoryExecutionContext(), getCursor());
		this.found |= use.found;
		return (use.message != null) ? SearchResult.found(statement, use.message) : statement;
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

		private final boolean test;

		private boolean found;

		private @Nullable String message;

		Use(boolean test) {
			this.test = test;
		}

		@Override
		public J visitClassDeclaration(J.ClassDeclaration type, ExecutionContext context) {
			if (Stream
				.concat(Stream.ofNullable(type.getExtends()),
						Stream.ofNullable(type.getImplements()).flatMap(List::stream))
				.anyMatch((name) -> ShedLock.owns(name.getType()))) {
				this.message = EXTENDS;
			}
			return super.visitClassDeclaration(type, context);
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
			note(call.getMethodType(), ShedLock.LOCK.matches(call) || ShedLock.EXECUTE.matches(call));
			return super.visitMethodInvocation(call, context);
		}

		@Override
		public J visitMemberReference(J.MemberReference reference, ExecutionContext context) {
			note(reference.getMethodType(), ShedLock.LOCK.matches(reference) || ShedLock.EXECUTE.matches(reference));
			return super.visitMemberReference(reference, context);
		}

		private void note(JavaType.@Nullable Method method, boolean locks) {
			String name = ShedLock.nameOf((method != null) ? method.getDeclaringType() : null);
			boolean owned = name.startsWith(ShedLock.PACKAGE);
			this.found |= owned;
			if (owned && locks && !this.test) {
				this.message = LOCKS;
			}
			else if (name.startsWith(ShedLock.LOCK_ASSERT) || name.equals(ShedLock.LOCK_EXTENDER)) {
				this.message = ASKS;
			}
		}

		@Override
		public J visitIdentifier(J.Identifier identifier, ExecutionContext context) {
			if (identifier.getFieldType() == null && ShedLock.owns(identifier.getType())) {
				this.found = true;
				if (this.message == null && ShedLock.nameOf(identifier.getType()).startsWith(ShedLock.PROVIDERS)) {
					this.message = PROVIDES;
				}
			}
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
