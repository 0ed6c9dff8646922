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

package io.github.advisorylock.jdbc.server;

import io.github.advisorylock.LockInstance;
import org.jspecify.annotations.Nullable;

/**
 * The {@code application_name} under which our connections can be recognized in
 * {@code pg_stat_activity}, by any role: {@code al:}, whose lock or connection it is,
 * {@code @} and the instance. PostgreSQL cuts it at 63 bytes and spoils what is not
 * ASCII.
 *
 * @param subject the name of the key in scope {@code TRANSACTION}, that of the namespace
 * for the connection with the session locks; may be cut at its end
 * @param instance the name of the instance; may be cut at its start
 * @since 0.1.0
 */
public record ApplicationName(String subject, String instance) {

	private static final String PREFIX = "al:";

	private static final int MAX_LENGTH = 63;

	/**
	 * The end of a name is where those of replicas differ.
	 */
	private static final int LONGEST_INSTANCE = 28;

	/**
	 * Read the name of a connection.
	 * @param applicationName the name of any connection
	 * @return what it says, or {@code null} if the connection has its name from elsewhere
	 */
	public static @Nullable ApplicationName parse(@Nullable String applicationName) {
		if (applicationName == null || !applicationName.startsWith(PREFIX)) {
			return null;
		}
		int at = applicationName.lastIndexOf('@');
		return (at > 0)
				? new ApplicationName(applicationName.substring(PREFIX.length(), at), applicationName.substring(at + 1))
				: null;
	}

	/**
	 * Return the name of a connection.
	 * @param subject the name of the key that its transaction holds, or of the
	 * application whose session locks it carries
	 * @param instance this instance
	 * @return the name
	 */
	public static String of(String subject, LockInstance instance) {
		String by = instance.name();
		return of(subject, by.substring(Math.max(0, by.length() - LONGEST_INSTANCE)));
	}

	/**
	 * Return whether the connection has session locks of a namespace. When a transaction
	 * of it began says nothing of them.
	 * @param namespace the namespace, which no key should be named like
	 * @return whether it is a lock session, as far as its name tells
	 */
	public boolean isSession(String namespace) {
		return of(namespace, this.instance).equals(of(this.subject, this.instance));
	}

	private static String of(String subject, String instance) {
		int end = Math.min(subject.length(), MAX_LENGTH - PREFIX.length() - 1 - instance.length());
		char[] name = (PREFIX + subject.substring(0, Math.max(0, end)) + "@" + instance).toCharArray();
		for (int i = 0; i < name.length; i++) {
			name[i] = (name[i] >= ' ' && name[i] <= '~') ? name[i] : '?';
		}
		return new String(name);
	}

}
