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

package io.github.advisorylock;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Published on the thread of the caller when a guarded method was skipped.
 *
 * @param key the key it would have run under
 * @param scope how long the lock would have lived
 * @param method the method, as {@code Class.method}
 * @param outcome why it was skipped
 * @param tick the planned time that it would have been for, {@code null} if for none
 * @since 0.1.0
 */
public record SingleRunnerSkippedEvent(AdvisoryLockKey key, LockScope scope, String method, LockOutcome outcome,
		@Nullable Instant tick) {

}
