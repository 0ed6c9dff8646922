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

package io.github.advisorylock.testsupport;

import org.springframework.test.util.TestSocketUtils;

/**
 * Finds ports for servers that are started later.
 */
public final class FreePort {

	private static final int FIRST_OF_CLIENTS = 32_768;

	private FreePort() {
	}

	/**
	 * Return a port that nobody uses, and that no client is given before it is used: the
	 * system takes those of clients from the upper half.
	 */
	public static int find() {
		int port = TestSocketUtils.findAvailableTcpPort();
		while (port >= FIRST_OF_CLIENTS) {
			port = TestSocketUtils.findAvailableTcpPort();
		}
		return port;
	}

}
