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

import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.Option;
import org.openrewrite.SourceFile;
import org.openrewrite.Tree;
import org.openrewrite.TreeVisitor;
import org.openrewrite.java.tree.JavaSourceFile;
import org.openrewrite.xml.tree.Xml;

/**
 * Replaces ShedLock's dependencies in Maven and Gradle builds by this library's starter;
 * adds it beside them while something still uses ShedLock, and then replaces providers by
 * this library's.
 */
public final class ReplaceShedLockDependencies extends ShedLockRecipe {

	@Option(displayName = "Version", description = "The version of the starter.", example = "0.1.0")
	private final String version;

	/**
	 * Create the recipe.
	 * @param version the version of the starter
	 */
	public ReplaceShedLockDependencies(String version) {
		this.version = version;
	}

	@Override
	public String getDisplayName() {
		return "Replace the dependencies on ShedLock";
	}

	@Override
	public String getDescription() {
		return "Replaces `shedlock-spring`, providers and BOM by `advisory-lock-starter`. Version catalogs are left alone.";
	}

	@Override
	TreeVisitor<?, ExecutionContext> visitor(ShedLockProject project) {
		return new TreeVisitor<>() {

			@Override
			public @Nullable Tree visit(@Nullable Tree tree, ExecutionContext context) {
				String file = (tree instanceof SourceFile source) ? source.getSourcePath().getFileName().toString()
						: "";
				if (!project.translates()) {
					return tree;
				}
				if (tree instanceof Xml.Document && file.equals("pom.xml")) {
					return new MavenDependencies(ReplaceShedLockDependencies.this.version, project).visit(tree,
							context);
				}
				if (tree instanceof JavaSourceFile && (file.endsWith(".gradle") || file.endsWith(".gradle.kts"))) {
					return new GradleDependencies(ReplaceShedLockDependencies.this.version, project).visit(tree,
							context);
				}
				return tree;
			}

		};
	}

}
