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

package io.github.advisorylock.simulation;

import java.util.List;
import java.util.Map;

import io.github.advisorylock.LockContext;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction and the run of a thread, which others must not see that are simulated
 * by the same one.
 */
final class PutAside {

	private final Map<Object, Object> resources = Map.copyOf(TransactionSynchronizationManager.getResourceMap());

	private final boolean active = TransactionSynchronizationManager.isActualTransactionActive();

	private final boolean synchronizing = TransactionSynchronizationManager.isSynchronizationActive();

	private final boolean readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();

	private final List<TransactionSynchronization> synchronizations = this.synchronizing
			? TransactionSynchronizationManager.getSynchronizations() : List.of();

	PutAside() {
		this.resources.keySet().forEach(TransactionSynchronizationManager::unbindResource);
		TransactionSynchronizationManager.clear();
	}

	static boolean isNeeded() {
		return LockContext.current().isPresent() || TransactionSynchronizationManager.isActualTransactionActive()
				|| TransactionSynchronizationManager.isSynchronizationActive()
				|| !TransactionSynchronizationManager.getResourceMap().isEmpty();
	}

	void bringBack() {
		this.resources.forEach(TransactionSynchronizationManager::bindResource);
		if (this.synchronizing) {
			TransactionSynchronizationManager.initSynchronization();
			this.synchronizations.forEach(TransactionSynchronizationManager::registerSynchronization);
		}
		TransactionSynchronizationManager.setActualTransactionActive(this.active);
		TransactionSynchronizationManager.setCurrentTransactionReadOnly(this.readOnly);
	}

}
