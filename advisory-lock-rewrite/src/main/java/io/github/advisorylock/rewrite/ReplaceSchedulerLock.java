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

import org.openrewrite.ExecutionContext;
import org.openrewrite.TreeVisitor;

/**
 * Replaces {@code @SchedulerLock} by {@code @SingleRunner}.
 * <p>
 * ShedLock holds no transaction while a method runs, so the lock gets scope
 * {@code SESSION}, unless the method is {@code @Transactional} in a way that the lock can
 * live in its transaction. {@code lockAtMostFor} goes without a successor: the lock ends
 * with the work or with its instance. {@code lockAtLeastFor} becomes {@code minInterval},
 * which needs the ledger, where a method has no cron schedule; for one that has,
 * {@code once = AUTO} keeps a late clock from running a tick again.
 */
public final class ReplaceSchedulerLock extends ShedLockRecipe {

	/**
	 * Create the recipe.
	 */
	public ReplaceSchedulerLock() {
	}

	@Override
	public String getDisplayName() {
		return "Replace `@SchedulerLock` by `@SingleRunner`";
	}

	@Override
	public String getDescription() {
		return "Also on composed annotations, with `LockAssert` and `LockExtender` where they ask for the lock that the "
				+ "method has. What can't be translated without losing a guarantee stays, and is marked.";
	}

	@Override
	TreeVisitor<?, ExecutionContext> visitor(ShedLockProject project) {
		return new SchedulerLockVisitor(project);
	}

}
