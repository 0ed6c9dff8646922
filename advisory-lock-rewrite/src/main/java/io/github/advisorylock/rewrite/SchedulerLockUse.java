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

import java.util.Set;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * One {@code @SchedulerLock} of a project.
 *
 * @param id the id of the annotation in its tree
 * @param lock what identifies the lock, the same for two uses of one name
 * @param atLeastFor the text of {@code lockAtLeastFor}, {@code null} if it is not set
 * @param schedule the only schedule of the method, {@code null} if it has none or several
 * @param transactional whether the lock can live in the transaction that Spring begins
 * for the method
 * @param composed the name of the annotation that is made of this one, {@code null} if it
 * is on a method
 * @param nameAlias the attribute of the composed annotation that sets the name,
 * {@code null} if there is none
 * @param timeAliases the attributes of the composed annotation that set times
 * @param obstacle why it can't be translated, {@code null} if it can
 */
record SchedulerLockUse(UUID id, String lock, @Nullable String atLeastFor, @Nullable Schedule schedule,
		boolean transactional, @Nullable String composed, @Nullable String nameAlias, Set<String> timeAliases,
		@Nullable String obstacle) {

}
