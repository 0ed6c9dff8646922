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

/**
 * What becomes of one {@code @SchedulerLock}.
 *
 * @param obstacle why it stays as it is, {@code null} if it is replaced
 * @param session whether the lock lives in a session of its own
 * @param minInterval the shortest time from start to start, {@code null} if there is none
 * @param shared whether other methods have the same key
 */
record Translation(@Nullable String obstacle, boolean session, @Nullable String minInterval, boolean shared) {

}
