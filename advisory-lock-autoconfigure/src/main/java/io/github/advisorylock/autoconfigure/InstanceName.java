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

package io.github.advisorylock.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * What this instance is called in the history: host and process id.
 */
final class InstanceName {

	private InstanceName() {
	}

	static String get() {
		String name = host() + ":" + ProcessHandle.current().pid();
		return name.substring(Math.max(0, name.length() - 255));
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
