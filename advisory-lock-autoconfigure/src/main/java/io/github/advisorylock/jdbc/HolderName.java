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

import org.jspecify.annotations.Nullable;

/**
 * What this library calls a connection that has a lock.
 *
 * @param subject the name of the key in scope {@code TRANSACTION}, that of the namespace
 * for the connection with the session locks; may be cut at its end
 * @param instance the instance, as {@code host:pid}; may be cut at its start
 * @since 0.1.0
 */
public record HolderName(String subject, String instance) {

	/**
	 * Read a name.
	 * @param applicationName the name of any connection
	 * @return what it says, or {@code null} if the connection has its name from elsewhere
	 */
	static @Nullable HolderName parse(@Nullable String applicationName) {
		if (applicationName == null || !applicationName.startsWith(ApplicationName.PREFIX)) {
			return null;
		}
		int at = applicationName.lastIndexOf('@');
		return (at > 0) ? new HolderName(applicationName.substring(ApplicationName.PREFIX.length(), at),
				applicationName.substring(at + 1)) : null;
	}

}
