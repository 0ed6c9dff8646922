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

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds ports for servers that are started later.
 */
public final class FreePort {

	private static final int FIRST = 10_000;

	private static final int FIRST_OF_CLIENTS = 32_768;

	private FreePort() {
	}

	/**
	 * Return a port that nobody uses, and that no client is given before it is used: the
	 * system takes those of clients from the upper half. It is one by chance, as others
	 * look for one at the same time.
	 */
	public static int find() {
		int port;
		do {
			port = ThreadLocalRandom.current().nextInt(FIRST, FIRST_OF_CLIENTS);
		}
		while (!isFree(port));
		return port;
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
			return socket.isBound();
		}
		catch (IOException ex) {
			return false;
		}
	}

}
