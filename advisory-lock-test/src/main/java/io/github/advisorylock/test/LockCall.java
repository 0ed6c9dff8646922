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

package io.github.advisorylock.test;

import java.time.Instant;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

/**
 * One call that asked for a lock, and how it ended.
 *
 * @param key the key
 * @param scope how long its lock lived, or would have
 * @param outcome {@link LockOutcome#EXECUTED} if the work ran or failed, else why it was
 * skipped
 * @param failure what the work threw, {@code null} if it came to a good end or did not
 * run
 * @param tick the planned time that the call was for, {@code null} if for none
 * @since 0.1.0
 */
public record LockCall(AdvisoryLockKey key, LockScope scope, LockOutcome outcome, @Nullable Throwable failure,
		@Nullable Instant tick) {

}
