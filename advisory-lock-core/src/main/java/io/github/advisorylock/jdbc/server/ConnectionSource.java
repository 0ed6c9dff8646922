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

import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

/**
 * Says how the connection of a session is opened, each time, and which database it is to
 * lead to.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface ConnectionSource extends Supplier<DataSource> {

	/**
	 * Return what opens one connection, as of now: credentials may have changed.
	 * @return opens a new physical connection
	 */
	@Override
	DataSource get();

	/**
	 * Return where connections would lead if they were opened now. Asked before each
	 * lock, so it must cost nothing and ask nobody.
	 * @return an address to be compared with others, {@code null} if it is not known or
	 * never changes
	 */
	default @Nullable Object address() {
		return null;
	}

	/**
	 * Return what the transactions are on that go with the session locks. The session has
	 * to lead to the same database.
	 * @return the DataSource of the application, {@code null} if nobody can tell where it
	 * leads to
	 */
	default @Nullable DataSource pool() {
		return null;
	}

}
