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

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * What this instance is called in the history and as a holder of locks: host and process
 * id.
 *
 * @since 0.1.0
 */
public final class InstanceName {

	private static final int SHORT_LENGTH = 28;

	private static final String NAME = find();

	private InstanceName() {
	}

	/**
	 * Return the name of this instance.
	 * @return {@code host:pid}, of at most 255 characters
	 */
	public static String get() {
		return NAME;
	}

	/**
	 * Return the end of the name, where those of replicas differ, for a place that has
	 * little room.
	 */
	static String shortened() {
		return end(NAME, SHORT_LENGTH);
	}

	private static String find() {
		return end(host() + ":" + ProcessHandle.current().pid(), 255);
	}

	private static String end(String name, int length) {
		return name.substring(Math.max(0, name.length() - length));
	}

	private static String host() {
		String host = System.getenv("HOSTNAME");
		if (host != null && !host.isBlank()) {
			return host;
		}
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "localhost";
		}
	}

}
