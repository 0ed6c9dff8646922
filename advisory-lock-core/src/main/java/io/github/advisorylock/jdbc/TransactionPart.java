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

package io.github.advisorylock.jdbc;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;

/**
 * What is part of a transaction and is told how that ends: a run, or the hold that it has
 * its lock by. A rollback to a savepoint that is older undoes it.
 */
abstract class TransactionPart implements TransactionSynchronization {

	final Hold hold;

	/**
	 * A savepoint that its owner has let go can't be rolled back to.
	 */
	private final Set<Object> youngerSavepoints = Collections.newSetFromMap(new WeakHashMap<>(0));

	TransactionPart(Hold hold) {
		this.hold = hold;
	}

	@Override
	public final void savepoint(Object savepoint) {
		this.youngerSavepoints.add(savepoint);
	}

	@Override
	public final void savepointRollback(Object savepoint) {
		if (!this.youngerSavepoints.contains(savepoint)) {
			undo();
		}
	}

	/**
	 * Take all savepoints so far for older ones.
	 */
	final void forgetSavepoints() {
		this.youngerSavepoints.clear();
	}

	/**
	 * Note that this is undone, while the transaction goes on.
	 */
	abstract void undo();

}
