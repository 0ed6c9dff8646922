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
import org.openrewrite.ScanningRecipe;
import org.openrewrite.SourceFile;
import org.openrewrite.Tree;
import org.openrewrite.TreeVisitor;
import org.openrewrite.java.tree.J;
import org.openrewrite.xml.tree.Xml;

/**
 * A recipe that has to know what the whole project uses of ShedLock.
 */
abstract class ShedLockRecipe extends ScanningRecipe<ShedLockProject> {

	@Override
	public ShedLockProject getInitialValue(ExecutionContext context) {
		return new ShedLockProject();
	}

	@Override
	public TreeVisitor<?, ExecutionContext> getScanner(ShedLockProject project) {
		ShedLockScan scan = new ShedLockScan(project);
		return new TreeVisitor<>() {

			@Override
			public @Nullable Tree visit(@Nullable Tree tree, ExecutionContext context) {
				if (tree instanceof SourceFile source && UnreadUse.is(source)) {
					project.unread.add(source.getSourcePath());
				}
				else if (tree instanceof J.CompilationUnit unit) {
					scan.visit(unit, context);
				}
				else if (tree instanceof Xml.Document xml && xml.getSourcePath().endsWith("pom.xml")) {
					MavenDependencies.scan(xml, project);
					project.providers.bridge(xml.printAll());
				}
				else if (tree instanceof SourceFile source && source.getSourcePath().toString().contains(".gradle")) {
					project.providers.bridge(source.printAll());
				}
				return tree;
			}

		};
	}

	/**
	 * Changes nothing where a part of what uses ShedLock can't be seen.
	 */
	@Override
	public final TreeVisitor<?, ExecutionContext> getVisitor(ShedLockProject project) {
		return project.unread.isEmpty() ? visitor(project) : unreadVisitor(project);
	}

	abstract TreeVisitor<?, ExecutionContext> visitor(ShedLockProject project);

	TreeVisitor<?, ExecutionContext> unreadVisitor(ShedLockProject project) {
		return TreeVisitor.noop();
	}

}
