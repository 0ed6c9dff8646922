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

import io.github.advisorylock.sample.environment.PortReservation;

import org.springframework.stereotype.Component;

/**
 * This instance of the application, as logs and tables name it.
 */
@Component
public class Instance {

	private final PortReservation port;

	Instance(PortReservation port) {
		this.port = port;
	}

	/**
	 * Return the port that this instance answers on.
	 * @return the port
	 */
	public int port() {
		return this.port.port();
	}

	/**
	 * Return a name that no other instance on this machine has.
	 * @return the name
	 */
	public String name() {
		return port() + " (pid " + ProcessHandle.current().pid() + ")";
	}

	@Override
	public String toString() {
		return name();
	}

}
