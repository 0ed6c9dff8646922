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
import org.openrewrite.SourceFile;
import org.openrewrite.Tree;
import org.openrewrite.TreeVisitor;

/**
 * Marks what only ShedLock has.
 */
public final class FindRemainingShedLock extends ShedLockRecipe {

	/**
	 * Create the recipe.
	 */
	public FindRemainingShedLock() {
	}

	@Override
	public String getDisplayName() {
		return "Mark what only ShedLock has";
	}

	@Override
	public String getDescription() {
		return "Such as `LockingTaskExecutor` and lock providers that are used directly: they have to be translated by hand.";
	}

	@Override
	TreeVisitor<?, ExecutionContext> visitor(ShedLockProject project) {
		return new RemainingUses();
	}

	@Override
	TreeVisitor<?, ExecutionContext> unreadVisitor(ShedLockProject project) {
		return new TreeVisitor<>() {

			@Override
			public @Nullable Tree visit(@Nullable Tree tree, ExecutionContext context) {
				return (tree instanceof SourceFile source && project.unread.contains(source.getSourcePath()))
						? UnreadUse.mark(source) : tree;
			}

		};
	}

}
