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

package io.github.advisorylock.leader;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * Knows which methods only the leader of a role runs.
 */
@FunctionalInterface
interface LeaderOnlyRoleSource {

	/**
	 * Return the role whose leader runs a method. Asked for every call, so an answer
	 * should come from a cache.
	 * @param method the method that is called
	 * @param targetClass the class of the object it is called on
	 * @return the role, or {@code null} when every instance runs the method
	 */
	@Nullable String getRole(Method method, Class<?> targetClass);

}
