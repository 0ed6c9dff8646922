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
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.Tree;
import org.openrewrite.TreeVisitor;
import org.openrewrite.internal.ListUtils;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.RemoveAnnotationVisitor;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.Statement;
import org.openrewrite.java.tree.TypeUtils;

/**
 * Removes {@code @EnableSchedulerLock} and the beans that provide locks, with
 * configuration classes that are empty then, once nothing needs them any more.
 */
public final class RemoveShedLockConfiguration extends ShedLockRecipe {

	/**
	 * Create the recipe.
	 */
	public RemoveShedLockConfiguration() {
	}

	@Override
	public String getDisplayName() {
		return "Remove `@EnableSchedulerLock` and lock providers";
	}

	@Override
	public String getDescription() {
		return "While anything in the project still uses ShedLock, lock providers go only where this library provides its locks.";
	}

	@Override
	TreeVisitor<?, ExecutionContext> visitor(ShedLockProject project) {
		return new TreeVisitor<>() {

			@Override
			public @Nullable Tree visit(@Nullable Tree tree, ExecutionContext context) {
				if (!(tree instanceof J.CompilationUnit unit) || (project.keepsShedLock() && !project.bridges())) {
					return tree;
				}
				Tree changed = new ConfigurationVisitor(project.keepsAnnotations()).visit(unit, context);
				return (changed != unit && isEmptyConfiguration((J.CompilationUnit) changed, project)) ? null : changed;
			}

		};
	}

	private static boolean isEmptyConfiguration(J.@Nullable CompilationUnit unit, ShedLockProject project) {
		if (unit == null || unit.getClasses().size() != 1) {
			return false;
		}
		J.ClassDeclaration type = unit.getClasses().get(0);
		return type.getBody().getStatements().isEmpty() && type.getExtends() == null && type.getImplements() == null
				&& type.getLeadingAnnotations()
					.stream()
					.allMatch((annotation) -> annotation.getSimpleName().equals("Configuration"))
				&& !type.getLeadingAnnotations().isEmpty() && type.getType() != null
				&& project.typesInUse.getOrDefault(type.getType().getFullyQualifiedName(), Set.of())
					.stream()
					.allMatch(unit.getSourcePath().toString()::equals);
	}

	/**
	 * Removes what enables ShedLock from one file.
	 */
	private static final class ConfigurationVisitor extends JavaIsoVisitor<ExecutionContext> {

		private final boolean enabled;

		ConfigurationVisitor(boolean enabled) {
			this.enabled = enabled;
		}

		@Override
		public J.CompilationUnit visitCompilationUnit(J.CompilationUnit unit, ExecutionContext context) {
			J.CompilationUnit visited = super.visitCompilationUnit(unit, context);
			unit.getImports()
				.stream()
				.filter((imported) -> imported.getTypeName().startsWith(ShedLock.PACKAGE))
				.forEach((imported) -> maybeRemoveImport(
						imported.isStatic() ? imported.getTypeName() + "." + imported.getQualid().getSimpleName()
								: imported.getTypeName()));
			return this.enabled ? visited
					: (J.CompilationUnit) new RemoveAnnotationVisitor(ShedLock.ENABLED).visitNonNull(visited, context);
		}

		@Override
		public J.ClassDeclaration visitClassDeclaration(J.ClassDeclaration type, ExecutionContext context) {
			J.ClassDeclaration visited = super.visitClassDeclaration(type, context);
			List<Statement> statements = visited.getBody().getStatements();
			List<Statement> rest = ListUtils.map(statements, (statement) -> {
				if (statement instanceof J.MethodDeclaration method && RemainingUses.isProvider(method)) {
					new ForgottenTypes().visit(method, context);
					return null;
				}
				return statement;
			});
			return (rest.size() == statements.size()) ? visited
					: visited.withBody(visited.getBody().withStatements(rest));
		}

		/**
		 * Removes the imports of what only a removed method used.
		 */
		private final class ForgottenTypes extends JavaIsoVisitor<ExecutionContext> {

			@Override
			public J.Identifier visitIdentifier(J.Identifier identifier, ExecutionContext context) {
				JavaType.FullyQualified type = TypeUtils.asFullyQualified(identifier.getType());
				if (type != null && identifier.getFieldType() == null) {
					ConfigurationVisitor.this.maybeRemoveImport(type.getFullyQualifiedName());
				}
				return identifier;
			}

		}

	}

}
