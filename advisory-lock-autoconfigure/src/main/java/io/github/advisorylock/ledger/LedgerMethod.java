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

import java.util.function.Supplier;

import io.github.advisorylock.LockOutcome;
import org.jspecify.annotations.Nullable;

/**
 * A method of this application whose runs are recorded under a key of its own.
 *
 * @param namespace the namespace of the key
 * @param key the name of the key
 * @param run runs it now and says how that ended, {@code null} if it needs arguments
 */
record LedgerMethod(String namespace, String key, @Nullable Supplier<LockOutcome> run) {

	JobName name() {
		return new JobName(this.namespace, this.key);
	}

}
