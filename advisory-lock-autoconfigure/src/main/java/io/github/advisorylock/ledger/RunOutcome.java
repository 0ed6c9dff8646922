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

package io.github.advisorylock.ledger;

import io.github.advisorylock.LockScope;

/**
 * How a recorded run ended.
 *
 * @since 0.1.0
 */
public enum RunOutcome {

	/**
	 * The work ran to its end, and in scope {@link LockScope#TRANSACTION} was committed.
	 */
	EXECUTED,

	/**
	 * The work threw something, lost its lock, or was rolled back.
	 */
	FAILED,

	/**
	 * The instance went away before the work came to its end.
	 */
	ABANDONED

}
