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

/**
 * Is told what other applications announce, in the order in which they did, and when the
 * session was confirmed, by whichever thread uses the connection: it must be quick.
 *
 * @since 0.1.0
 */
public interface SessionListener {

	/**
	 * A new connection begins to listen. What was announced before is not known.
	 */
	void connected();

	/**
	 * An application has announced something.
	 * @param message what it says
	 */
	void heard(String message);

	/**
	 * The server has answered on the connection.
	 * @param asked when it was asked, as of {@link System#nanoTime()}: what was held then
	 * was held by this application
	 */
	default void confirmed(long asked) {
	}

}
