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

package io.github.advisorylock.doctor;

/**
 * What an application wants of its locks, which decides what the doctor looks at.
 *
 * @param transactionScope whether locks live in transactions
 * @param transactionWait whether such locks are waited for
 * @param sessionScope whether locks live on the lock session
 * @since 0.1.0
 */
public record LockDemand(boolean transactionScope, boolean transactionWait, boolean sessionScope) {

	/**
	 * No demand at all.
	 */
	public static final LockDemand NONE = new LockDemand(false, false, false);

	/**
	 * Locks that live on the lock session.
	 */
	public static final LockDemand SESSION = new LockDemand(false, false, true);

	/**
	 * Return this demand and another one.
	 * @param other the other one
	 * @return both
	 */
	public LockDemand and(LockDemand other) {
		return new LockDemand(this.transactionScope || other.transactionScope,
				this.transactionWait || other.transactionWait, this.sessionScope || other.sessionScope);
	}

}
