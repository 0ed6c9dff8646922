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

package io.github.advisorylock.sample;

import java.net.InetAddress;
import java.net.UnknownHostException;

import io.github.advisorylock.sample.environment.PortReservation;

import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * This instance of the application, as logs and tables name it.
 */
@Component
public class Instance {

	private final PortReservation port;

	private final String name;

	Instance(PortReservation port, Environment environment) throws UnknownHostException {
		this.port = port;
		String host = environment.getProperty("HOSTNAME", "");
		this.name = (host.isBlank() ? InetAddress.getLocalHost().getHostName() : host) + ":"
				+ ProcessHandle.current().pid();
	}

	/**
	 * Return the port that this instance answers on.
	 * @return the port
	 */
	public int port() {
		return this.port.port();
	}

	/**
	 * Return where this instance answers.
	 * @return the address, without a slash at its end
	 */
	public String address() {
		return "http://localhost:" + port();
	}

	/**
	 * Return the name that the library has for this instance, in the ledger and on the
	 * operators' page.
	 * @return host and process id
	 */
	public String name() {
		return this.name;
	}

	@Override
	public String toString() {
		return name();
	}

}
