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

/**
 * Which server processes are those of this application: those that have logged in as its
 * role, or as a member of it. Instances may have a login each that sets the role of the
 * application. Roles are compared by number: a login may be dropped while its connections
 * are open, and its name can't be asked for then.
 *
 * @since 0.1.0
 */
public final class ApplicationRole {

	/**
	 * The number of the role that this connection has set, {@code null} if it has set
	 * none.
	 */
	public static final String SET = "pg_catalog.to_regrole(pg_catalog.quote_ident(pg_catalog.current_setting('role')))";

	/**
	 * Whether the activity of a process, {@code a}, is that of this application; that of
	 * this connection is {@code me}.
	 */
	public static final String IS_OURS = "coalesce(pg_catalog.pg_has_role(a.usesysid, me.usesysid, 'MEMBER')"
			+ " OR pg_catalog.pg_has_role(a.usesysid, " + SET + ", 'MEMBER'), false)";

	private ApplicationRole() {
	}

}
