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

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.SourceFile;
import org.openrewrite.Tree;
import org.openrewrite.TreeVisitor;
import org.openrewrite.properties.AddProperty;
import org.openrewrite.properties.tree.Properties;
import org.openrewrite.yaml.MergeYaml;
import org.openrewrite.yaml.tree.Yaml;

/**
 * Has the tables of the ledger created at start-up where a translated method has a
 * {@code minInterval}, which needs them.
 */
public final class CreateLedgerTables extends ShedLockRecipe {

	private static final String SETTING = "advisory-lock.ledger.initialize-schema";

	/**
	 * Create the recipe.
	 */
	public CreateLedgerTables() {
	}

	@Override
	public String getDisplayName() {
		return "Create the tables of the ledger where they are needed";
	}

	@Override
	public String getDescription() {
		return "Sets `" + SETTING + "` to `always` in the application's main configuration file.";
	}

	@Override
	TreeVisitor<?, ExecutionContext> visitor(ShedLockProject project) {
		return new TreeVisitor<>() {

			@Override
			public @Nullable Tree visit(@Nullable Tree tree, ExecutionContext context) {
				if (!(tree instanceof SourceFile source) || !project.needsLedger() || !isMain(source.getSourcePath())) {
					return tree;
				}
				if (tree instanceof Yaml.Documents) {
					return new MergeYaml("$", "advisory-lock:\n  ledger:\n    initialize-schema: always\n", true, null,
							null, null, null, true)
						.getVisitor()
						.visit(tree, context);
				}
				return (tree instanceof Properties.File)
						? new AddProperty(SETTING, "always", null, null, false, null, null).getVisitor()
							.visit(tree, context)
						: tree;
			}

		};
	}

	private static boolean isMain(Path file) {
		String path = file.toString().replace('\\', '/');
		return path.matches("(.*/)?src/main/resources/(config/)?application\\.(properties|ya?ml)");
	}

}
