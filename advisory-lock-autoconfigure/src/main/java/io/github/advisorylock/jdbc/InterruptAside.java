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

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Keeps an interrupt of a virtual thread away from the end of a transaction: it would
 * leave open whether that was committed.
 */
final class InterruptAside implements TransactionSynchronization {

	private boolean aside;

	private InterruptAside() {
	}

	/**
	 * Keep the interrupt of the current thread, if there is one, away from the end of the
	 * transaction that it is in, if any.
	 */
	static void atEndOfTransaction() {
		if (Hold.isInterruptedVirtual() && TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new InterruptAside());
		}
	}

	@Override
	public void beforeCompletion() {
		this.aside = Hold.putInterruptAside();
	}

	@Override
	public void afterCompletion(int status) {
		Hold.bringInterruptBack(this.aside);
	}

}
