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

import java.time.Instant;

/**
 * A time in which one instance ran one job.
 *
 * @param namespace the namespace of the key
 * @param key the name of the key
 * @param instance the instance
 * @param startedAt when the first of these runs started
 * @param finishedAt when the last of them ended, now if it has not
 * @param runs how many there were
 * @param failures how many of them failed or were abandoned
 * @since 0.1.0
 */
public record RunPeriod(String namespace, String key, String instance, Instant startedAt, Instant finishedAt, int runs,
		int failures) {

}
